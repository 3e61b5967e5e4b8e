import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ALGORAND_MAINNET, type InclusionBundle } from "@attestd/proof";
import {
  algorandCaip2,
  blockHash,
  decodeMsgpackMap,
  encodeMsgpack,
  getBytes,
  getMap,
  headerRound,
  type MsgpackMap,
  type MsgpackValue,
  restoreTransaction,
  splitBlock,
  structMap,
  transactionLeaf,
  txid,
  verifyLeaf,
} from "@attestd/proof/algorand";
import { concatBytes, fromBase64, toBase32, toBase64 } from "@attestd/proof/encoding";
import { afterEach, describe, expect, it } from "vitest";
import {
  type TestBlock,
  testAlgorandBlock,
  testLightHeader,
  testPayment,
} from "../../../../../test/bundles/bundles.ts";
import { recordedLightHeaders } from "../../../../proof/test/recorded.ts";
import { RECORDED } from "../../../../proof/test/vectors.ts";
import { FakeChain, FakeNodes } from "../../../test/fakes/algorand-providers.ts";
import { type Handler, json } from "../../../test/fakes/providers.ts";
import { proveInPayset, readAlgorandHeader } from "./block-work.ts";
import { innerIdOf } from "./inner.ts";
import { AlgorandSource } from "./source.ts";

const never = new AbortController().signal;
const open: FakeNodes[] = [];
afterEach(async () => {
  for (const nodes of open.splice(0)) await nodes.close();
});

async function sourceOf(chains: FakeChain[], accept: string[] = []) {
  const nodes = await FakeNodes.start(...chains);
  open.push(nodes);
  return {
    source: new AlgorandSource({ nodes: nodes.nodes, caip2: ALGORAND_MAINNET, accept }),
    conflicts: nodes.conflicts,
    upstreams: nodes.upstreams,
  };
}

/** A node that has one block, made or recorded, and rounds after it. */
function nodeWith(answer: Uint8Array, round: number): FakeChain {
  const chain = new FakeChain();
  Object.assign(chain, { latest: round + 10, indexedUpTo: round + 10 });
  chain.blocks.set(round, answer);
  return chain;
}

/** Encodes `{block, cert?}` as algod does. */
function answerOf(header: Uint8Array, entries: readonly MsgpackMap[], cert?: MsgpackMap): Uint8Array {
  const block = decodeMsgpackMap(header);
  if (entries.length > 0) block.set("txns", [...entries]);
  return encodeMsgpack(structMap({ block, cert }));
}

function madeAnswer(block: TestBlock, cert?: MsgpackMap): Uint8Array {
  const entries = block.transactions.map((_, index) => {
    const { stibBase64 } = block.prove(index) as Algorand;
    return decodeMsgpackMap(fromBase64(stibBase64));
  });
  return answerOf(block.header, entries, cert);
}

type Algorand = Extract<InclusionBundle["inclusion"], { kind: "algorand-merkle" }>;

async function prove(source: AlgorandSource, round: number, txnId: string) {
  const found = await (await source.block(round, never)).find(txnId, never);
  const { bytes, inclusion } = (await found?.prove(never)) ?? {};
  if (inclusion?.kind !== "algorand-merkle" || !bytes) throw new Error(`not in round ${round}`);
  return { bytes, inclusion };
}

/** Whether a proof leads to the header's root. */
function leads({ bytes, inclusion }: { bytes: Uint8Array; inclusion: Algorand }, header: Uint8Array): boolean {
  const { tree, index, stibBase64, siblings } = inclusion;
  const root = getBytes(decodeMsgpackMap(header), tree, 32) as Uint8Array;
  return verifyLeaf(tree, transactionLeaf(tree, bytes, fromBase64(stibBase64)), index, siblings.map(fromBase64), root);
}

const ROUND = 256;
const made = testAlgorandBlock(5);
const ANSWER = madeAnswer(made);
const IDS = made.transactions.map(txid);
const ID = IDS[3] as string;

