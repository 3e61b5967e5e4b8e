import { encodeMsgpack, structMap } from "@attestd/proof/algorand";
import { encodeNote } from "@attestd/proof/attestor";
import { utf8 } from "@attestd/proof/encoding";
import type { PaymentPayload } from "@x402/core/types";
import pino from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import { AuditWorld } from "../../test/fakes/audit-world.ts";
import { aCall, after, GOOD_COURSE } from "../../test/fakes/calls.ts";
import { TestClock } from "../../test/fakes/clock.ts";
import type { Attestor } from "../attestor/attestor.ts";
import type { Attempt, Ledger, Submission } from "../ledger/ledger.ts";
import { deadlineOf } from "../lib/clock.ts";
import type { Facilitator, SettleAnswer } from "../payment/facilitator.ts";
import { encodeHeader } from "../payment/header.ts";
import type { PaymentStatus, Rail } from "../payment/rails/rail.ts";
import type { Evidence, TransactionEvidence } from "../subjects/product.ts";
import { createProducts } from "../subjects/products.ts";
import { createAttestation } from "./attestation.ts";
import { APART, type Call, evidenceOf } from "./call.ts";
import type { AttestationOf } from "./copied.ts";
import { createEffects } from "./effects.ts";
import { nextEffect } from "./machine.ts";
import { type Memory, newMemory, type Perform, pauseAfter } from "./perform.ts";
import { createSettlement } from "./settlement.ts";

const KEY_SHA256 = "A".repeat(43);
const OTHER_KEY = `${"B".repeat(42)}A`;
const GENESIS = "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe";
const FACILITATOR = "https://facilitator.example";
const STOP = new AbortController().signal;

/** The note of an attestation as a key's holder writes it. */
function noteBy(keySha256: string): string {
  const p = `${"P".repeat(21)}A`;
  const block = { b: "BLOCK", n: 7, u: 1_780_000_000 };
  const h = "0".repeat(64);
  return encodeNote({ a: keySha256, c: GENESIS, g: GENESIS, h, l: "finalized", p, t: "SOURCE", ...block });
}

/** A signed attestation transaction that carries a note. */
function attemptWith(note: string): Attempt {
  const raw = encodeMsgpack(structMap({ txn: structMap({ note: utf8(note) }) }));
  return { txid: "ATTEST", raw, firstValid: 10, lastValid: 110 };
}

const SETTLING = aCall({ facilitator: FACILITATOR });
const receipt = encodeHeader({ success: true, transaction: "PAYMENT", network: "algorand:x", payer: "PAYER" });
const PAID = { ...after(aCall({ facilitator: FACILITATOR }), ...GOOD_COURSE.slice(0, 1)), receipt };

