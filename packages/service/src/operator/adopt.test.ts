import { describe, expect, test } from "vitest";
import { Database } from "../../simulation/database.ts";
import { serviceError } from "../../test/errors.ts";
import { ATTESTOR, STRANGER } from "../../test/fakes/audit-world.ts";
import { aCall, after } from "../../test/fakes/calls.ts";
import type { Journal } from "../calls/journal.ts";
import { type CallEvent, nextEffect, reduce } from "../calls/machine.ts";
import type { Attempt } from "../ledger/ledger.ts";
import type { LedgerNote } from "../ledger/search.ts";
import type { ChainPayment, PaymentReader } from "../payment/rails/payment-reader.ts";
import type { Rail, RailName } from "../payment/rails/rail.ts";
import type { Evidence, TransactionEvidence } from "../subjects/product.ts";
import { createProducts } from "../subjects/products.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";
import { type AdoptionOptions, adopt } from "./adopt.ts";
import { refund } from "./refund.ts";

const KEY = "eip155:8453/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913/0xaa/0x01";
const TX = `0x${"ab".repeat(32)}`;
const SUBJECT: Subject = { kind: "transaction", chain: "base", id: `0x${"cd".repeat(32)}` };
const KEY_SHA256 = "A".repeat(43);
const LEDGER = "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe";
const DAY_MS = 24 * 60 * 60_000;

const evidence: TransactionEvidence = {
  kind: "transaction",
  chain: "base",
  caip2: "eip155:8453",
  level: "finalized",
  source: { chain: "base", txnId: SUBJECT.id, hashSha256: "0".repeat(64), txnBytesBase64: "AA==" },
  block: { hash: `0x${"bb".repeat(32)}`, height: 88, time: 1_780_000_000 },
  succeeded: true,
};
const products = createProducts(new Map());
const attemptOf = (txid: string): Attempt => ({ txid, raw: new Uint8Array([1]), firstValid: 1, lastValid: 101 });

type Note = LedgerNote & { attempt: Attempt };

/** Chains and a journal as an operator finds them after a restore. */
class Restored {
  payments: ChainPayment[] = [
    {
      rail: "base",
      key: KEY,
      aliases: [],
      transaction: TX,
      height: 90,
      payer: "0xAA",
      payTo: "0xBB",
      amount: 1_000n,
      relayed: true,
    },
  ];
  notes: Note[] = [];
  round = 500;
  final = 100;
  now = 1_000_000;
  readonly waits: number[] = [];
  readonly journal: Journal = new Database({ now: () => 0, leaseMs: () => 0 }).connect();
  /** Called with every round. */
  onRound: (round: number) => void = () => {};

