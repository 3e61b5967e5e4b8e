import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Hex, toRlp } from "viem";
import { describe, expect, it } from "vitest";
import { type TestItem, testBatch } from "../../../test/bundles/batches.ts";
import { testAttestor, testHistory } from "../../../test/bundles/bundles.ts";
import { flipped } from "../test/flips.ts";
import { nativeCrypto } from "../test/native-crypto.ts";
import { recordedBaseBlock, recordedBlocks } from "../test/recorded.ts";
import { followByStock } from "../test/stock-merkle.ts";
import { vectors } from "../test/vectors.ts";
import type { BatchItem, BatchStatement } from "./batch.ts";
import { itemBundles } from "./batch-answer.ts";
import { fromBase64, fromHex, toBase64 } from "./encoding.ts";
import type { Crypto } from "./signature.ts";
import { verify } from "./verify.ts";

/* Batches of real transactions. Their trees and paths are checked by another RFC 9162 verifier, @sigstore/verify. */

/** A sandbox's ledger: only there do recordings of several networks count as sources. */
const ledger = `algorand:${"s".repeat(32)}`;
const attestor = testAttestor();
const trust = testHistory([{ attestor, fromRound: 500 }], ledger);

/** Real transactions, with the ids that their chains give them. */
function* real(): Generator<TestItem & { id: string }> {
  for (const { transactions } of recordedBlocks)
    for (const { txid: id, unsigned } of transactions)
      if (unsigned) yield { id, chain: "algorand", txnBytes: fromBase64(unsigned) };
  for (const [index, raw] of recordedBaseBlock.transactions.entries())
    yield { id: recordedBaseBlock.block.transactions[index] as string, chain: "base", txnBytes: fromHex(raw.slice(2)) };
  for (const { txid: id, txnMsgpackBase64 } of vectors.json("algorand/mainnet/signed-transactions.json"))
    yield { id, chain: "algorand", txnBytes: fromBase64(txnMsgpackBase64) };
  for (const file of ["60", "61"])
    for (const { hash: id, raw } of vectors.json(`replay/base/blocks/op-sepolia-holocene-262079${file}.json`)
      .transactions)
      yield { id, chain: "base", txnBytes: fromHex(raw.slice(2)) };
  const { hash: id, ...deposit } = vectors.json("base/base-mainnet-45733726-tx0-deposit.json");
  const quantity = (value: Hex) => (BigInt(value) === 0n ? "0x" : value);
  const { sourceHash, from, to, mint, value, gas, input } = deposit;
  const fields = toRlp([sourceHash, from, to, quantity(mint), quantity(value), quantity(gas), "0x", input]);
  yield { id, chain: "base", txnBytes: fromHex(`7e${fields.slice(2)}`) };
}

const REAL = [...real()];
/** Takes chains in turn from both ends, for a mix. */
const mixed = (size: number) =>
  Array.from(
    { length: size },
    (_, index) => REAL.at(index % 2 === 0 ? index % REAL.length : -(index % REAL.length)) as (typeof REAL)[number],
  );

describe.each([2, 3, 7, 255, 256, 1000])("a batch of %i real transactions of both chains", (size) => {
  const items = mixed(size);
  const answer = testBatch(items, { attestor, ledger });

  it("has the ids that the chains gave, and a path from each that another verifier follows to the root", () => {
    expect(new Set(answer.items.map(({ source }) => source.chain)).size).toBe(2);
    expect(answer.items.map(({ statement }) => statement.txnId)).toEqual(items.map(({ id }) => id));
    for (const item of answer.items) followByStock(item, answer.batch);
    const longest = Math.ceil(Math.log2(size));
    expect(Math.max(...answer.items.map(({ proof }) => proof.siblings.length))).toBe(longest);
  });

  it("has items that verify, each by itself", () => {
    const faults = itemBundles(answer).flatMap((item) => verify(item, { trust, crypto: nativeCrypto }).failures);
    expect(faults).toEqual([]);
  });

  it("has no path that another verifier follows from another place", () => {
    const { batch } = answer;
    const [first, last] = [answer.items[0], answer.items.at(-1)] as [BatchItem, BatchItem];
    const check = (one: Pick<BatchItem, "statement" | "proof">) => expect(() => followByStock(one, batch)).toThrow();
    check({ ...first, proof: { ...first.proof, index: size } });
    check({ ...last, statement: first.statement });
    check({ ...first, proof: last.proof });
  });
});