describe("a block of Algorand", () => {
  it("is read by its round, its hash recomputed", async () => {
    const { source } = await sourceOf([nodeWith(ANSWER, ROUND)]);
    expect(await source.block(ROUND, never)).toMatchObject({
      chain: "algorand",
      caip2: ALGORAND_MAINNET,
      height: ROUND,
      blockHash: blockHash(made.header),
      header: made.header,
      level: "finalized",
    });
  });

  it("is not there yet above the nodes' rounds, is where one of three lags, and is asked for later where one of two does", async () => {
    const behind = () => Object.assign(new FakeChain(), { latest: ROUND - 1 });
    const { source } = await sourceOf([behind(), behind()]);
    await expect(source.block(ROUND, never)).rejects.toMatchObject({ code: "block_not_found" });
    const there = () => nodeWith(ANSWER, ROUND);
    const { source: ahead, conflicts } = await sourceOf([behind(), there(), there()]);
    expect(await ahead.block(ROUND, never)).toMatchObject({ height: ROUND });
    expect(conflicts).toEqual([]);
    const { source: unsure } = await sourceOf([behind(), there()]);
    await expect(unsure.block(ROUND, never)).rejects.toMatchObject({ code: "providers_unavailable" });
  });

  it("is refused for good when no node keeps it any more, later when one is away that may, and read where most do", async () => {
    const pruned = () => Object.assign(new FakeChain(), { latest: ROUND + 10 });
    const { source, upstreams } = await sourceOf([pruned(), pruned()]);
    await expect(source.block(ROUND, never)).rejects.toMatchObject({ code: "source_not_kept" });
    await upstreams[0]?.close();
    await expect(source.block(ROUND, never)).rejects.toMatchObject({ code: "providers_unavailable" });
    const archival = () => nodeWith(ANSWER, ROUND);
    const { source: kept } = await sourceOf([pruned(), archival(), archival()]);
    expect(await kept.block(ROUND, never)).toMatchObject({ height: ROUND });
    const { source: keptByOne } = await sourceOf([pruned(), archival()]);
    await expect(keptByOne.block(ROUND, never)).rejects.toMatchObject({ code: "source_not_kept" });
  });

  it("of another genesis is taken only where that is accepted", async () => {
    const header = decodeMsgpackMap(made.header).set("gh", new Uint8Array(32).fill(8));
    const foreign = answerOf(encodeMsgpack(header), []);
    const { source } = await sourceOf([nodeWith(foreign, ROUND)]);
    await expect(source.block(ROUND, never)).rejects.toMatchObject({ code: "source_wrong_chain" });
    const caip2 = algorandCaip2(new Uint8Array(32).fill(8));
    const { source: accepting } = await sourceOf([nodeWith(foreign, ROUND)], [caip2]);
    expect(await accepting.block(ROUND, never)).toMatchObject({ caip2 });
  });

  it.each<[string, Uint8Array]>([
    ["of another round", answerOf(encodeMsgpack(decodeMsgpackMap(made.header).set("rnd", ROUND + 1)), [])],
    [
      "with the certificate of another",
      madeAnswer(made, structMap({ prop: structMap({ dig: new Uint8Array(32).fill(1) }) })),
    ],
    ["that is no msgpack", Uint8Array.of(0xc1)],
  ])("%s is no answer", async (_, answer) => {
    const { source } = await sourceOf([nodeWith(answer, ROUND)]);
    await expect(source.block(ROUND, never)).rejects.toMatchObject({ code: "providers_unavailable" });
  });

  it("with another hash on another node is refused, and of three outvoted", async () => {
    const forged = answerOf(encodeMsgpack(decodeMsgpackMap(made.header).set("ts", 1)), []);
    const [liar, honest] = [() => nodeWith(forged, ROUND), () => nodeWith(ANSWER, ROUND)];
    const { source, conflicts } = await sourceOf([honest(), liar()]);
    await expect(source.block(ROUND, never)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts).toHaveLength(1);
    const { source: of3 } = await sourceOf([liar(), honest(), honest()]);
    expect(await of3.block(ROUND, never)).toMatchObject({ blockHash: blockHash(made.header) });
  });
});