  #reader(rail: RailName): PaymentReader {
    const { payments } = this;
    return {
      heads: async () =>
        rail === "algorand" ? { latest: this.round, final: this.round } : { latest: 200, final: this.final },
      heightAt: async () => 1,
      payments: (payees) => asyncOf(payments.filter((one) => one.rail === rail && payees.includes(one.payTo))),
      inTransaction: async (id, addresses) =>
        payments.filter((one) => one.transaction === id && addresses.includes(one.payTo)),
    };
  }

  get readers() {
    const rails = ["algorand", "base"] as const;
    return new Map(rails.map((rail) => [rail, this.#reader(rail)]));
  }

  adopt(target = KEY, over: Partial<AdoptionOptions> = {}, subject = SUBJECT) {
    return adopt(target, subject, {
      journal: { ...this.journal, payees: async () => [{ rail: "base", address: "0xBB" }] },
      rails: [{ name: "base", network: "eip155:8453", asset: "0xUSDC" } as Rail],
      reader: this.#reader("algorand"),
      readers: this.readers,
      since: 0,
      products: { ...products, transaction: { ...products.transaction, evidence: async () => evidence } },
      notes: ({ from, to }) => asyncOf(this.notes.filter(({ round }) => from <= round && round <= to)),
      attestor: { algorandAddress: ATTESTOR, keySha256: KEY_SHA256, ledger: LEDGER },
      rounds: {
        latest: () => this.round,
        isCurrent: () => true,
        next: async () => {
          this.onRound(++this.round);
          return this.round;
        },
      },
      clock: { now: () => this.now },
      signal: AbortSignal.timeout(10_000),
      onWait: (round) => this.waits.push(round),
      ...over,
    });
  }

  refund(transaction: string, status: "dead" | "open" | "confirmed" = "dead", attested?: Attempt) {
    return refund(KEY, transaction, {
      attestationOf: async () => attested,
      journal: this.journal,
      readers: this.readers,
      rounds: {
        status: async () => (status === "confirmed" ? { state: "confirmed", round: 7 } : { state: status }),
      },
      clock: { now: () => this.now },
      signal: AbortSignal.timeout(10_000),
    });
  }

  /** Records the attestation that the lost call has left on the ledger. */
  attested(over: Partial<Note> = {}, seen: Partial<Evidence> = {}, keySha256 = KEY_SHA256): Note {
    const context = { keySha256, ledger: LEDGER, paymentKey: KEY };
    const note = products.transaction.note({ ...evidence, ...seen } as Evidence, context);
    return {
      txid: "ATTEST",
      round: 400,
      sender: ATTESTOR,
      note,
      movesNothing: true,
      attempt: attemptOf("ATTEST"),
      ...over,
    };
  }
}

async function* asyncOf<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

describe("an adoption", () => {
  test.each([KEY, TX])(
    "by %s makes the paid call that the journal would have, once no attestation can come",
    async (target) => {
      const restored = new Restored();
      const call = await restored.adopt(target);
      expect(call).toEqual(await restored.journal.find(KEY));
      expect(call).toMatchObject({
        key: KEY,
        rail: "base",
        payer: "0xAA",
        state: "paid",
        subject: SUBJECT,
        subjectHash: requestHash(SUBJECT),
        requirement: { network: "eip155:8453", asset: "0xUSDC", amount: "1000", payTo: "0xBB" },
        proof: { transaction: TX, height: 90, final: true },
        attempts: [],
        evidence,
      });
      expect(JSON.parse(Buffer.from(call.receipt ?? "", "base64").toString())).toMatchObject({
        success: true,
        payer: "0xAA",
        transaction: TX,
      });
      expect(nextEffect(call)).toEqual({ do: "sign" });
      expect(restored.waits).toEqual([600]);
      expect(restored.round).toBe(600);
    },
  );

  test("takes over the attestation that the ledger holds already, and waits for nothing", async () => {
    const restored = new Restored();
    restored.notes = [{ ...restored.attested(), sender: STRANGER }, restored.attested()];
    const call = await restored.adopt();
    expect(call).toMatchObject({ state: "signed", attempts: [{ ...attemptOf("ATTEST"), dead: false }] });
    expect(nextEffect(call)).toMatchObject({ do: "submit", attempt: { txid: "ATTEST" } });
    expect(restored.waits).toEqual([]);
  });

  test("takes over one that came while it waited: the lost call had sent it", async () => {
    const restored = new Restored();
    restored.onRound = (round) => {
      if (round === 580) restored.notes.push(restored.attested({ round }));
    };
    expect(await restored.adopt()).toMatchObject({ state: "signed", attempts: [{ txid: "ATTEST" }] });
  });

  test("keeps the level that was recorded, which may be deeper now", async () => {
    const restored = new Restored();
    restored.notes = [restored.attested({}, { level: "safe" })];
    expect((await restored.adopt()).evidence).toMatchObject({ level: "safe" });
  });

  test("keeps the block and the outcome that were recorded, also after a reorganisation", async () => {
    const restored = new Restored();
    const seen = { block: { hash: `0x${"cc".repeat(32)}`, height: 87, time: 1_779_999_998 }, succeeded: false };
    restored.notes = [restored.attested({}, seen)];
    expect((await restored.adopt()).evidence).toMatchObject(seen);
  });

  test("is refused when the attestation is of something else, under another key, or one of two", async () => {
    const other = { ...evidence, source: { ...evidence.source, txnId: `0x${"ee".repeat(32)}` } } as Evidence;
    const restored = new Restored();
    restored.notes = [restored.attested({}, other)];
    await expect(restored.adopt()).rejects.toThrow(`bought an attestation of transaction 0x${"ee".repeat(32)}: ATTEST`);
    restored.notes = [restored.attested({}, {}, "E".repeat(43))];
    await expect(restored.adopt()).rejects.toThrow("with a key that is not the current one");
    restored.notes = [restored.attested(), restored.attested({ txid: "TWO", attempt: attemptOf("TWO") })];
    await expect(restored.adopt()).rejects.toThrow("more than one attestation of this payment: ATTEST, TWO");
    expect(await restored.journal.find(KEY)).toBeUndefined();
  });

  test("goes on where another one was broken off, for the same subject alone", async () => {
    const restored = new Restored();
    const { update } = restored.journal;
    const crash = new Error("killed");
    const broken = { ...restored.journal, payees: async () => [{ rail: "base" as const, address: "0xBB" }] };
    await expect(restored.adopt(KEY, { journal: { ...broken, update: () => Promise.reject(crash) } })).rejects.toBe(
      crash,
    );
    const begun = await restored.journal.find(KEY);
    expect(begun).toMatchObject({ state: "settling" });
    // A service that found the call has tried to settle its payment.
    if (begun) await update(reduce(begun, { type: "settlement_begun" }));

    const other: Subject = { kind: "block", chain: "base", height: 1 };
    await expect(restored.adopt(KEY, {}, other)).rejects.toThrow("was begun for the base transaction");
    restored.notes = [restored.attested({ round: 650 })];
    restored.round = 700;
    expect(await restored.adopt()).toMatchObject({ state: "signed", version: 3 });
    await expect(restored.adopt()).rejects.toThrow("has a call for");
  });

  test("is refused when the journal knows the payment, by its key or by another of its names", async () => {
    const restored = new Restored();
    await restored.journal.insert(aCall({ key: "other", aliases: ["group"] }));
    restored.payments = restored.payments.map((payment) => ({ ...payment, aliases: ["group"] }));
    await expect(restored.adopt()).rejects.toThrow("It is settling, for the algorand transaction SOURCE");
  });

  test("is refused unless the chain shows one final payment to us, of which somebody could claim a key", async () => {
    const restored = new Restored();
    const [payment] = restored.payments as [ChainPayment];
    restored.final = 89;
    await expect(restored.adopt()).rejects.toMatchObject({
      code: "not_on_chain",
      message: expect.stringContaining("not final"),
    });
    restored.final = 90;
    restored.payments = [{ ...payment, payTo: "0xCC" }];
    await expect(restored.adopt()).rejects.toThrow("shows no payment to us");
    const { key: _, ...keyless } = payment;
    restored.payments = [keyless];
    await expect(restored.adopt(TX)).rejects.toThrow("nobody could claim it");
    restored.payments = [payment, { ...payment, key: `${KEY}2` }];
    await expect(restored.adopt(TX)).rejects.toThrow("several payments to us");
    await expect(restored.adopt("solana:x/y")).rejects.toThrow("no node is configured");
  });
});

test("an operator's event is taken in its own states alone", () => {
  const adopted = { type: "payment_adopted", proof: { transaction: TX, height: 1, final: true }, receipt: "" } as const;
  const paid = reduce(aCall(), adopted);
  expect(() => reduce(paid, adopted)).toThrow(serviceError("transition_illegal"));
  const refunded = { type: "payment_refunded", transaction: TX, refund: TX } as const;
  expect(() => reduce(paid, refunded)).toThrow(serviceError("transition_illegal"));
  const live = after(
    paid,
    { type: "attestation_signed", attempt: attemptOf("ATTEST") },
    { type: "attestation_blocked", reason: "overspend" },
  );
  expect(() => reduce(live, refunded)).toThrow("cannot take payment_refunded");
});

describe("a refund", () => {
  const BACK = `0x${"ba".repeat(32)}`;

  async function owed(...events: CallEvent[]) {
    const restored = new Restored();
    const [payment] = restored.payments as [ChainPayment];
    restored.payments.push({ ...payment, transaction: BACK, height: 95, payer: "0xBB", payTo: "0xAA" });
    let call = await restored.adopt();
    for (const event of [...events, { type: "attestation_blocked", reason: "overspend" } as const]) {
      call = reduce(call, event);
      await restored.journal.update(call);
    }
    restored.now += DAY_MS;
    return restored;
  }
  const signed: CallEvent = { type: "attestation_signed", attempt: attemptOf("ATTEST") };

  test("is recorded of what is owed for a day, once the last attempt is proved dead", async () => {
    const bare = await owed();
    expect(await bare.refund(BACK)).toMatchObject({ state: "refunded", reason: `given back in ${BACK}` });
    const restored = await owed(signed);
    await restored.refund(BACK);
    const call = await restored.journal.find(KEY);
    expect(call).toMatchObject({ state: "refunded", attempts: [{ txid: "ATTEST", dead: true }] });
    expect(call && nextEffect(call)).toEqual({ do: "nothing" });
  });

  test("is refused while an attestation may come, and when it has come", async () => {
    const restored = await owed(signed);
    await expect(restored.refund(BACK, "open")).rejects.toThrow("may be confirmed until round 101");
    await expect(restored.refund(BACK, "confirmed")).rejects.toThrow("is in round 7");
    const bare = await owed();
    await expect(bare.refund(BACK, "dead", attemptOf("BEFORE"))).rejects.toThrow("already attested in BEFORE");
    expect(await bare.journal.find(KEY)).toMatchObject({ state: "owed" });
    expect(await restored.journal.find(KEY)).toMatchObject({ state: "owed", attempts: [{ dead: false }] });
  });

  test("is refused before its time, of any other state, and unless its payer has the money back for good", async () => {
    const restored = await owed();
    restored.now -= 1;
    await expect(restored.refund(BACK)).rejects.toThrow("less than 24 hours");
    restored.now += 1;
    await expect(restored.refund(TX)).rejects.toThrow("does not send 1000 micro-USDC to 0xAA");
    const [paid, back] = restored.payments as [ChainPayment, ChainPayment];
    const given = (over: Partial<ChainPayment>) => restored.payments.splice(0, 2, paid, { ...back, ...over });
    given({ amount: 999n });
    await expect(restored.refund(BACK)).rejects.toMatchObject({ code: "not_on_chain" });
    given({ height: 101 });
    await expect(restored.refund(BACK)).rejects.toThrow("not final");
    given({ height: 89 });
    await expect(restored.refund(BACK)).rejects.toThrow("is older than the payment");
    given({});
    await restored.refund(BACK);
    await expect(restored.refund(BACK)).rejects.toThrow("The call is refunded");
    const unknown = new Restored();
    await expect(unknown.refund(BACK)).rejects.toThrow("no call for");
  });

  test("gives way to a service that moved the call meanwhile", async () => {
    const restored = await owed();
    const { find, update } = restored.journal;
    const call = await find(KEY);
    restored.journal.find = async (key) => (key === KEY ? call : undefined);
    if (call) await update(reduce(call, signed));
    await expect(restored.refund(BACK)).rejects.toMatchObject({ name: "ServiceError", code: "call_stale" });
  });
});
