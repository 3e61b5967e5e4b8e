import { createHash } from "node:crypto";
import {
  blockHash,
  encodeMsgpack,
  getMap,
  headerDigest,
  restoreTransaction,
  splitBlock,
  transactionLeaf,
  treeRoot,
  txid,
  verifyLeaf,
} from "@attestd/proof/algorand";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import algosdk from "algosdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askError, askJson, pay, startTestNetwork, submit, type TestNetwork } from "../../test/algorand-network.ts";
import { signTransaction } from "./account.ts";
import type { Genesis } from "./genesis.ts";

/** The members of algod's JSON that are compared one by one. */
interface BlockJson {
  txns: { sig: string }[];
}

let network: TestNetwork;

beforeAll(async () => {
  network = await startTestNetwork();
});

afterAll(() => network.close());

const fetchBlock = async (round: number) =>
  splitBlock(
    new Uint8Array(await (await fetch(`${network.algodUrl}/v2/blocks/${round}?format=msgpack`)).arrayBuffer()),
  );

/** Makes a block with `count` payments by the payer. */
async function blockOf(count: number): Promise<number> {
  const { payer } = network.accounts;
  for (let index = 0; index < count; index++) await submit(network, signTransaction(payer, await pay(network, payer)));
  return network.ledger.advance().round;
}

test("each header commits to the one before in both hashes, and its certificate names its hash", async () => {
  await blockOf(1);
  for (let round = 1; round <= network.ledger.round; round++) {
    const [before, block] = [await fetchBlock(round - 1), await fetchBlock(round)];
    expect(block.header.get("prev")).toEqual(headerDigest(before.headerBytes));
    const sha512 = createHash("sha512").update("BH").update(before.headerBytes).digest();
    expect(Buffer.from(block.header.get("prev512") as Uint8Array)).toEqual(sha512);
    expect(getMap(block.cert ?? new Map(), "prop")?.get("dig")).toEqual(headerDigest(block.headerBytes));
    const { blockhash: told } = await network.algod.getBlockHash(round).do();
    expect(told).toBe(blockHash(block.headerBytes));
  }
});

test("a header has its load and its congestion tax since v42, and neither before", async () => {
  network.behaviour.congestionTax = 250_000;
  const { header } = await fetchBlock(await blockOf(2));
  expect(header.get("ct")).toBe(250_000);
  expect(header.get("ld")).toBeGreaterThan(0);
  network.behaviour.consensus = "v41";
  const { header: before } = await fetchBlock(await blockOf(2));
  expect([before.has("ct"), before.has("ld")]).toEqual([false, false]);
  Object.assign(network.behaviour, { consensus: "v42", congestionTax: 0 });
});

test("the first block has no previous hash, and the genesis document has the genesis hash", async () => {
  const { header } = await fetchBlock(0);
  expect(header.has("prev")).toBe(false);
  const { body } = await askJson<Genesis["document"]>(`${network.algodUrl}/genesis`);
  const { alloc, ...document } = body;
  expect(alloc).toContainEqual({
    addr: network.accounts.payer.address,
    comment: "payer",
    state: { algo: 1_000_000_000 },
  });
  const allocations = alloc.map(
    (item: { addr: string; comment: string; state: { algo: number } }) =>
      new Map<string, string | Map<string, number>>([
        ["addr", item.addr],
        ["comment", item.comment],
        ["state", new Map([["algo", item.state.algo]])],
      ]),
  );
  const bytes = encodeMsgpack(new Map([...Object.entries(document), ["alloc", allocations]] as [string, string][]));
  const hash = createHash("sha512-256").update("GE").update(bytes).digest();
  expect(toBase64(hash)).toBe(network.genesisHash);
  expect(toBase64(header.get("gh") as Uint8Array)).toBe(network.genesisHash);
});

test("a block counts transactions, sums fees, and is never earlier than the one before", async () => {
  const before = await fetchBlock(network.ledger.round);
  const { header } = await fetchBlock(await blockOf(3));
  expect(Number(header.get("tc")) - Number(before.header.get("tc"))).toBe(3);
  expect(header.get("fc")).toBe(3000);
  expect(Number(header.get("ts"))).toBeGreaterThanOrEqual(Number(before.header.get("ts")));
});