describe("effects", () => {
  let clock: TestClock;
  let status: () => PaymentStatus;
  let hints: (string | undefined)[];
  let answer: SettleAnswer;
  let submission: Submission;
  let settlements: number;
  let perform: Perform;
  let memory: Memory;
  let prepared: number;
  let signed: number;
  let attestationOf: AttestationOf;
  let isCurrentKey: boolean;
  let canSign: boolean;
  /** Whether the facilitator gives no answer, and what ends its waiting. */
  let hangs: boolean;
  let settling: AbortSignal | undefined;
  let news: () => Promise<void>;

  /** Evidence that stands apart from the rows. */
  const apart = new Map<string, Evidence>();
  beforeEach(() => {
    clock = new TestClock();
    status = () => ({ state: "open" });
    answer = { success: true };
    submission = { status: "accepted" };
    settlements = 0;
    hints = [];
    prepared = 0;
    signed = 0;
    attestationOf = async () => undefined;
    hangs = false;
    news = async () => undefined;
    memory = newMemory();
    const rail = {
      name: "algorand",
      read: ({ payload }: PaymentPayload) => ({ key: "key", payer: "PAYER", payload }),
      status: async (_: unknown, __: unknown, hint?: string) => {
        hints.push(hint);
        return status();
      },
      news: () => news(),
    } as unknown as Rail;
    const facilitator = {
      settle: async (_payment, _requirement, signal) => {
        settlements += 1;
        settling = signal;
        if (hangs) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return answer;
      },
    } as Partial<Facilitator> as Facilitator;
    const ledger = {
      caip2: GENESIS,
      address: "ATTESTOR",
      rounds: { status: async () => ({ state: "open" }) },
      async sign(note: string) {
        signed += 1;
        return attemptWith(note);
      },
      submit: async () => submission,
    } as unknown as Ledger;
    const attestor: Attestor = {
      kid: "KID",
      keySha256: KEY_SHA256,
      pqPublicKey: "AAAA",
      seal: async (unsigned) => ({ id: "S", body: JSON.stringify(unsigned) }),
      signReceipt: async () => "signature",
    };
    const resourceOf = () => ({ url: "https://attestd.example/attest", description: "An attestation." });
    const common = { resourceOf, log: pino({ level: "silent" }), now: () => clock.now() };
    const settlement = createSettlement({
      rails: new Map([["algorand", rail]]),
      settlers: new Map([["algorand", [{ id: FACILITATOR, facilitator, unavailableReason: () => undefined }]]]),
      prepare: async () => {
        prepared += 1;
      },
      settleMs: 120_000,
      ...common,
    });
    const attestation = createAttestation({
      journal: {
        evidenceOf: async (key) => apart.get(key),
        // One at a time, as a journal may give them.
        evidenceItemsOf: async (key, from) => {
          const evidence = apart.get(key);
          return evidence?.kind === "batch" ? (evidence.items ?? []).slice(from, from + 1) : [];
        },
      },
      products: createProducts(new Map()),
      ledger,
      attestor,
      attestationOf: (call) => attestationOf(call),
      ...common,
    });
    isCurrentKey = true;
    canSign = true;
    perform = createEffects({
      settlement,
      attestation,
      keys: { confirm: async () => (isCurrentKey ? undefined : Promise.reject(new Error("another key is current"))) },
      signers: {
        confirm() {
          if (!canSign) throw new Error("the signer is away");
        },
      },
    });
  });

  const effectOf = (call: Call) =>
    perform(call, nextEffect(call, memory.unsent === call.settlements), memory, deadlineOf(clock, STOP));

  test("pause longer after every failure, and never for more than a quarter of the minute that a paid call has", () => {
    expect([1, 2, 3].map(pauseAfter)).toEqual([500, 1_000, 2_000]);
    expect(pauseAfter(100)).toBe(15_000);
  });

  test.each([
    { cause: "while another key is the current one", usable: [false, true] },
    { cause: "while nothing can be signed", usable: [true, false] },
  ])("settle nothing $cause, and still find how the payment ends on its chain", async ({ usable }) => {
    [isCurrentKey = true, canSign = true] = usable;
    memory = { ...newMemory(), unsent: 1 };
    await expect(effectOf(SETTLING)).rejects.toThrow();
    status = () => ({ state: "void", reason: "expired" });
    expect(await effectOf(SETTLING)).toMatchObject({ type: "payment_void", reason: "expired" });
    expect(settlements).toBe(0);
  });

  test("sign no note while another key is the current one", async () => {
    isCurrentKey = false;
    await expect(effectOf(PAID)).rejects.toThrow("another key is current");
    expect(signed).toBe(0);
  });

  describe("of a payment that its chain does not show", () => {
    test("ask for its settlement at once when nothing is known of one", async () => {
      expect(await effectOf(SETTLING)).toEqual({ type: "settlement_begun", facilitator: FACILITATOR });
      expect(settlements).toBe(0);
      await effectOf({ ...SETTLING, settlements: 2 });
      expect(settlements).toBe(1);
    });

    test("have the next signature prepared once the facilitator has settled, and not when it refused", async () => {
      for (const success of [false, true]) {
        answer = { success };
        memory = { ...newMemory(), unsent: 1 };
        await effectOf({ ...SETTLING, settlements: 1 });
        expect(prepared).toBe(success ? 1 : 0);
      }
    });

    test("look at the chain while the facilitator is silent, and do not settle again meanwhile", async () => {
      hangs = true;
      memory = { ...newMemory(), unsent: 1 };
      const call = { ...SETTLING, settlements: 1 };
      const left = effectOf(call);
      await clock.advance(5_000);
      expect(await left).toBeUndefined();
      for (const minute of [1, 2]) {
        expect([await effectOf(call), settlements, memory.waiting, minute]).toEqual([undefined, 1, undefined, minute]);
        await clock.advance(minute === 1 ? 114_999 : 1);
      }
      // Two minutes are over: it may have been lost.
      await clock.advance(pauseAfter(2));
      expect(await effectOf(call)).toEqual({ type: "settlement_begun", facilitator: FACILITATOR });
    });

    test("look first at the transaction that the facilitator names, whether it reports success or not", async () => {
      const call = { ...SETTLING, settlements: 1 };
      for (const success of [true, false])
        for (const transaction of ["NAMED", undefined]) {
          memory = { ...newMemory(), unsent: 1 };
          answer = { success, ...(transaction !== undefined && { transaction }) };
          await effectOf(call);
          await effectOf(call);
        }
      expect(hints).toEqual(["NAMED", undefined, "NAMED", undefined]);
    });

    test("follow the chain while the facilitator is silent, and wait for its answer no longer", async () => {
      hangs = true;
      memory = { ...newMemory(), unsent: 1 };
      const left = effectOf({ ...SETTLING, settlements: 1 });
      await clock.advance(5_000);
      await left;
      status = () => ({ state: "paid", transaction: "PAYMENT", height: 9, final: true });
      expect(await effectOf({ ...SETTLING, settlements: 1 })).toMatchObject({ type: "payment_proved" });
      expect([settling?.aborted, memory.settling]).toEqual([true, undefined]);
    });

    test("believe a settlement for half a minute, and the refusal of one no longer than a pause", async () => {
      for (const [success, patience] of [
        [true, 30_000],
        [false, pauseAfter(2)],
      ] as const) {
        memory = { ...newMemory(), settled: { answer: { success }, at: clock.now() } };
        await clock.advance(patience - 1);
        expect(await effectOf(SETTLING)).toBeUndefined();
        await clock.advance(1);
        expect(await effectOf(SETTLING)).toEqual({ type: "settlement_begun", facilitator: FACILITATOR });
      }
    });

    test("cost no more in an hour of refusals than a look each second and a settlement every 15 s cost in three minutes", async () => {
      answer = { success: false };
      let looks = 0;
      status = () => {
        looks += 1;
        return { state: "open" };
      };
      news = () => clock.sleep(1_000, STOP);
      let call = SETTLING;
      let over = false;
      const hour = async () => {
        while (!over) if (await effectOf(call)) call = { ...call, settlements: call.settlements + 1 };
      };
      const carried = hour();
      await clock.advance(3_600_000);
      over = true;
      await clock.advance(60_000);
      await carried;
      expect(looks).toBeLessThan(3 * 180);
      expect(settlements).toBeLessThan(3_600 / 15);
      expect(settlements).toBeGreaterThan(3_600 / 45);
    });

    test("count as work until the facilitator has refused: then there is nothing to do but wait", async () => {
      memory.settled = { answer: { success: true }, at: clock.now() };
      await effectOf(SETTLING);
      expect(memory.waiting).toBe(false);
      memory.settled = { answer: { success: false }, at: clock.now() };
      await effectOf(SETTLING);
      expect(memory.waiting).toBe(true);
    });
  });

  describe("of a delivered payment that is not final", () => {
    const done: Call = {
      ...after(aCall({ facilitator: FACILITATOR }), ...GOOD_COURSE),
      proof: { transaction: "PAYMENT", height: 9, final: false },
    };

    async function look(): Promise<void> {
      let isOver = false;
      void effectOf(done)
        .catch(() => undefined)
        .then(() => {
          isOver = true;
        });
      while (!isOver) await clock.advance(1_000);
    }

    test("count the looks that got an answer", async () => {
      const seen: PaymentStatus = { state: "paid", transaction: "PAYMENT", height: 9, final: false };
      status = () => seen;
      await look();
      await look();
      status = () => {
        throw new Error("no node answers");
      };
      await look();
      expect(memory.looks).toBe(2);
    });

    test("settle it again when it has vanished", async () => {
      await look();
      expect(settlements).toBe(1);
    });

    test("look first at the transaction that proved it", async () => {
      await look();
      expect(hints).toEqual(["PAYMENT"]);
    });
  });

  describe("of a call that was open when its journal was copied", () => {
    const { evidence } = PAID as { evidence: TransactionEvidence };
    const source = { ...evidence.source, hashSha256: "0".repeat(64) };
    const OPEN: Call = { ...PAID, evidence: { ...evidence, caip2: GENESIS, source } };
    const noteOf = (keySha256: string) =>
      createProducts(new Map()).transaction.note(evidenceOf(OPEN), {
        keySha256,
        ledger: GENESIS,
        paymentKey: OPEN.key,
      });

    test.each([KEY_SHA256, OTHER_KEY])("take the attestation that the ledger has, by whichever key: %s", async (by) => {
      const attempt = attemptWith(noteOf(by));
      attestationOf = async () => attempt;
      expect(await effectOf(OPEN)).toEqual({ type: "attestation_signed", attempt });
    });

    test("sign at once in the loop that saw the call from its insertion on", async () => {
      attestationOf = () => Promise.reject(new Error("not to be searched"));
      memory = newMemory(false);
      expect(await effectOf(OPEN)).toMatchObject({ type: "attestation_signed" });
      expect(signed).toBe(1);
    });

    test("sign nothing while the ledger is searched, beside one of something else, or without an answer", async () => {
      const searched = Promise.withResolvers<undefined>();
      attestationOf = () => searched.promise;
      const effect = effectOf(OPEN);
      await clock.advance(0);
      expect([memory.waiting, signed]).toEqual([true, 0]);
      searched.resolve(undefined);
      await effect;
      expect([memory.waiting, signed]).toEqual([false, 1]);
      attestationOf = async () => attemptWith(noteBy(KEY_SHA256));
      await expect(effectOf(OPEN)).rejects.toThrow("not of this call, ATTEST");
      attestationOf = () => Promise.reject(new Error("no indexer answers"));
      await expect(effectOf(OPEN)).rejects.toThrow("no indexer answers");
      expect(signed).toBe(1);
    });

    test("stop waiting when the call is carried elsewhere", async () => {
      attestationOf = () => new Promise(() => undefined);
      const carried = new AbortController();
      const deadline = deadlineOf(clock, carried.signal);
      const effect = perform(OPEN, nextEffect(OPEN), memory, deadline);
      carried.abort(new Error("the lease was lost"));
      await expect(effect).rejects.toThrow("the lease was lost");
      await expect(perform(OPEN, nextEffect(OPEN), memory, deadline)).rejects.toThrow("the lease was lost");
    });
  });

  test("say when the ledger does not take an attestation, and go on trying", async () => {
    submission = { status: "unfunded", reason: "overspend" };
    const attempt = attemptWith(noteBy(KEY_SHA256));
    const signed = after(PAID, { type: "attestation_signed", attempt });
    expect(await effectOf(signed)).toEqual({ type: "attestation_blocked", reason: "overspend" });
    const owed = after(signed, { type: "attestation_blocked", reason: "overspend" });
    await expect(effectOf(owed)).rejects.toThrow("overspend");
  });

  describe("of a confirmed attestation", () => {
    const confirmedWith = (note: string) =>
      after(
        PAID,
        { type: "attestation_signed", attempt: attemptWith(note) },
        { type: "attestation_confirmed", txid: "ATTEST", round: 12 },
      );

    test("seal the note that was submitted, though another one would be written now", async () => {
      const note = noteBy(KEY_SHA256);
      const event = await effectOf(confirmedWith(note));
      if (event?.type !== "bundle_sealed") throw new Error(`no bundle but ${event?.type}`);
      expect(JSON.parse(event.bundle.body).attest).toEqual({ txnId: "ATTEST", round: 12, note });
    });

    test("seal a batch by what was read before its payment, though no node has its sources any more", async () => {
      const { evidence, subject } = await new AuditWorld().buy("paid", "algorand", 3);
      if (!evidence || evidence === APART || evidence.kind !== "batch" || subject.kind !== "batch")
        throw new Error("a batch was bought");
      const { items: _, ...head } = evidence;
      const { root: r, size: z } = head;
      const note = encodeNote({ a: KEY_SHA256, g: GENESIS, p: `${"P".repeat(21)}A`, r, z });
      const call = { ...confirmedWith(note), subject };
      apart.set(call.key, evidence);
      for (const kept of [evidence, head] as const) {
        const event = await effectOf({ ...call, evidence: kept });
        if (event?.type !== "bundle_sealed") throw new Error(`no bundle but ${event?.type}`);
        expect(JSON.parse(event.bundle.body).attest).toMatchObject({ txnId: "ATTEST", round: 12, note });
        const sources = event.bundle.items?.map(({ text }) => JSON.parse(text).source.txnId);
        expect(sources).toEqual(subject.items.map(({ id }) => id));
      }
    });

    test("have what two large batches take in memory at a time: the next one waits until one of them is committed", async () => {
      const { evidence, subject } = await new AuditWorld().buy("paid", "algorand", 3);
      if (!evidence || evidence === APART || evidence.kind !== "batch") throw new Error("a batch was bought");
      const { items: _, ...head } = evidence;
      const { root: r, size: z } = head;
      const note = encodeNote({ a: KEY_SHA256, g: GENESIS, p: `${"P".repeat(21)}A`, r, z });
      const calls = ["1", "2", "3", "4"].map((key) => ({ ...confirmedWith(note), key, subject, evidence: head }));
      for (const { key } of calls) apart.set(key, evidence);
      const memories = calls.map(() => newMemory());
      const sealed: string[] = [];
      const under = calls.map(async (call, i) => {
        await perform(call as Call, nextEffect(call as Call), memories[i] as Memory, deadlineOf(clock, STOP));
        sealed.push(call.key);
      });
      await Promise.all(under.slice(0, 2));
      await clock.advance(1_000);
      expect(sealed).toEqual(["1", "2"]);
      memories[0]?.release?.();
      await under[2];
      expect(sealed).toEqual(["1", "2", "3"]);
      memories[1]?.release?.();
      await under[3];
    });

    test("seal nothing whose note names another key", async () => {
      await expect(effectOf(confirmedWith(noteBy(OTHER_KEY)))).rejects.toThrow("not of the present key");
      expect(memory.waiting).toBe(true);
    });
  });
});
