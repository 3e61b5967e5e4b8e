import { Address, encodeUnsignedTransaction, makePaymentTxnWithSuggestedParamsFromObject } from "algosdk";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attempt } from "../errors.ts";
import { decodeMsgpackMap, encodeMsgpack, type MsgpackMap, type MsgpackValue } from "./msgpack.ts";
import { paysetReader, splitRawBlock } from "./payset.ts";
import { txid } from "./transaction.ts";

const GENESIS_ID = "net-v1";
const GENESIS_HASH = new Uint8Array(32).fill(7);
const malformed = expect.objectContaining({ name: "ProofError", code: "malformed" });

const map = (members: Record<string, MsgpackValue>): MsgpackMap => new Map(Object.entries(members));
const answerOf = (txns: MsgpackValue, others: Record<string, MsgpackValue> = {}) =>
  encodeMsgpack(map({ block: map({ gen: GENESIS_ID, gh: GENESIS_HASH, rnd: 5, txns, ...others }) }));

/** A payment by Algorand's own SDK, and as a block has it. */
function payment(note: Uint8Array, amount: number) {
  const sender = new Address(new Uint8Array(32).fill(1));
  const suggestedParams = {
    ...{ fee: 1000, minFee: 1000, flatFee: true, firstValid: 5, lastValid: 9 },
    ...{ genesisID: GENESIS_ID, genesisHash: GENESIS_HASH },
  };
  const transaction = makePaymentTxnWithSuggestedParamsFromObject({
    ...{ sender, receiver: sender, amount, note, suggestedParams },
    ...(amount % 2 === 1 && { closeRemainderTo: sender }),
  });
  const bytes = encodeUnsignedTransaction(transaction);
  const txn = decodeMsgpackMap(bytes);
  for (const name of ["gen", "gh"]) txn.delete(name);
  return { id: transaction.txID(), bytes, inBlock: map({ hgi: true, sig: new Uint8Array(64), txn }) };
}

describe("the transactions of a block, not decoded", () => {
  it("have the ids and bytes that algosdk gives them", () => {
    const payments = fc.array(fc.tuple(fc.uint8Array({ maxLength: 1000 }), fc.nat()), { maxLength: 20 });
    fc.assert(
      fc.property(payments, (all) => {
        const made = all.map(([note, amount]) => payment(note, amount));
        const { header, entries } = splitRawBlock(answerOf(made.map(({ inBlock }) => inBlock)));
        const reader = paysetReader(header);
        expect(entries.map((entry) => reader.txid(entry))).toEqual(made.map(({ id }) => id));
        for (const [index, entry] of entries.entries())
          expect(Buffer.from(reader.transaction(entry)).equals(made[index]?.bytes as Uint8Array)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it("are restored where more than 15 members take a longer head", () => {
    const names = "abcdefijklmnopq".split("");
    const txn = map(Object.fromEntries(names.map((name) => [name, 1])));
    const { header, entries } = splitRawBlock(answerOf([map({ hgi: true, txn })]));
    const whole = paysetReader(header).transaction(entries[0] as (typeof entries)[number]);
    expect([...decodeMsgpackMap(whole).keys()]).toEqual([..."abcdef", "gen", "gh", ..."ijklmnopq"]);
    expect(whole[0]).toBe(0xde);
  });

  it("are restored where they are longer than what is usual", () => {
    const notes = [map({ note: new Uint8Array(20_000).fill(1) }), map({ note: new Uint8Array(9) })];
    const { header, entries } = splitRawBlock(answerOf(notes.map((txn) => map({ txn }))));
    const reader = paysetReader(header);
    for (const [index, entry] of entries.entries()) {
      const whole = encodeMsgpack(new Map([...(notes[index] as MsgpackMap), ["gh", GENESIS_HASH]]));
      expect(Buffer.from(reader.transaction(entry)).equals(whole)).toBe(true);
      expect(reader.txid(entry)).toBe(txid(whole));
    }
  });

  it.each(["gen", "gh"])("are refused where one repeats the header's %s", (name) => {
    const { header, entries } = splitRawBlock(answerOf([map({ hgi: true, txn: map({ fee: 1, [name]: 1, snd: 2 }) })]));
    expect(() => paysetReader(header).txid(entries[0] as (typeof entries)[number])).toThrow(malformed);
  });

  it("show whether they have made inner ones", () => {
    const made = map({ dt: map({ itx: [map({ txn: map({ type: "pay" }) })] }), txn: map({ type: "appl" }) });
    const { entries } = splitRawBlock(answerOf([made, map({ dt: map({ gd: 1 }), txn: map({ type: "appl" }) })]));
    expect(entries.map(({ hasInner }) => hasInner)).toEqual([true, false]);
  });
});

describe("a block that is none", () => {
  it.each<[string, Uint8Array]>([
    ["a number", Uint8Array.of(5)],
    ["without a block", encodeMsgpack(new Map())],
    ["of a number", encodeMsgpack(map({ block: 1 }))],
    ["with a number for a transaction", answerOf([1])],
    ["with a transaction without txn", answerOf([new Map()])],
    ["with a number for its transactions", answerOf(1)],
    ["with a number for its certificate", encodeMsgpack(map({ block: map({ rnd: 5 }), cert: 5 }))],
    ["with bytes behind it", new Uint8Array([...answerOf([]), 0])],
    ["with a member twice", Uint8Array.from([0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 1])],
    ["that claims more than it has", Uint8Array.of(0xdf, 0xff, 0xff, 0xff, 0xff)],
  ])("%s is refused", (_, answer) => {
    expect(() => splitRawBlock(answer)).toThrow(malformed);
  });

  it("is refused as malformed, whatever byte of it is another", () => {
    const whole = answerOf([payment(new Uint8Array(20), 5).inBlock]);
    const change = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(change, ([at, by]) => {
        const changed = whole.with(at, (whole[at] as number) ^ by);
        attempt("malformed", () => {
          const { header, entries } = splitRawBlock(changed);
          for (const entry of entries) paysetReader(header).txid(entry);
        });
      }),
      { numRuns: 2_000 },
    );
  });
});