describe.each([0, 1, 2, 3, 5, 8])("a payset of %i", (count) => {
  test("has the roots that its header names, and the ids that algod lists", async () => {
    const round = await blockOf(count);
    const { header, transactions } = await fetchBlock(round);
    expect(transactions).toHaveLength(count);
    const restored = transactions.map((inBlock) => encodeMsgpack(restoreTransaction(inBlock, header)));
    const leaves = (tree: "txn" | "txn256" | "txn512") =>
      transactions.map((inBlock, index) =>
        transactionLeaf(tree, restored[index] ?? new Uint8Array(), encodeMsgpack(inBlock)),
      );
    for (const tree of ["txn", "txn256", "txn512"] as const) {
      const empty = count === 0 && tree === "txn";
      expect(header.get(tree)).toEqual(empty ? undefined : treeRoot(tree, leaves(tree)));
    }
    const { blocktxids } = await network.algod.getBlockTxids(round).do();
    expect(blocktxids).toEqual(restored.map(txid));
  });

  test("has a valid proof of every entry in both trees that algod proves", async () => {
    const round = await blockOf(count);
    const { header, transactions } = await fetchBlock(round);
    for (const [index, inBlock] of transactions.entries()) {
      const transaction = encodeMsgpack(restoreTransaction(inBlock, header));
      for (const [hashType, tree] of [
        ["sha256", "txn256"],
        ["sha512_256", "txn"],
      ] as const) {
        const proof = await network.algod.getTransactionProof(round, txid(transaction)).hashType(hashType).do();
        const siblings = Array.from({ length: proof.treedepth }, (_, level) =>
          proof.proof.subarray(32 * level, 32 * level + 32),
        );
        const leaf = transactionLeaf(tree, transaction, encodeMsgpack(inBlock));
        expect([proof.idx, proof.hashtype]).toEqual([index, hashType]);
        expect(verifyLeaf(tree, leaf, index, siblings, header.get(tree) as Uint8Array)).toBe(true);
        const stib = Buffer.concat([Buffer.from("STIB"), encodeMsgpack(inBlock)]);
        const algorithm = hashType === "sha256" ? "sha256" : "sha512-256";
        expect(Buffer.from(proof.stibhash)).toEqual(createHash(algorithm).update(stib).digest());
      }
    }
  });
});

test("an entry of a payset leaves out the header's genesis, so its bytes are those of a node", async () => {
  const { payer } = network.accounts;
  const suggestedParams = await network.algod.getTransactionParams().do();
  const { genesisID, ...withoutId } = suggestedParams;
  const plain = { sender: payer.address, receiver: payer.address, amount: 0 };
  const named = algosdk.makePaymentTxnWithSuggestedParamsFromObject({ ...plain, suggestedParams });
  const unnamed = algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    ...plain,
    suggestedParams: withoutId,
  });
  for (const transaction of [named, unnamed]) await submit(network, signTransaction(payer, transaction));
  const { round } = network.ledger.advance();
  const { header, transactions } = await fetchBlock(round);
  expect(transactions.map((inBlock) => inBlock.get("hgi"))).toEqual([true, undefined]);
  expect(transactions.map((inBlock) => txid(encodeMsgpack(restoreTransaction(inBlock, header))))).toEqual([
    named.txID(),
    unnamed.txID(),
  ]);
  // algosdk also reads the block, but cannot compute the ids.
  const { block } = await network.algod.block(round).do();
  expect(block.payset).toHaveLength(2);
  expect(block.header.genesisID).toBe(network.genesisId);
});

test("a block is returned with and without its payset, in msgpack and in JSON", async () => {
  const round = await blockOf(1);
  const url = `${network.algodUrl}/v2/blocks/${round}`;
  const { header, headerBytes } = await fetchBlock(round);
  const bare = splitBlock(new Uint8Array(await (await fetch(`${url}?format=msgpack&header-only=true`)).arrayBuffer()));
  expect([bare.headerBytes, bare.transactions, bare.cert]).toEqual([headerBytes, [], undefined]);
  const { block: whole } = (await askJson<{ block: BlockJson }>(url)).body;
  expect(whole).toMatchObject({
    gen: network.genesisId,
    gh: network.genesisHash,
    prev: expect.stringMatching(/^blk-[A-Z2-7]{52}$/),
    fees: network.ledger.genesis.special.feeSink,
    prp: network.ledger.genesis.proposer,
    rnd: round,
    spt: { 0: { n: 512 } },
    txn256: toBase64(header.get("txn256") as Uint8Array),
    txns: [{ hgi: true, txn: { snd: network.accounts.payer.address, type: "pay" } }],
  });
  expect(fromBase64(whole.txns[0]?.sig ?? "")).toHaveLength(64);
  const { txns, ...headerJson } = whole;
  expect((await askJson(`${url}?header-only=true`)).body).toEqual({ block: headerJson });
});

test("absent blocks, transactions and proofs are answered with a node's errors", async () => {
  const errorOf = (path: string) => askError(network.algodUrl + path);
  const beyond = network.ledger.round + 1;
  for (const path of ["", "?format=msgpack", "?header-only=true", "/hash", "/txids"])
    expect(await errorOf(`/v2/blocks/${beyond}${path}`)).toBe("404 failed to retrieve information from the ledger");
  const { txid: sample, round } = network.sample;
  const missing = "404 could not find the transaction in the transaction pool or in the last 1000 confirmed rounds";
  expect(await errorOf(`/v2/blocks/${round - 1}/transactions/${sample}/proof`)).toBe(missing);
  expect(await errorOf(`/v2/blocks/${round}/transactions/${sample}/proof?hashtype=md5`)).toBe("400 invalid hash type");
  expect(await errorOf(`/v2/blocks/${round}/transactions/abc/proof`)).toBe("400 no valid transaction ID was specified");
  expect(await errorOf(`/v2/blocks/${round}/lightheader/proof`)).toBe("404 no state proof can be found for that round");
  expect(await errorOf(`/v2/blocks/${beyond}/lightheader/proof`)).toBe(
    "500 given round is greater than the latest round",
  );
  expect(await errorOf(`/v2/blocks/${round}?format=xml`)).toBe("400 failed to parse the format option");
  expect(await errorOf("/v2/blocks/one")).toContain("400 Invalid format for parameter round: ");
  expect(await errorOf("/v3/blocks")).toBe("404 Not Found");
});
