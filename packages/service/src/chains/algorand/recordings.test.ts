import { createHash } from "node:crypto";
import { decodeMsgpackMap, encodeMsgpack, getMap, splitBlock } from "@attestd/proof/algorand";
import { concatBytes, fromBase64, toBase64 } from "@attestd/proof/encoding";
import { afterEach, describe, expect, it } from "vitest";
import { oldBlock, oldTransactions, recordedBlock, recordedTransactions } from "../../../test/algorand-recordings.ts";
import { FakeChain, FakeNodes } from "../../../test/fakes/algorand-providers.ts";
import { findInRound, proveInPayset, readAlgorandHeader } from "./block-work.ts";
import { AlgorandSource } from "./source.ts";

const open: FakeNodes[] = [];
afterEach(async () => {
  for (const nodes of open.splice(0)) await nodes.close();
});

const never = new AbortController().signal;

/** Compared with what go-algorand v5.0.0 itself stated about the same transactions and blocks. */
describe("blocks of a real network", () => {
  it.each(["v41", "v42"])("%s: every kind of transaction has the node's id, block hash and proof", (consensus) => {
    const recorded = recordedTransactions().filter((one) => one.consensus === consensus);
    expect(recorded.length).toBeGreaterThan(45);
    for (const {
      label,
      txid: id,
      round,
      blockHash,
      unsignedMsgpackBase64: bytes,
      proof,
      indexer: [indexed],
    } of recorded) {
      const answer = recordedBlock(round);
      expect([label, readAlgorandHeader(answer, round).blockHash]).toEqual([label, blockHash]);
      expect([label, findInRound(answer, round, id)]).toEqual([
        label,
        {
          kind: "transaction",
          index: proof.sha256.idx,
          bytes,
          block: { hash: blockHash, height: round, time: indexed["round-time"] },
          caip2: "algorand:ekIDYRawz1wXUrUbmwqm24YRNU6KFFKF",
        },
      ]);
      const found = proveInPayset(answer, id);
      if (found.kind !== "transaction") throw new Error(`${label} was not found`);
      const { tree, index, stibBase64, siblings } = found.inclusion;
      const stib = createHash("sha256").update("STIB").update(fromBase64(stibBase64)).digest("base64");
      expect([label, tree, index, stib]).toEqual([label, "txn256", proof.sha256.idx, toBase64(proof.sha256.stibhash)]);
      expect([label, toBase64(concatBytes(...siblings.map(fromBase64)))]).toEqual([
        label,
        toBase64(proof.sha256.proof),
      ]);
    }
  });

  it("hold signatures of Falcon-1024 and the header's load under v42, which pass through as they are", () => {
    const recorded = recordedTransactions().filter(({ consensus }) => consensus === "v42");
    const blocks = recorded.map(({ round }) => splitBlock(recordedBlock(round)));
    expect(blocks.some(({ header }) => header.has("ld"))).toBe(true);
    const falcon = recorded.filter(({ round }) =>
      splitBlock(recordedBlock(round)).transactions.some((entry) => entry.has("pqsig")),
    );
    expect(falcon.length).toBeGreaterThan(0);
    for (const { txid: id, round } of falcon) {
      const found = proveInPayset(recordedBlock(round), id);
      if (found.kind !== "transaction") throw new Error("not found");
      expect(decodeMsgpackMap(fromBase64(found.inclusion.stibBase64)).has("pqsig")).toBe(true);
      expect(decodeMsgpackMap(readAlgorandHeader(recordedBlock(round), round).header).get("ld")).toEqual(
        splitBlock(recordedBlock(round)).header.get("ld"),
      );
    }
  });

  it.each(oldTransactions())("$consensus $label: the proof is the node's, or refused for good", async (old) => {
    const { txid: id, round, blockHash, proof } = old;
    const chain = Object.assign(new FakeChain(), { latest: round + 10 });
    chain.blocks.set(round, oldBlock(round));
    const nodes = await FakeNodes.start(chain);
    open.push(nodes);
    const caip2 = readAlgorandHeader(oldBlock(round), round).caip2 ?? "";
    const block = await new AlgorandSource({ nodes: nodes.nodes, caip2 }).block(round, never);
    expect(block.blockHash).toBe(blockHash);
    if (proof.sha512_256.status === 404) {
      await expect(block.find(id, never)).rejects.toMatchObject({ code: "source_unprovable" });
      expect(nodes.conflicts).toEqual([]);
      return;
    }
    const { body } = proof.sha256.status === 200 ? proof.sha256 : proof.sha512_256;
    const proved = await (await block.find(id, never))?.prove(never);
    if (proved?.inclusion.kind !== "algorand-merkle") throw new Error("not proved");
    const { siblings, index } = proved.inclusion;
    expect([index, toBase64(concatBytes(...siblings.map(fromBase64)))]).toEqual([body.idx, body.proof]);
  });

  it("before v26 with another payset than the header commits to are the node's fault", () => {
    const [flat] = oldTransactions();
    const answer = decodeMsgpackMap(oldBlock(flat?.round ?? 0));
    const block = getMap(answer, "block") ?? new Map();
    const [entry] = splitBlock(oldBlock(flat?.round ?? 0)).transactions;
    block.set("txns", [new Map(entry).set("rs", 1)]);
    expect(() => proveInPayset(encodeMsgpack(answer), flat?.txid ?? "")).toThrow("do not lead to its txn");
  });
});