describe("one bit of an item of a batch", () => {
  const answer = testBatch(mixed(7), { attestor, ledger });
  const item = itemBundles(answer)[5] as BatchItem;
  /** Accepts every signature, as if the attestor had signed the change: the other checks must find it. */
  const signsAnything: Crypto = { ...nativeCrypto, mldsa65: { verify: () => true } };
  const failing = (changed: BatchItem) => {
    const { verified, failures } = verify(changed, { trust, crypto: signsAnything });
    expect(verified).toBe(failures.length === 0);
    return failures.map(({ check }) => check);
  };
  const inText = (text: string) =>
    [...flipped(Buffer.from(text))].map((bytes) => Buffer.from(bytes).toString("latin1"));

  it("in its transaction is missed by no check", () => {
    for (const bytes of flipped(fromBase64(item.source.txnBytesBase64))) {
      const source = { ...item.source, txnBytesBase64: toBase64(bytes) };
      expect(failing({ ...item, source })).toEqual(expect.arrayContaining(["hashPreimage"]));
    }
  });

  it("in each member of its statement is missed by no check", () => {
    const { block, ...statement } = item.statement;
    const state = (members: object) => failing({ ...item, statement: { ...item.statement, ...members } });
    for (const [name, text] of Object.entries(statement))
      for (const changed of inText(text)) expect(state({ [name]: changed }), `${name} ${changed}`).not.toEqual([]);
    for (const changed of inText(block.hash)) expect(state({ block: { ...block, hash: changed } })).not.toEqual([]);
    for (const name of ["height", "time"] as const)
      for (let bit = 0; bit < 53; bit++) {
        const changed = Number(BigInt(block[name]) ^ (1n << BigInt(bit)));
        expect(state({ block: { ...block, [name]: changed } })).toContain("inclusion");
      }
    for (const bytes of flipped(fromBase64(item.statement.nonce)))
      expect(state({ nonce: toBase64(bytes) })).toEqual(["inclusion"]);
  });

  it("in its place, its path and its root is missed by no check", () => {
    for (let bit = 0; bit < 31; bit++)
      expect(failing({ ...item, proof: { ...item.proof, index: item.proof.index ^ (1 << bit) } })).toEqual([
        "inclusion",
      ]);
    for (const [place, sibling] of item.proof.siblings.entries())
      for (const bytes of flipped(fromBase64(sibling))) {
        const siblings = item.proof.siblings.with(place, toBase64(bytes));
        expect(failing({ ...item, proof: { ...item.proof, siblings } })).toEqual(["inclusion"]);
      }
    for (const bytes of flipped(fromBase64(item.batch.root)))
      expect(failing({ ...item, batch: { ...item.batch, root: toBase64(bytes) } })).toEqual(["inclusion", "note"]);
    for (let bit = 0; bit < 10; bit++)
      expect(failing({ ...item, batch: { ...item.batch, size: item.batch.size ^ (1 << bit) } })).not.toEqual([]);
  });

  it("in its note does not fit the signature", () => {
    const { attest } = item.batch;
    for (const note of inText(attest.note)) {
      const changed = { ...item, batch: { ...item.batch, attest: { ...attest, note } } };
      const { failures } = verify(changed, { trust, crypto: nativeCrypto });
      expect(failures.map(({ check }) => check)).toContain("signature");
    }
  });
});

describe("a nonce", () => {
  const [payment] = REAL as [(typeof REAL)[number]];
  const leaf = (statement: BatchStatement) =>
    createHash("sha256")
      .update("\0")
      .update(canonicalize(statement) as string)
      .digest("base64");

  it("keeps the leaves of one transaction apart, so that no guess of a neighbour shows in a path", () => {
    const { items } = testBatch([payment, payment], { attestor, ledger });
    const [first, second] = items as [BatchItem, BatchItem];
    expect(second.statement.txnId).toBe(first.statement.txnId);
    // The sibling is the neighbour's leaf. Knowing the statement without the nonce is not enough to compute it.
    expect(first.proof.siblings).toEqual([leaf(second.statement)]);
    expect(first.proof.siblings).not.toContain(leaf(first.statement));
  });
});