describe("a proof of inclusion", () => {
  it.each(["txn256", "txn"] as const)("leads to the header's %s", async (tree) => {
    for (const size of [1, 2, 3, 5, 8]) {
      const block = testAlgorandBlock(size, tree);
      const { source } = await sourceOf([nodeWith(madeAnswer(block), ROUND)]);
      for (const [index, bytes] of block.transactions.entries()) {
        const proof = await prove(source, ROUND, txid(bytes));
        expect(proof.bytes).toEqual(bytes);
        expect(proof.inclusion).toEqual(block.prove(index));
        expect(leads(proof, block.header)).toBe(true);
      }
    }
  });

  it.each([255, 256, 257])("stands in a block of %i", (size) => {
    const block = testAlgorandBlock(size);
    const answer = madeAnswer(block);
    for (const index of [0, 1, 128, size - 1]) {
      const found = proveInPayset(answer, txid(block.transactions[index] as Uint8Array));
      expect(found).toMatchObject({ kind: "transaction", inclusion: block.prove(index) });
    }
  });

  it("is not made for a transaction that is not in the block", async () => {
    const { source } = await sourceOf([nodeWith(ANSWER, ROUND)]);
    const block = await source.block(ROUND, never);
    expect(await block.find(txid(testPayment("elsewhere")), never)).toBeUndefined();
  });

  it("names the root of an inner transaction", async () => {
    const inner = structMap({ type: "pay", fee: 1 });
    const root = decodeMsgpackMap(fromBase64((made.prove(0) as Algorand).stibBase64));
    root.set("dt", structMap({ itx: [structMap({ txn: inner })] }));
    const { source } = await sourceOf([nodeWith(answerOf(made.header, [root]), ROUND)]);
    const block = await source.block(ROUND, never);
    await expect(block.find(innerIdOf(IDS[0] as string, 0, inner), never)).rejects.toMatchObject({
      code: "source_inner_transaction",
      details: { rootId: IDS[0] },
    });
  });

  it.each<[string, (entries: MsgpackValue[]) => MsgpackValue[]]>([
    ["lacks one", (entries) => entries.slice(0, -1)],
    ["is in another order", (entries) => entries.toReversed()],
    ["states other effects", ([first, ...rest]) => [new Map(first as MsgpackMap).set("aca", 5), ...rest]],
  ])("is refused where the payset %s, and taken from a node where it is whole", async (_, change) => {
    const block = decodeMsgpackMap(ANSWER).get("block") as MsgpackMap;
    const answer = answerOf(made.header, change(block.get("txns") as MsgpackValue[]) as MsgpackMap[]);
    const { source, conflicts } = await sourceOf([nodeWith(answer, ROUND)]);
    await expect(prove(source, ROUND, ID)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts).toHaveLength(1);
    const { source: both } = await sourceOf([nodeWith(answer, ROUND), nodeWith(ANSWER, ROUND)]);
    expect(leads(await prove(both, ROUND, ID), made.header)).toBe(true);
  });
});

