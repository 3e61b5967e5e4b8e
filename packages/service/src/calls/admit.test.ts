import type { PaymentPayload } from "@x402/core/types";
import pino from "pino";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { Database } from "../../simulation/database.ts";
import { aCall, afterCommit, GOOD_COURSE, goodCourseFrom } from "../../test/fakes/calls.ts";
import { TestClock } from "../../test/fakes/clock.ts";
import { endOf } from "../lib/clock.ts";
import { ServiceError } from "../lib/errors.ts";
import type { Problem } from "../lib/problems.ts";
import { type Facilitator, facilitatorFailed, type VerifyAnswer } from "../payment/facilitator.ts";
import { createOffers } from "../payment/offers.ts";
import { type Payment, paymentRefused, type Rail } from "../payment/rails/rail.ts";
import type { Evidence, Products } from "../subjects/product.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";
import { type Admit, createAdmission } from "./admit.ts";
import { createBundles } from "./bundles.ts";
import { type Call, evidenceOf } from "./call.ts";
import { type Capacity, createCapacity } from "./capacity.ts";
import { expectationLost, type Journal, LEASE_MS } from "./journal.ts";
import type { CallEvent } from "./machine.ts";
import type { Outcome } from "./outcome.ts";
import type { Perform } from "./perform.ts";
import { createRunner } from "./runner.ts";
import { createUnderWay, underWayLimits } from "./under-way.ts";

const NETWORK = "eip155:8453";
const BLOCK: Subject = { kind: "block", chain: "base", height: 1 };
const OTHER: Subject = { kind: "block", chain: "base", height: 2 };
const WAIT_MS = 30_000;

/** What is in `payload.payload` here. */
type Scheme = { id: string; by: string; signature?: string; alias?: string; payTo?: string };

/** A payment on the wire; `name` is the payer's own name for its purchase. */
function paying(scheme: Scheme, name?: string): PaymentPayload {
  const accepted = { scheme: "exact", network: NETWORK, asset: "USDC", amount: "1000", payTo: "PAYEE" } as const;
  return {
    x402Version: 2,
    accepted: { ...accepted, maxTimeoutSeconds: 60, extra: {} },
    payload: { signature: "good", ...scheme },
    ...(name !== undefined && { extensions: { "payment-identifier": { info: { required: false, id: name } } } }),
  };
}

/** A rail of which a test decides what its chain shows. */
class FakeRail implements Pick<Rail, "name" | "network"> {
  readonly name = "base";
  readonly network = NETWORK;
  isForAnyFacilitator = false;
  readonly asset = "USDC";
  readonly extra = {};
  /** What each payer holds; enough unless set. */
  readonly held = new Map<string, bigint>();
  /** Ids of payments that the chain shows as made. */
  readonly made = new Set<string>();
  refusal: string | undefined;
  asked = 0;

  paysFor = () => true;
  isNetwork = (network: string) => network === NETWORK;
  sameAddress = (a: string, b: string) => a === b;
  read(payload: PaymentPayload): Payment {
    const { id, by, alias, payTo = "PAYEE" } = payload.payload as Scheme;
    const aliases = alias === undefined ? [] : [alias];
    return {
      rail: "base",
      key: `key/${id}`,
      aliases,
      payer: by,
      payTo,
      amount: 1_000n,
      asset: "USDC",
      payload,
      wire: {},
    };
  }
  async signature({ payload }: Payment): ReturnType<Rail["signature"]> {
    return (payload.payload as Scheme).signature === "bad" ? "invalid" : "valid";
  }
  onChain = async () => false;
  checkLayout = async () => undefined;
  async check() {
    if (this.refusal !== undefined) throw paymentRefused(this.refusal);
  }
  payeeFault = async () => undefined;
  async balance({ payer }: Payment) {
    return this.held.get(payer) ?? 1_000_000_000n;
  }
  async status() {
    return { state: "open" } as const;
  }
  async spent({ payload }: Payment, signal: AbortSignal) {
    this.asked += 1;
    if (signal.aborted) throw new ServiceError("providers_unavailable", "no time to ask");
    return this.made.has((payload.payload as Scheme).id);
  }
  news = async () => undefined;
}

const goodCourse: Perform = async (call) => goodCourseFrom(call)[0];
const away = (): never => {
  throw facilitatorFailed("away");
};
const unpaid: Perform = async () => ({ type: "payment_void", reason: "expired unspent", receipt: "failed" });
const stuck: Perform = (_call, _effect, _memory, { signal }) => endOf(signal);