describe("the light header", () => {
  const whole = testLightHeader(made.header);
  const told = {
    path: { index: whole.index, treedepth: 8, proof: toBase64(concatBytes(...whole.siblings.map(fromBase64))) },
    message: { BlockHeadersCommitment: whole.commitment, FirstAttestedRound: 1, LastAttestedRound: 256 },
  };
  type Told = { path: object | undefined; message: object };

  function nodeThatTells({ path, message }: Told, answer = ANSWER, round = ROUND): FakeChain {
    const chain = nodeWith(answer, round);
    const handler: Handler = (request, response) => {
      if (request.url === `/v2/blocks/${round}/lightheader/proof`)
        return path ? json(response, path) : json(response, { message: "no state proof" }, 404);
      const Message = { VotersCommitment: "", LnProvenWeight: 1, ...message };
      if (request.url === `/v2/stateproofs/${round}`) return json(response, { Message, StateProof: "" });
      chain.handler(request, response);
    };
    return Object.create(chain, { handler: { value: handler } });
  }

  it("is added where a state proof covers the round", async () => {
    const { source } = await sourceOf([nodeThatTells(told)]);
    expect((await prove(source, ROUND, ID)).inclusion).toEqual({ ...made.prove(3), lightHeader: whole });
  });

  const attested = recordedLightHeaders.filter(({ block }) => splitBlock(fromBase64(block)).transactions.length > 0);
  it.each(attested)("of round $round is added as a real node told it", async (of) => {
    const answer = fromBase64(of.block);
    const { header, transactions } = splitBlock(answer);
    const [id = ""] = transactions.map((entry) => txid(encodeMsgpack(restoreTransaction(entry, header))));
    const node = nodeThatTells({ path: of.lightHeaderProof, message: of.stateProofMessage }, answer, of.round);
    const { source } = await sourceOf([node], [algorandCaip2(getBytes(header, "gh", 32) as Uint8Array)]);
    const { lightHeader } = (await prove(source, of.round, id)).inclusion;
    expect(lightHeader?.siblings.map((sibling) => Buffer.from(sibling, "base64").toString("hex")).join("")).toBe(
      Buffer.from(of.lightHeaderProof.proof, "base64").toString("hex"),
    );
    expect(lightHeader).toMatchObject({
      index: of.lightHeaderProof.index,
      interval: 256,
      commitment: of.stateProofMessage.BlockHeadersCommitment,
    });
  });

  it("is added where one node of three does not know of it yet, and left out where one of two does not", async () => {
    const [late, knows] = [() => nodeThatTells({ ...told, path: undefined }), () => nodeThatTells(told)];
    const { source } = await sourceOf([late(), knows(), knows()]);
    expect((await prove(source, ROUND, ID)).inclusion.lightHeader).toEqual(whole);
    const { source: unsure } = await sourceOf([late(), knows()]);
    expect((await prove(unsure, ROUND, ID)).inclusion.lightHeader).toBeUndefined();
  });

  const path = told.path;
  it.each<[string, Told[]]>([
    ["no state proof covers the round", [{ ...told, path: undefined }]],
    ["the way leads elsewhere", [{ ...told, path: { ...path, proof: toBase64(new Uint8Array(256)) } }]],
    [
      "the commitment is another",
      [{ ...told, message: { ...told.message, BlockHeadersCommitment: toBase64(new Uint8Array(32)) } }],
    ],
    ["the interval is another", [{ ...told, message: { ...told.message, LastAttestedRound: 512 } }]],
    ["the index is another", [{ ...told, path: { ...path, index: 254 } }]],
    ["the way is cut", [{ ...told, path: { ...path, proof: path.proof.slice(0, -4) } }]],
    ["the answer has another shape", [{ ...told, path: { nothing: 1 } }]],
    ["nodes contradict one another", [told, { ...told, path: { ...path, index: 3 } }]],
  ])("is left out where %s", async (_, nodes) => {
    const { source } = await sourceOf(nodes.map((told) => nodeThatTells(told)));
    const proof = await prove(source, ROUND, ID);
    expect(proof.inclusion).toEqual(made.prove(3));
  });

  it("is left out of a block that has none, whatever a node names", async () => {
    const old = testAlgorandBlock(5, "txn");
    const { source } = await sourceOf([nodeThatTells(told, madeAnswer(old))]);
    expect((await prove(source, ROUND, txid(old.transactions[3] as Uint8Array))).inclusion).toEqual(old.prove(3));
  });
});

describe("recorded blocks", () => {
  const recorded = (): [string, Uint8Array][] => {
    const sandnet = join(RECORDED, "algorand/sandnet");
    const blocks = join(RECORDED, "replay/algorand/blocks");
    return [
      ...readdirSync(sandnet)
        .filter((name) => name.endsWith(".base64"))
        .map((name): [string, Uint8Array] => [name, Buffer.from(readFileSync(join(sandnet, name), "utf8"), "base64")]),
      ...readdirSync(blocks).map((name): [string, Uint8Array] => [name, readFileSync(join(blocks, name))]),
    ];
  };

  it.each(recorded())("%s has its certificate's hash, and proves each transaction", async (_, answer) => {
    const { header, transactions, cert } = splitBlock(answer);
    const round = headerRound(header);
    const accept = [algorandCaip2(getBytes(header, "gh", 32) as Uint8Array)];
    const { source } = await sourceOf([nodeWith(answer, round)], accept);
    const block = await source.block(round, never);
    const certified = cert && getBytes(getMap(cert, "prop") as MsgpackMap, "dig", 32);
    expect(block.blockHash).toBe(toBase32(certified ?? new Uint8Array()));
    expect(readAlgorandHeader(answer, round).header).toEqual(block.header);

    for (const [index, entry] of transactions.entries()) {
      const id = txid(encodeMsgpack(restoreTransaction(entry, header)));
      const proof = await prove(source, round, id);
      expect([proof.inclusion.index, txid(proof.bytes)]).toEqual([index, id]);
      expect(leads(proof, block.header)).toBe(true);
    }
  });
});