describe("admission", () => {
  let clock: TestClock;
  let rail: FakeRail;
  let journal: Journal;
  /** Another replica's. */
  let otherJournal: Journal;
  let verdict: (signal: AbortSignal) => VerifyAnswer | Promise<VerifyAnswer>;
  /** Of the second facilitator. */
  let secondVerdict: typeof verdict;
  let fetches: number;
  let fetch: () => Promise<Evidence>;
  let perform: Perform;
  let capacity: Capacity;
  let queueAge: number;
  let admit: Admit;
  /** Since when the journal may lack calls: Unix ms. */
  let lackingSince: number | undefined;

  beforeEach(() => {
    clock = new TestClock();
    rail = new FakeRail();
    const database = new Database({ now: () => clock.now(), leaseMs: () => LEASE_MS });
    [journal, otherJournal] = [database.connect(), database.connect()];
    verdict = () => ({ valid: true });
    secondVerdict = () => ({ valid: false, reason: "refused by the second" });
    fetches = 0;
    fetch = async () => evidenceOf(aCall());
    perform = goodCourse;
    const log = pino({ level: "silent" });
    const runner = createRunner({ journal, perform: (...given) => perform(...given), clock, log });
    const ledger = { spendable: async () => 1_000_000_000n, fee: 1_000n };
    queueAge = 0;
    const carrying = {
      get active() {
        return runner.active;
      },
      get queueAge() {
        return queueAge;
      },
    };
    capacity = createCapacity({
      ledger,
      runner: carrying,
      maxInFlight: () => 10_000,
      health: { refusal: () => undefined },
    });
    const supported = async () => [{ network: NETWORK, extra: {} }];
    const asked: Facilitator["verify"] = async (_payment, _requirement, signal) => verdict(signal);
    const facilitator = { verify: asked, supported } as unknown as Facilitator;
    const url = "https://facilitator.example";
    const second = {
      verify: async (_payment: unknown, _requirement: unknown, signal: AbortSignal) => secondVerdict(signal),
      supported,
    } as unknown as Facilitator;
    const other = "https://second.example";
    const facilitators = [
      { id: url, url, facilitator },
      { id: other, url: other, facilitator: second },
    ];
    const enabled = { rail, payTo: "PAYEE", price: 1_000n, facilitators };
    const block = {
      evidence: () => {
        fetches += 1;
        return fetch();
      },
    };
    lackingSince = undefined;
    const options = {
      journal: Object.assign(journal, { mayLackSince: () => lackingSince }),
      runner,
      capacity,
      offers: createOffers({ itemPrice: 100n, rails: [enabled], maxTimeoutSeconds: 60, now: () => clock.now() }),
      rails: [rail],
      products: { block } as unknown as Products,
      isPayee: (_: Rail, address: string) => address === "PAYEE" || address === "EARLIER PAYEE",
      log,
      clock,
      waitMs: WAIT_MS,
      deadlineMs: 20_000,
      bundles: createBundles(journal, createUnderWay({ ...underWayLimits(), clock })),
      resourceOf: () => ({ url: "https://attestd.example/attest", description: "An attestation." }),
    };
    const admission = createAdmission(options);
    const soon = AbortSignal.timeout(1_000);
    const read = Promise.all([capacity.refresh(soon), options.offers.refresh(soon)]);
    admit = async (...request) => {
      await read;
      return admission(...request);
    };
  });

  /** The code of the problem that a request comes to. */
  async function problemOf(asked: Promise<Outcome>): Promise<Problem> {
    const outcome = await asked;
    if (outcome.kind === "problem") return outcome.problem;
    throw new Error(`no problem but ${JSON.stringify(outcome)}`);
  }

  /** Moves the call of a payment on. */
  async function move(key: string, ...events: CallEvent[]): Promise<void> {
    for (const event of events) await journal.update(afterCommit((await journal.find(key)) as Call, event));
  }

  test("delivers for a payment, once and for ever", async () => {
    const delivered = { kind: "delivered", body: "{}", receipt: "signed receipt" };
    expect(await admit(BLOCK, paying({ id: "1", by: "A" }))).toEqual(delivered);
    rail.refusal = "expired";
    verdict = () => {
      throw facilitatorFailed("silent");
    };
    expect(await admit(BLOCK, paying({ id: "1", by: "A" }))).toEqual(delivered);
    expect(fetches).toBe(1);
  });

  describe("where two facilitators may settle", () => {
    const facilitatorOf = async (id: string) => (await journal.find(`key/${id}`))?.facilitator;

    test("asks the next one when one gives no verdict, also when it hangs, and records who gave it", async () => {
      await admit(BLOCK, paying({ id: "1", by: "A" }));
      expect(await facilitatorOf("1")).toBe("https://facilitator.example");
      secondVerdict = () => ({ valid: true });
      verdict = () => {
        throw facilitatorFailed("away");
      };
      expect(await admit(BLOCK, paying({ id: "2", by: "A" }))).toMatchObject({ kind: "delivered" });
      expect(await facilitatorOf("2")).toBe("https://second.example");
      verdict = (signal) =>
        clock.sleep(60_000, signal).then(
          () => ({ valid: true }),
          () => Promise.reject(facilitatorFailed("no answer in time", "late")),
        );
      const late = admit(BLOCK, paying({ id: "3", by: "A" }));
      const answered = clock.advance(5_000).then(() => late);
      expect(await answered).toMatchObject({ kind: "delivered" });
      expect(await facilitatorOf("3")).toBe("https://second.example");
    });

    test("asks the other one before a 402: what one refuses, another may take", async () => {
      verdict = () => ({ valid: false, reason: "screened" });
      secondVerdict = () => ({ valid: true });
      expect(await admit(BLOCK, paying({ id: "1", by: "A" }))).toMatchObject({ kind: "delivered" });
      expect(await facilitatorOf("1")).toBe("https://second.example");
    });

    test.each([
      ["refuses", () => ({ valid: false, reason: "also screened" }) as const],
      [
        "gives no verdict",
        () => {
          throw facilitatorFailed("away");
        },
      ],
    ])("answers 402 with the reason of the first when the other one %s", async (_, said) => {
      verdict = () => ({ valid: false, reason: "screened" });
      secondVerdict = said;
      const error = expect.stringMatching(/^screened; .* send it again before you sign another$/);
      expect(await admit(BLOCK, paying({ id: "1", by: "A" }))).toMatchObject({ kind: "payment_required", error });
    });

    test("answers 503 with the longest wait that was asked for when none gives a verdict", async () => {
      verdict = () => {
        throw facilitatorFailed("away");
      };
      secondVerdict = () => {
        throw facilitatorFailed("busy", 429, { retryAfterMs: 42_000 });
      };
      const problem = await problemOf(admit(BLOCK, paying({ id: "1", by: "A" })));
      expect(problem).toMatchObject({ code: "facilitator_unavailable", retryAfter: 42 });
    });
  });

  describe("of a payment that facilitators refuse, and settle all the same", () => {
    const payment = (id = "1") => paying({ id, by: "A" });
    const delivered = { kind: "delivered", body: "{}", receipt: "signed receipt" };

    /** Has it refused, and then made. */
    async function refuseAndSettle(id = "1"): Promise<void> {
      verdict = () => ({ valid: false, reason: "screened" });
      expect(await admit(BLOCK, payment(id))).toMatchObject({ kind: "payment_required" });
      rail.made.add(id);
    }

    test.each([
      ["while it is valid, though its payer has nothing left", () => rail.held.set("A", 0n)],
      ["once it has expired", () => Object.assign(rail, { refusal: "expired" })],
    ])("delivers to whoever brings it again: %s", async (_, changed) => {
      await refuseAndSettle();
      changed();
      expect(await admit(BLOCK, payment())).toEqual(delivered);
      expect(await admit(BLOCK, payment())).toEqual(delivered);
      expect((await journal.find("key/1"))?.settlements).toBe(0);
    });

    test.each([
      ["fails", () => Promise.reject(facilitatorFailed("defect", 500))],
      [
        "never answers",
        (signal: AbortSignal) =>
          new Promise<never>((_, reject) =>
            signal.addEventListener("abort", () => reject(facilitatorFailed("late", "late")), { once: true }),
          ),
      ],
    ])("says that it may still be taken, and delivers later, where the only one that has it %s", async (_, ending) => {
      verdict = ending;
      secondVerdict = away;
      const first = problemOf(admit(BLOCK, payment()));
      await clock.advance(30_000);
      expect(await first).toMatchObject({
        code: "facilitator_unavailable",
        members: { retry: { sameHeader: true } },
        message: expect.stringContaining("before you sign another"),
      });
      rail.made.add("1");
      verdict = () => ({ valid: false, reason: "nonce_used" });
      expect((await problemOf(admit(OTHER, payment()))).code).toBe("payment_bound_to_other_request");
      expect(await admit(BLOCK, payment())).toEqual(delivered);
    });

    test("remembers it when the first one refuses it and the second one never answers", async () => {
      verdict = () => ({ valid: false, reason: "screened" });
      secondVerdict = (signal) =>
        new Promise<never>((_, reject) =>
          signal.addEventListener("abort", () => reject(facilitatorFailed("late", "late")), { once: true }),
        );
      const first = admit(BLOCK, payment());
      await clock.advance(30_000);
      expect(await first).toMatchObject({ kind: "payment_required" });
      rail.made.add("1");
      secondVerdict = away;
      expect(await admit(BLOCK, payment())).toEqual(delivered);
    });

    test("names a facilitator for the case that a reorganisation undoes it, while it is valid", async () => {
      await refuseAndSettle();
      await admit(BLOCK, payment());
      expect(await journal.find("key/1")).toMatchObject({ facilitator: "https://facilitator.example" });
    });

    test("delivers what it was first brought for, and nothing else", async () => {
      await refuseAndSettle();
      expect((await problemOf(admit(OTHER, payment()))).code).toBe("payment_bound_to_other_request");
      expect(await admit(BLOCK, payment())).toEqual(delivered);
    });

    test("does not say that nothing was charged where it cannot be delivered", async () => {
      await refuseAndSettle();
      fetch = async () => {
        throw new ServiceError("block_not_found", "no block 1");
      };
      const problem = await problemOf(admit(BLOCK, payment()));
      expect(problem).toMatchObject({ code: "payment_unaccounted", members: { retry: { sameHeader: true } } });
      fetch = async () => evidenceOf(aCall());
      queueAge = 600_000;
      expect((await problemOf(admit(BLOCK, payment()))).code).toBe("payment_unknown");
      queueAge = 0;
      fetch = async () => {
        throw new ServiceError("block_not_found", "no block 1");
      };
      verdict = () => ({ valid: true });
      expect((await problemOf(admit(BLOCK, payment()))).code).toBe("payment_unknown");
      fetch = async () => evidenceOf(aCall());
      expect(await admit(BLOCK, payment())).toEqual(delivered);
    });

    test("delivers once, of two that come at once", async () => {
      await refuseAndSettle();
      expect(await Promise.all([1, 2].map(() => admit(BLOCK, payment())))).toEqual([delivered, delivered]);
    });

    test("delivers it beside another purchase of its name", async () => {
      const name = "task";
      verdict = () => ({ valid: false, reason: "screened" });
      expect(await admit(BLOCK, payment("1"), { name })).toMatchObject({ kind: "payment_required" });
      verdict = () => ({ valid: true });
      expect(await admit(BLOCK, payment("2"), { name })).toEqual(delivered);
      rail.made.add("1");
      rail.refusal = "expired";
      expect(await admit(BLOCK, payment("1"), { name })).toEqual(delivered);
      expect((await journal.find(name))?.key).toBe("key/2");
    });

    test("asks for no other one before it is remembered", async () => {
      verdict = () => ({ valid: false, reason: "screened" });
      vi.spyOn(journal, "rememberRefused").mockRejectedValueOnce(new Error("disk full"));
      const problem = await problemOf(admit(BLOCK, payment()));
      expect(problem).toMatchObject({ code: "payment_unknown", members: { retry: { sameHeader: true } } });
    });

    // A call of it may have been lost with its row, and attested for.
    test("remembers none that is made already when it is refused", async () => {
      rail.made.add("1");
      verdict = () => ({ valid: false, reason: "nonce_used" });
      for (let i = 0; i < 2; i++) expect((await problemOf(admit(BLOCK, payment()))).code).toBe("payment_unaccounted");
      expect(await journal.refused("key/1")).toBeUndefined();
    });

    test("remembers none that our own checks refuse", async () => {
      rail.refusal = "expires too soon";
      await admit(BLOCK, payment());
      expect(await journal.refused("key/1")).toBeUndefined();
    });
  });

  test("admits no call while it is too far behind or stops, and still delivers what was bought", async () => {
    const bought = await admit(BLOCK, paying({ id: "1", by: "A" }));
    queueAge = 61_000;
    const [late, known] = [paying({ id: "2", by: "A" }), paying({ id: "1", by: "A" })];
    expect(await problemOf(admit(BLOCK, late))).toMatchObject({ code: "over_capacity", status: 503, retryAfter: 30 });
    expect(await admit(BLOCK, known)).toEqual(bought);
    queueAge = 0;
    capacity.stop();
    expect(await problemOf(admit(BLOCK, late))).toMatchObject({ code: "stopping", status: 503, retryAfter: 5 });
    expect(await admit(BLOCK, known)).toEqual(bought);
    expect(await journal.find("key/2")).toBeUndefined();
  });

  test("takes the first of two payments that share an alias, and calls the other one bound", async () => {
    await admit(BLOCK, paying({ id: "1", by: "A", alias: "group" }));
    const second = await problemOf(admit(BLOCK, paying({ id: "2", by: "A", alias: "group" })));
    expect(second.code).toBe("payment_bound_to_other_request");
    expect(await journal.find("group")).toMatchObject({ key: "key/1" });
  });

  describe("of a known payment", () => {
    test("refuses it for another request", async () => {
      await admit(BLOCK, paying({ id: "1", by: "A" }));
      expect((await problemOf(admit(OTHER, paying({ id: "1", by: "A" })))).code).toBe("payment_bound_to_other_request");
    });

    test("reads no row before the payer's signature is checked, unless the payment has come again byte for byte", async () => {
      const first = paying({ id: "1", by: "A" });
      expect(await admit(BLOCK, first)).toMatchObject({ kind: "delivered" });
      const read: string[] = [];
      const find = journal.find;
      journal.find = (key) => {
        read.push(key);
        return find(key);
      };
      for (let n = 0; n < 3; n++) await admit(BLOCK, paying({ id: "1", by: "A", signature: "bad" }));
      expect(await admit(BLOCK, first)).toMatchObject({ kind: "delivered" });
      expect(read).toEqual([]);
      await admit(BLOCK, paying({ id: "1", by: "A", signature: "other" }));
      expect(read).toEqual(["key/1"]);
    });

    test("reveals nothing to a sender with a bad signature", async () => {
      await admit(BLOCK, paying({ id: "1", by: "A" }));
      const unknown = await admit(BLOCK, paying({ id: "never sent", by: "A", signature: "bad" }));
      for (const subject of [BLOCK, OTHER])
        expect(await admit(subject, paying({ id: "1", by: "A", signature: "bad" }))).toEqual(unknown);
      // Another signature of the payer's own is as good as the first.
      expect(await admit(BLOCK, paying({ id: "1", by: "A", signature: "other" }))).toMatchObject({ kind: "delivered" });
    });

    test("asks for another one once it is void, with today's offers and the failed receipt", async () => {
      perform = unpaid;
      const void402 = { kind: "payment_required", error: "expired unspent", receipt: "failed" };
      const first = await admit(BLOCK, paying({ id: "1", by: "A" }));
      expect(first).toMatchObject({ ...void402, accepts: [{ amount: "1000" }] });
      expect(await admit(BLOCK, paying({ id: "1", by: "A" }))).toEqual(first);
      perform = goodCourse;
      expect(await admit(BLOCK, paying({ id: "2", by: "A" }))).toMatchObject({ kind: "delivered" });
    });

    test("says that it was given back", async () => {
      perform = stuck;
      void problemOf(admit(BLOCK, paying({ id: "1", by: "A" })));
      await clock.advance(0);
      const owed: CallEvent = { type: "attestation_blocked", reason: "unfunded" };
      await move("key/1", ...GOOD_COURSE.slice(0, 1), owed, {
        type: "payment_refunded",
        transaction: "BACK",
        refund: "BACK",
      });
      expect((await problemOf(admit(BLOCK, paying({ id: "1", by: "A" })))).code).toBe("payment_refunded");
    });

    test.each([
      ["settlement_pending", "settling"],
      ["attestation_pending", "paid"],
      ["attestation_pending", "confirmed"],
    ] as const)("waits for its end, and then says %s while it is %s", async (code, state) => {
      perform = (call, ...rest) => (call.state === state ? stuck : goodCourse)(call, ...rest);
      const asked = problemOf(admit(BLOCK, paying({ id: "1", by: "A" })));
      await clock.advance(WAIT_MS - 1);
      expect(await Promise.race([asked, "still waiting"])).toBe("still waiting");
      await clock.advance(1);
      expect(await asked).toMatchObject({ code, retryAfter: 5, members: { retry: { sameHeader: true } } });
    });
  });

  describe("of a purchase that its payer has named", () => {
    const named = (id: string, by = "A") => paying({ id, by }, "purchase-of-january");

    test("answers another payment with the first one's bundle, though it would not pass by itself", async () => {
      const first = await admit(BLOCK, named("1"));
      verdict = () => ({ valid: false, reason: "insufficient_funds" });
      expect(await admit(BLOCK, named("2"))).toEqual(first);
      expect(await journal.find("key/2")).toBeUndefined();
      expect((await problemOf(admit(OTHER, named("3")))).code).toBe("payment_bound_to_other_request");
    });

    test("asks for no other payment than one that was made, though the first one came to nothing", async () => {
      perform = async (call, ...rest) => {
        if (call.state === "settling") await clock.sleep(1_000, AbortSignal.timeout(10_000));
        return unpaid(call, ...rest);
      };
      const first = admit(BLOCK, named("1"));
      await clock.advance(0);
      const [second, third] = [admit(BLOCK, named("2")), problemOf(admit(BLOCK, named("3")))];
      rail.made.add("3");
      await clock.advance(1_000);
      expect(await first).toMatchObject({ kind: "payment_required", error: "expired unspent" });
      expect(await second).toEqual(await first);
      expect((await third).code).toBe("payment_unaccounted");
    });

    test("keeps the names of payers apart", async () => {
      await admit(BLOCK, named("1"));
      expect(await admit(OTHER, named("2", "B"))).toMatchObject({ kind: "delivered" });
    });

    test("frees the name of a purchase that came to nothing, as often as it does", async () => {
      perform = unpaid;
      for (const id of ["1", "2"]) expect(await admit(BLOCK, named(id))).toMatchObject({ kind: "payment_required" });
      perform = goodCourse;
      // The name is free again for anything.
      expect(await admit(OTHER, named("3"))).toMatchObject({ kind: "delivered" });
      expect(await admit(BLOCK, named("1"))).toMatchObject({ kind: "payment_required", error: "expired unspent" });
      expect((await problemOf(admit(BLOCK, named("4")))).code).toBe("payment_bound_to_other_request");
    });
  });

  describe("of a purchase that a transport has named", () => {
    const name = "task";

    test("finds it under that name, and answers another payment of any payer with the outcome of the first", async () => {
      const first = await admit(BLOCK, paying({ id: "1", by: "A" }), { name });
      expect(await journal.find(name)).toMatchObject({ key: "key/1" });
      verdict = () => ({ valid: false, reason: "insufficient_funds" });
      expect(await admit(BLOCK, paying({ id: "2", by: "B" }), { name })).toEqual(first);
      expect(await journal.find("key/2")).toBeUndefined();
    });

    test("leaves one of two payments that come at once unsettled", async () => {
      const both = ["1", "2"].map((id) => admit(BLOCK, paying({ id, by: "A" }), { name }));
      expect(new Set((await Promise.all(both)).map(({ kind }) => kind))).toEqual(new Set(["delivered"]));
      const calls = await Promise.all(["key/1", "key/2"].map((key) => journal.find(key)));
      expect(calls.filter((call) => call !== undefined)).toHaveLength(1);
    });

    test("stays what it came to when that was nothing", async () => {
      perform = unpaid;
      const first = await admit(BLOCK, paying({ id: "1", by: "A" }), { name });
      perform = goodCourse;
      expect(await admit(BLOCK, paying({ id: "2", by: "A" }), { name })).toEqual(first);
      expect(first).toMatchObject({ kind: "payment_required", receipt: "failed" });
    });
  });

  test("does not wait for the bundle where the transport does not", async () => {
    perform = stuck;
    const problem = await problemOf(admit(BLOCK, paying({ id: "1", by: "A" }), { wait: false }));
    expect(problem.code).toBe("settlement_pending");
    expect(await journal.find("key/1")).toBeDefined();
  });

  describe("of a payment that is not taken", () => {
    test.each([
      ["our own checks", () => ({ refusal: "expires too soon" })],
      ["the facilitator", () => ({ verdict: () => ({ valid: false, reason: "insufficient_funds" }) as const })],
    ])("gives the reason of %s, and writes nothing", async (_, fault) => {
      const { refusal, verdict: said } = { refusal: undefined, verdict, ...fault() };
      rail.refusal = refusal;
      verdict = said;
      const outcome = await admit(BLOCK, paying({ id: "1", by: "A" }));
      expect(outcome).toMatchObject({
        kind: "payment_required",
        error: expect.stringContaining(refusal ?? "insufficient_funds"),
      });
      expect([await journal.find("key/1"), fetches]).toEqual([undefined, 0]);
    });

    test("says what the payer lacks, before the facilitator is asked", async () => {
      rail.held.set("A", 999n);
      verdict = () => {
        throw facilitatorFailed("must not be asked");
      };
      const outcome = await admit(BLOCK, paying({ id: "1", by: "A" }));
      const error = "the payer holds 999, less than the 1000 of the payment";
      expect(outcome).toMatchObject({ kind: "payment_required", error });
    });

    test.each(["PAYEE", "EARLIER PAYEE"])("asks for no other one when it was made to us, as %s", async (payTo) => {
      rail.refusal = "expired";
      rail.made.add("1");
      const problem = await problemOf(admit(BLOCK, paying({ id: "1", by: "A", payTo })));
      expect(problem).toMatchObject({ code: "payment_unaccounted", members: { retry: { sameHeader: true } } });
    });

    test("asks for no other one when it was made to us, under the interface's names for what it moves", async () => {
      rail.refusal = "expired";
      rail.made.add("1");
      const payment = paying({ id: "1", by: "A" });
      const accepted = { ...payment.accepted, amount: undefined, maxAmountRequired: "1000" };
      const literal = { ...payment, accepted } as unknown as PaymentPayload;
      expect((await problemOf(admit(BLOCK, literal))).code).toBe("payment_unaccounted");
    });

    test("asks for no other one when its call may be lost, though the facilitator calls it good", async () => {
      rail.made.add("1");
      lackingSince = clock.now();
      expect((await problemOf(admit(BLOCK, paying({ id: "1", by: "A" })))).code).toBe("payment_unaccounted");
      expect(await journal.find("key/1")).toBeUndefined();
      expect(await admit(BLOCK, paying({ id: "2", by: "A" }))).toMatchObject({ kind: "delivered" });
      await clock.advance(2 * 3_600_000);
      expect(await admit(BLOCK, paying({ id: "1", by: "A" }))).toMatchObject({ kind: "delivered" });
    });

    test.each([
      [
        "over_capacity",
        () => {
          queueAge = 600_000;
        },
      ],
      [
        "facilitator_unavailable",
        () => {
          verdict = away;
          secondVerdict = away;
        },
      ],
    ] as const)("says nothing was charged (%s) only while its call cannot be lost", async (code, hinder) => {
      hinder();
      const asked = () => problemOf(admit(BLOCK, paying({ id: "1", by: "A" })));
      expect(await asked()).toMatchObject({ code });
      lackingSince = clock.now();
      expect(await asked()).toMatchObject({ code: "payment_unknown", members: { retry: { sameHeader: true } } });
    });

    test("asks the chain nothing for strangers, nor about a payment to another payee", async () => {
      rail.refusal = "expired";
      rail.made.add("1");
      for (const scheme of [{ signature: "bad" }, { payTo: "SOMEBODY" }])
        expect(await admit(BLOCK, paying({ id: "1", by: "A", ...scheme }))).toMatchObject({ kind: "payment_required" });
      expect(rail.asked).toBe(0);
    });

    test("charges for nothing that cannot be fetched", async () => {
      fetch = async () => {
        throw new ServiceError("block_not_found", "no block 1");
      };
      expect((await problemOf(admit(BLOCK, paying({ id: "1", by: "A" })))).code).toBe("block_not_found");
      expect(await journal.find("key/1")).toBeUndefined();
      // Nothing of it is left: the same payment may buy something else.
      rail.held.set("A", 1_000n);
      fetch = async () => evidenceOf(aCall());
      expect(await admit(OTHER, paying({ id: "1", by: "A" }))).toMatchObject({ kind: "delivered" });
    });
  });

  describe("of a payment that another request brings meanwhile", () => {
    const payment = () => paying({ id: "1", by: "A" });
    let release: (value?: unknown) => void;
    let gate: Promise<unknown>;

    beforeEach(() => {
      perform = stuck;
      gate = new Promise((resolve) => {
        release = resolve;
      });
    });

    /** Lets another request bring the payment after `late` has looked for it in the journal. @returns what `late` gets */
    async function overtaken(late: PaymentPayload, delay: () => void, now: () => void): Promise<unknown> {
      delay();
      const answer = admit(BLOCK, late, { wait: false });
      await clock.advance(0);
      now();
      const first = await problemOf(admit(BLOCK, payment(), { wait: false }));
      expect([first.code, (await journal.find("key/1"))?.state]).toEqual(["settlement_pending", "settling"]);
      release();
      return answer;
    }

    /** The chain accepts the signature at once, but shows nothing of it any more to the request that is overtaken. */
    const slowly = [
      () => {
        rail.signature = async () => "on_chain";
        rail.onChain = () => gate.then(() => false);
      },
      () => {
        rail.onChain = async () => true;
      },
    ] as const;

    test("asks for no other one though the chain cannot check its signature any more", async () => {
      expect(await overtaken(payment(), ...slowly)).toMatchObject({ problem: { code: "settlement_pending" } });
    });

    test("reveals nothing to a sender who has not the same bytes", async () => {
      const late = paying({ id: "1", by: "A", signature: "of a stranger" });
      const error = "the payer's signature does not fit the payment";
      expect(await overtaken(late, ...slowly)).toMatchObject({ kind: "payment_required", error });
    });

    test("asks for no other one though it fits no offer as it is sent now", async () => {
      const late = payment();
      late.accepted.amount = "999";
      const answer = overtaken(
        late,
        () => {
          rail.signature = () => gate.then(() => "valid");
        },
        () => {
          rail.signature = async () => "valid";
        },
      );
      expect(await answer).toMatchObject({ problem: { code: "settlement_pending" } });
    });
  });

  describe("of a payment that another request is about to begin a call of", () => {
    const REFUSAL = "expires too soon";
    let fetched: () => void;
    let refetch: Promise<Evidence>;

    beforeEach(() => {
      perform = stuck;
      refetch = new Promise((resolve) => {
        fetched = () => resolve(evidenceOf(aCall()));
      });
      fetch = () => refetch;
    });

    /** The answers to one request that has passed every check but waits for its source, and to one that comes too late. */
    async function twoRequests(late: PaymentPayload) {
      const answers: unknown[] = [];
      const send = (payload: PaymentPayload) =>
        void admit(BLOCK, payload, { wait: false }).then((answer) => answers.push(answer));
      send(paying({ id: "1", by: "A" }));
      await clock.advance(0);
      rail.refusal = REFUSAL;
      send(late);
      await clock.advance(0);
      return answers;
    }

    test("asks for no other one before that is decided, nor afterwards when it has begun", async () => {
      const answers = await twoRequests(paying({ id: "1", by: "A" }));
      expect(answers).toEqual([]);
      fetched();
      await clock.advance(0);
      expect(answers).toMatchObject([1, 2].map(() => ({ problem: { code: "settlement_pending" } })));
    });

    test("asks for another one once none can begin", async () => {
      fetch = () => refetch.then(() => Promise.reject(new ServiceError("block_not_found", "no block 1")));
      const answers = await twoRequests(paying({ id: "1", by: "A" }));
      expect(answers).toEqual([]);
      fetched();
      await clock.advance(0);
      expect(answers).toMatchObject([
        { problem: { code: "block_not_found" } },
        { kind: "payment_required", error: REFUSAL },
      ]);
    });

    test("answers two that are refused at once, though each could wait for the other", async () => {
      verdict = () => ({ valid: false, reason: REFUSAL });
      const both = [1, 2].map(() => admit(BLOCK, paying({ id: "1", by: "A" })));
      const refused = { kind: "payment_required", error: expect.stringContaining(REFUSAL) };
      expect(await Promise.all(both)).toMatchObject([refused, refused]);
    });

    test("asks for no other one while another replica checks it, nor when that takes longer than the request", async () => {
      rail.refusal = REFUSAL;
      const expectation = await otherJournal.expect(["key/1"]);
      const answers: unknown[] = [];
      for (const id of ["1", "2"])
        void admit(BLOCK, paying({ id, by: "A" })).then((answer) => answers.push([id, answer]));
      await otherJournal.expect(["key/2"]);
      await clock.advance(5_000);
      expect(answers).toEqual([]);
      expectation.end();
      await clock.advance(1_000);
      expect(answers).toMatchObject([["1", { kind: "payment_required", error: REFUSAL }]]);
      await clock.advance(20_000);
      expect(answers.slice(1)).toMatchObject([["2", { problem: { code: "payment_unknown" } }]]);
    });

    test("finds the call that another replica has begun meanwhile", async () => {
      rail.refusal = REFUSAL;
      const expectation = await otherJournal.expect(["key/1"]);
      const answer = problemOf(admit(BLOCK, paying({ id: "1", by: "A" }), { wait: false }));
      await clock.advance(0);
      const call = aCall({ key: "key/1", subject: BLOCK, subjectHash: requestHash(BLOCK) });
      await otherJournal.insert(call, expectation);
      expectation.end();
      await clock.advance(1_000);
      expect((await answer).code).toBe("settlement_pending");
    });

    test("begins no call that other replicas could not know of, and asks for the same payment again", async () => {
      journal.insert = async () => Promise.reject(expectationLost());
      fetched();
      expect(await problemOf(admit(BLOCK, paying({ id: "1", by: "A" })))).toMatchObject({ code: "payment_unknown" });
    });

    test("lets a stranger wait for nothing", async () => {
      const [answer] = await twoRequests(paying({ id: "1", by: "A", signature: "bad" }));
      expect(answer).toMatchObject({ kind: "payment_required" });
    });
  });

  describe("of payments that rest on one balance", () => {
    test("puts off what is too much, and takes it once the earlier ones have ended", async () => {
      rail.held.set("A", 1_000n);
      perform = stuck;
      void problemOf(admit(BLOCK, paying({ id: "1", by: "A" })));
      await clock.advance(0);
      const second = () => admit(OTHER, paying({ id: "2", by: "A" }));
      expect(await problemOf(second())).toMatchObject({
        code: "over_capacity",
        members: { retry: { sameHeader: true } },
      });

      await move("key/1", ...GOOD_COURSE.slice(0, 1));
      perform = goodCourse;
      expect(await second()).toMatchObject({ kind: "delivered" });
    });

    test("takes the same payment from many requests at once, with no more money than it needs", async () => {
      rail.held.set("A", 1_000n);
      const answers = await Promise.all(Array.from({ length: 20 }, () => admit(BLOCK, paying({ id: "1", by: "A" }))));
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(answers[0]).toMatchObject({ kind: "delivered" });
    });

    test("lets no more in at once than the balance bears, and honest payers beside them", async () => {
      rail.held.set("A", 3_000n);
      perform = stuck;
      let verifications = 0;
      verdict = () => {
        verifications++;
        return { valid: true };
      };
      const flood = Array.from({ length: 1_000 }, (_, i) => problemOf(admit(BLOCK, paying({ id: `${i}`, by: "A" }))));
      await clock.advance(0);
      expect(await journal.open()).toHaveLength(3);
      expect(verifications).toBe(3);
      perform = goodCourse;
      expect(await admit(BLOCK, paying({ id: "honest", by: "B" }))).toMatchObject({ kind: "delivered" });
      await clock.advance(WAIT_MS);
      const codes = (await Promise.all(flood)).map(({ code }) => code);
      expect(codes.filter((code) => code === "over_capacity")).toHaveLength(997);
    });
  });
});
