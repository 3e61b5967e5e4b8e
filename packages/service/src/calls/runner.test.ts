import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import pino, { type Logger } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Database } from "../../simulation/database.ts";
import { aCall, after, afterCommit, GOOD_COURSE, goodCourseFrom } from "../../test/fakes/calls.ts";
import { TestClock } from "../../test/fakes/clock.ts";
import { endOf } from "../lib/clock.ts";
import { ServiceError } from "../lib/errors.ts";
import { type Call, payloadOf } from "./call.ts";
import type { CopiedJournal } from "./copied.ts";
import { type Journal, LEASE_MS } from "./journal.ts";
import { HEARTBEAT_MS } from "./leases.ts";
import { type CallEvent, isFinal } from "./machine.ts";
import type { Perform } from "./perform.ts";
import { createRunner, type Runner } from "./runner.ts";

/** @see https://nodejs.org/api/v8.html#v8setflagsfromstringflags */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // A weak reference that was read or made keeps its target until the turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
}

const KEY = aCall().key;
const SETTLING = after(aCall(), { type: "settlement_begun" });
const DONE = after(aCall(), ...GOOD_COURSE);
/** The same, of which what a chain showed was committed alone. */
const DONE_SLOWLY = { ...DONE, version: DONE.version + 2 };

/** A replica: a journal, and the runner on it. `effects` are the states in which it was asked for an effect. */
type Replica = { journal: Journal & CopiedJournal; runner: Runner; effects: string[] };

/** A log that keeps the errors, each with its facts, and nothing else. */
function errorsInto(lines: unknown[]): Logger {
  const error = (...line: unknown[]) => void lines.push(line);
  return { ...pino({ level: "silent" }), warn() {}, info() {}, error } as unknown as Logger;
}

describe("a runner", () => {
  let clock: TestClock;
  let database: Database;
  let replicas: Replica[];
  beforeEach(() => {
    clock = new TestClock();
    database = new Database({ now: () => clock.now(), leaseMs: () => LEASE_MS });
    replicas = [];
  });
  afterEach(async () => {
    await Promise.all(replicas.map(({ runner }) => runner.stop()));
  });

  /** @param perform in place of effects that all go well */
  function replica(perform: Perform = goodCourse, over: Partial<Journal> = {}): Replica {
    const journal = { ...database.connect(), ...over };
    const effects: string[] = [];
    const noting: Perform = (call, ...rest) => {
      effects.push(call.state);
      return perform(call, ...rest);
    };
    const runner = createRunner({ journal, perform: noting, clock, log: pino({ level: "silent" }) });
    const one = { journal, runner, effects };
    replicas.push(one);
    return one;
  }

  test("carries a call that it inserted to its end", async () => {
    const { journal, runner, effects } = replica();
    await runner.resume();
    const call = await journal.insert(aCall());
    const ended = runner.start(call);
    expect(runner.active.calls).toBe(1);
    expect(runner.start(call)).toBe(ended);
    await ended;
    expect(runner.active.calls).toBe(0);
    expect(effects).toEqual(["settling", "paid", "signed", "confirmed"]);
    expect(await journal.find(KEY)).toEqual(DONE);
  });

  describe("commits", () => {
    /** The states that are committed after the insertion. */
    async function committed(perform: Perform, ms: number): Promise<string[]> {
      const states: string[] = [];
      const { journal, runner } = replica(perform);
      const { update } = journal;
      journal.update = (next) => {
        states.push(next.state);
        return update(next);
      };
      void runner.start(await journal.insert(aCall()), true);
      await clock.advance(ms);
      return states;
    }

    test("a call that goes well three times: with its settlement, with its attestation, and with its bundle", async () => {
      expect(await committed(goodCourse, 0)).toEqual(["signed", "done"]);
    });

    test("what a chain showed alone once the effect after it takes long, and goes on from there", async () => {
      const late: Perform = async (call, ...rest) => {
        if (call.state === "paid") await clock.sleep(10_000);
        return goodCourse(call, ...rest);
      };
      expect(await committed(late, 1_000)).toEqual(["paid"]);
      await clock.advance(9_000);
      expect(await database.find(KEY)).toEqual({ ...DONE, version: DONE.version + 1 });
    });

    test("what a chain showed alone when the effect after it fails, before it is tried again", async () => {
      const failing: Perform = async (call, ...rest) => {
        if (call.state === "confirmed") throw new Error("the signer refuses");
        return goodCourse(call, ...rest);
      };
      expect(await committed(failing, 2_000)).toEqual(["signed", "confirmed"]);
    });
  });

  test("sends at once the settlement of a call that it has just inserted, and looks first for every other payment", async () => {
    const first = new Map<string, string>();
    const { journal, runner } = replica(async ({ key }, effect, _memory, deadline) => {
      if (!first.has(key)) first.set(key, effect.do);
      return stuck({} as Call, effect, _memory, deadline);
    });
    const facilitator = "https://facilitator.example";
    void runner.start(await journal.insert(aCall({ key: "new", facilitator })), true);
    void runner.start(await journal.insert(aCall({ key: "taken over", facilitator })));
    void runner.start(await journal.insert(aCall({ key: "made already" })), true);
    await clock.advance(0);
    expect(Object.fromEntries(first)).toEqual({
      new: "settle",
      "taken over": "reconcile",
      "made already": "reconcile",
    });
  });

  test("leaves alone what another replica carries", async () => {
    const [one, two] = [replica(stuck), replica()];
    await Promise.all([one.runner.resume(), two.runner.resume()]);
    const call = await one.journal.insert(aCall());
    void one.runner.start(call);
    await two.runner.start(call);
    await clock.advance(10 * LEASE_MS);
    expect(two.effects).toEqual([]);
    expect(one.effects).toEqual(["settling"]);
  });

  test("takes up what an earlier run left, before `resume` returns", async () => {
    await replica().journal.insert(aCall());
    await clock.advance(LEASE_MS);
    const { runner, journal } = replica();
    await runner.resume();
    expect(runner.active.calls).toBe(1);
    await clock.advance(0);
    expect(await journal.find(KEY)).toEqual(DONE);
  });

  test("takes up all that an earlier run left, however many", async () => {
    const earlier = database.connect();
    const keys = Array.from({ length: 250 }, (_, i) => `key ${i}`);
    for (const key of keys) await earlier.insert(aCall({ key }));
    await clock.advance(LEASE_MS);
    const { runner, journal } = replica();
    await runner.resume();
    await clock.advance(0);
    expect(await journal.open()).toEqual([]);
  });

  test("takes over from a replica that died, once its lease has run out", async () => {
    const dead = replica(stuck);
    void dead.runner.start(await dead.journal.insert(aCall()));
    const { runner, journal } = replica();
    await runner.resume();
    await clock.advance(LEASE_MS - 1);
    expect(await journal.find(KEY)).toEqual(aCall());
    await clock.advance(HEARTBEAT_MS);
    expect(await journal.find(KEY)).toEqual(DONE);
  });

  test("stops at once, and another replica goes on at once", async () => {
    const [one, two] = [replica(stuck), replica()];
    await Promise.all([one.runner.resume(), two.runner.resume()]);
    void one.runner.start(await one.journal.insert(aCall()));
    await one.runner.stop();
    expect(one.runner.active.calls).toBe(0);
    await clock.advance(0);
    expect(await two.journal.find(KEY)).toEqual(DONE);
    await one.runner.start(aCall());
    expect(one.effects).toEqual(["settling"]);
  });

  test("drops a call whose lease it lost, and what it had in hand changes nothing", async () => {
    const inHand = Promise.withResolvers<CallEvent>();
    const signals: AbortSignal[] = [];
    const one = replica((_call, _effect, _memory, deadline) => {
      signals.push(deadline.signal);
      return inHand.promise;
    });
    const two = replica();
    await Promise.all([one.runner.resume(), two.runner.resume()]);
    const abandoned = one.runner.start(await one.journal.insert(aCall()));
    const { renew } = one.journal;
    one.journal.renew = () => Promise.reject(new Error("no time"));
    await clock.advance(LEASE_MS + HEARTBEAT_MS);
    expect(await two.journal.find(KEY)).toEqual(DONE);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);

    one.journal.renew = renew;
    await clock.advance(HEARTBEAT_MS);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    inHand.resolve(GOOD_COURSE[0] as CallEvent);
    await abandoned;
    expect(one.runner.active.calls).toBe(0);
    expect(await one.journal.find(KEY)).toEqual(DONE);
  });

  test("goes on with what another writer made of the row", async () => {
    const { journal, runner, effects } = replica(async (call, ...rest) => {
      if (call.state === "paid" && call.settlements === 0) await database.connect().update(SETTLING);
      return goodCourse(call, ...rest);
    });
    await runner.start(await journal.insert(aCall()));
    expect(effects).toEqual(["settling", "paid", "settling", "paid", "signed", "confirmed"]);
    expect(await journal.find(KEY)).toEqual(after(SETTLING, ...GOOD_COURSE));
  });

  test("measures how long the oldest paid call has waited for its bundle, and not those that are still to be paid", async () => {
    let held: CallEvent["type"] = "payment_proved";
    const heldUp: Perform = async (call, effect, memory, deadline) => {
      const event = await goodCourse(call, effect, memory, deadline);
      return event?.type === held ? stuck(call, effect, memory, deadline) : event;
    };
    const { journal, runner } = replica(heldUp);
    void runner.start(await journal.insert(aCall({ key: "to be paid" })));
    await clock.advance(LEASE_MS);
    expect(runner.queueAge).toBe(0);
    held = "bundle_sealed";
    void runner.start(await journal.insert(aCall()));
    await clock.advance(1_000);
    void runner.start(await journal.insert(aCall({ key: "younger" })));
    await clock.advance(500);
    expect(runner.queueAge).toBe(1_500);
    await runner.stop();
    expect(runner.queueAge).toBe(0);
  });

  describe("that carries a call which its signer refuses", () => {
    const refused = new ServiceError("signer_failed", "not this one", { details: { failure: "refused" } });
    const refusing: Perform = async (call, ...rest) => {
      if (call.state === "confirmed" && call.key.startsWith("refused")) throw refused;
      return goodCourse(call, ...rest);
    };

    test("goes on selling: its age is not the queue's", async () => {
      const { journal, runner } = replica(refusing);
      void runner.start(await journal.insert(aCall({ key: "refused" })), true);
      await clock.advance(600_000);
      expect([runner.queueAge, runner.oldest().proved > 600_000]).toEqual([0, true]);
      await runner.start(await journal.insert(aCall({ key: "good" })), true);
      expect((await journal.find("good"))?.state).toBe("done");
    });

    test("stops selling when there are so many that the cause is not theirs", async () => {
      const { journal, runner } = replica(refusing);
      for (const n of [1, 2, 3]) void runner.start(await journal.insert(aCall({ key: `refused ${n}` })), true);
      await clock.advance(60_000);
      expect(runner.queueAge).toBe(0);
      void runner.start(await journal.insert(aCall({ key: "refused 4" })), true);
      await clock.advance(1_000);
      expect(runner.queueAge).toBe(61_000);
    });

    test("counts it as work again when something else is the matter", async () => {
      let error: Error = refused;
      const { journal, runner } = replica(async (call, ...rest) => {
        if (call.state === "confirmed") throw error;
        return goodCourse(call, ...rest);
      });
      void runner.start(await journal.insert(aCall()), true);
      await clock.advance(60_000);
      expect(runner.queueAge).toBe(0);
      error = new Error("no node answers");
      await clock.advance(20_000);
      expect(runner.queueAge).toBe(80_000);
    });
  });

  test("goes on selling while it signs anew what the ledger refuses: its age is not the queue's in between", async () => {
    const MINUTE = 60_000;
    let signedAt = 0;
    /** As `attestation.ts`: an attestation that the ledger never takes is dead after ten minutes, and signed anew. */
    const refused: Perform = async (call, effect, memory, deadline) => {
      if (effect.do === "sign") {
        await deadline.sleep(2_000);
        signedAt = clock.now();
      }
      if (effect.do !== "submit") return goodCourse(call, effect, memory, deadline);
      const { txid } = effect.attempt;
      if (clock.now() - signedAt >= 10 * MINUTE) return { type: "attestation_dead", txid };
      if (call.state !== "owed") return { type: "attestation_blocked", reason: "the ledger refuses it" };
      throw new ServiceError("call_held_up", "the ledger does not take the attestation");
    };
    const { journal, runner, effects } = replica(refused);
    void runner.start(await journal.insert(aCall()), true);
    await clock.advance(MINUTE);
    const ages = new Set<number>();
    for (let second = 0; second < 30 * 60; second++) {
      await clock.advance(1_000);
      ages.add(runner.queueAge);
    }
    expect(effects.filter((state) => state === "paid").length).toBeGreaterThan(2);
    expect(ages).toEqual(new Set([0]));
  });

  test("counts a call as work again when another writer has moved it meanwhile", async () => {
    const { journal, runner } = replica(async (call, effect, memory, deadline) => {
      if (call.state === "paid") return stuck(call, effect, memory, deadline);
      if (call.state !== "settling") return goodCourse(call, effect, memory, deadline);
      memory.waiting = true;
      await database.connect().update(afterCommit(call, GOOD_COURSE[0] as CallEvent));
      throw new Error("no node answers");
    });
    void runner.start(await journal.insert(aCall()));
    await clock.advance(1_000);
    expect([(await journal.find(KEY))?.state, runner.active.calls]).toEqual(["paid", 1]);
  });

  test("has no queue behind a call for which there is nothing to do", async () => {
    const { journal, runner } = replica(async (call, effect, memory, deadline) => {
      memory.waiting = call.state === "confirmed";
      if (memory.waiting) throw new Error("the note names another key");
      return goodCourse(call, effect, memory, deadline);
    });
    void runner.start(await journal.insert(aCall()));
    await clock.advance(60_000);
    expect([(await journal.find(KEY))?.state, runner.queueAge, runner.active.calls]).toEqual(["confirmed", 0, 0]);
  });

  test("pauses between failures, longer each time, and books a paid call that keeps failing as owed", async () => {
    const { journal, runner, effects } = replica(async (call, ...rest) => {
      if (call.state === "paid" || call.state === "owed") throw new Error("no node answers");
      return goodCourse(call, ...rest);
    });
    void runner.start(await journal.insert(aCall()));
    await clock.advance(60_000);
    expect(await journal.find(KEY)).toMatchObject({ state: "owed", reason: "no node answers" });
    expect(effects.length).toBeLessThan(12);
    await clock.advance(3_600_000);
    expect(effects.length).toBeLessThan(260);
  });

  test("books a call as owed though the journal did not take that at first", async () => {
    const { journal, runner } = replica(async (call, ...rest) => {
      if (call.state === "paid" || call.state === "owed") throw new Error("no node answers");
      return goodCourse(call, ...rest);
    });
    const { update } = journal;
    let refusals = 0;
    journal.update = (next) => {
      if (next.state !== "owed" || refusals++ > 0) return update(next);
      return Promise.reject(new Error("the journal cannot be reached"));
    };
    void runner.start(await journal.insert(aCall()));
    await clock.advance(60_000);
    expect([(await journal.find(KEY))?.state, refusals]).toEqual(["owed", 2]);
  });

  test("pauses no longer than at first when what failed has worked meanwhile", async () => {
    const looks: number[] = [];
    const { journal, runner } = replica(async (call, ...rest) => {
      if (call.state !== "settling") return goodCourse(call, ...rest);
      looks.push(clock.now());
      if (looks.length % 2 === 1) throw new Error("no node answers");
      return undefined;
    });
    void runner.start(await journal.insert(aCall()));
    await clock.advance(5_000);
    await runner.stop();
    const pauses = looks.flatMap((at, i) => (i % 2 === 1 ? [at - (looks[i - 1] ?? 0)] : []));
    expect(new Set(pauses)).toEqual(new Set([500]));
  });

  test("counts a call as work again once it has done with waiting", async () => {
    const { journal, runner } = replica(async (call, effect, memory, deadline) => {
      if (call.state === "settling") memory.waiting = true;
      if (call.state === "paid") return stuck(call, effect, memory, deadline);
      if (call.state === "settling") await deadline.sleep(1_000);
      return goodCourse(call, effect, memory, deadline);
    });
    void runner.start(await journal.insert(aCall()));
    await clock.advance(0);
    expect(runner.active.calls).toBe(0);
    await clock.advance(1_000);
    expect(runner.active.calls).toBe(1);
  });

  describe("of a delivered payment that is not final", () => {
    const unproven = GOOD_COURSE.map((event) =>
      event.type === "payment_proved" ? { ...event, proof: { ...event.proof, final: false } } : event,
    );

    test("looks at it after pauses that double with each answer, and reads its row again for each", async () => {
      const looks: { at: number; version: number }[] = [];
      let isAway = false;
      const { journal, runner } = replica(async (call, _, memory) => {
        if (call.state !== "done") return unproven[unproven.length - goodCourseFrom(call).length];
        looks.push({ at: clock.now(), version: call.version });
        if (isAway) throw new Error("no node answers");
        memory.looks += 1;
        return undefined;
      });
      const begun = clock.now();
      void runner.start(await journal.insert(aCall()));
      await clock.advance(15_000 + 30_000);
      isAway = true;
      const done = (await journal.find(KEY)) as Call;
      await journal.update({ ...done, version: done.version + 1 });
      await clock.advance(60_000);
      expect(looks).toEqual(
        [15_000, 45_000, 105_000].map((after, i) => ({ at: begun + after, version: done.version + Number(i === 2) })),
      );
      // After the pause of a failure the same pause again.
      await clock.advance(60_000);
      expect(looks).toHaveLength(3);
      await clock.advance(1_000);
      expect(looks).toHaveLength(4);
      expect([runner.active.calls, runner.states().get("done")]).toEqual([0, 1]);
    });

    test("is leased by its head alone, and its row is read when it is looked at", async () => {
      const one = replica(async (call) => unproven[unproven.length - goodCourseFrom(call).length]);
      void one.runner.start(await one.journal.insert(aCall()));
      await clock.advance(1_000);
      await one.runner.stop();
      const looked: number[] = [];
      const two = replica(async () => {
        looked.push(clock.now());
        return undefined;
      });
      const find = vi.spyOn(two.journal, "find");
      const begun = clock.now();
      await two.runner.resume();
      await clock.advance(14_000);
      expect([two.runner.states().get("done"), find.mock.calls.length]).toEqual([1, 0]);
      await clock.advance(2_000);
      expect([find.mock.calls.length, looked]).toEqual([1, [begun + 15_000]]);
    });

    test("is looked at with few others at a time, though thousands are due in one moment after a restart", async () => {
      const one = replica(async (call) => unproven[unproven.length - goodCourseFrom(call).length]);
      for (let i = 0; i < 200; i++)
        void one.runner.start(await one.journal.insert(aCall({ key: `${i}`, aliases: [] })));
      await clock.advance(1_000);
      await one.runner.stop();
      const [open, opened] = [new Set<() => void>(), new Set<string>()];
      const two = replica(async ({ key }) => {
        opened.add(key);
        await new Promise<void>((resolve) => open.add(resolve));
        return undefined;
      });
      const find = vi.spyOn(two.journal, "find");
      await two.runner.resume();
      await clock.advance(16_000);
      expect([two.runner.states().get("done"), find.mock.calls.length, open.size]).toEqual([200, 64, 64]);
      while (open.size > 0) {
        for (const resolve of open) resolve();
        open.clear();
        await clock.advance(0);
        expect(open.size).toBeLessThanOrEqual(64);
      }
      expect(opened.size).toBe(200);
    });

    test("keeps nothing of its row meanwhile", async () => {
      const row = { text: "" };
      const journal: Partial<Journal> = {
        holds: () => true,
        update: async (call) => {
          row.text = JSON.stringify(call);
        },
        find: async () => JSON.parse(row.text),
      };
      const { runner } = replica(async (call) => unproven[unproven.length - goodCourseFrom(call).length], journal);
      const seen: WeakRef<Call>[] = [];
      const begin = () => {
        const call = aCall({ payload: { ...payloadOf(aCall()), payload: { large: "x".repeat(1_000) } } });
        seen.push(new WeakRef(call));
        void runner.start(call);
      };
      begin();
      await clock.advance(1_000);
      expect(runner.states().get("done")).toBe(1);
      await collectGarbage();
      expect(seen[0]?.deref()).toBeUndefined();
    });
  });

  describe("whose journal has lost commits", () => {
    const STUCK_AT =
      (state: string): Perform =>
      async (call, ...rest) =>
        call.state === state ? stuck(call, ...rest) : goodCourse(call, ...rest);

    test("tries no call whose row is gone, which then counts as no age", async () => {
      const { runner, effects } = replica(goodCourse, { holds: () => true });
      void runner.start({ ...DONE, key: "lost", state: "signed", version: 2 } as Call);
      await clock.advance(3_600_000);
      expect(effects).toEqual(["signed", "confirmed"]);
      expect([runner.queueAge, runner.active.calls, runner.oldest()]).toEqual([0, 0, { proved: 0, unproved: 0 }]);
      expect(runner.hasFoundLoss()).toBe(true);
    });

    test("has nobody wait for a call whose row is gone", async () => {
      const { journal, runner } = replica(stuck);
      const call = await journal.insert(aCall());
      void runner.start(call);
      const waited = runner.wait(call, clock.timeout(600_000));
      await clock.advance(0);
      database.failOver(1);
      await runner.restart(() => journal.markCopied());
      await clock.advance(2_000);
      expect(await waited).toEqual(call);
    });

    test("does not take an earlier version for news", async () => {
      const one = replica(async (call, ...rest) => {
        if (call.state === "signed") throw new Error("no node answers");
        return goodCourse(call, ...rest);
      });
      void one.runner.start(await one.journal.insert(aCall()));
      await clock.advance(0);
      database.failOver(1);
      one.journal.find = async () => database.find(KEY);
      await clock.advance(60_000);
      // A second `paid` would be a second attestation.
      expect(one.effects).toEqual(["settling", "paid", "signed"]);
      expect([one.runner.hasFoundLoss(), one.runner.active.calls]).toEqual([true, 0]);
    });

    test("goes on from what is left once that is taken, as with the calls of another, and logs each loss once", async () => {
      const lines: unknown[] = [];
      const takenOver: boolean[] = [];
      let last = STUCK_AT("signed");
      const noting: Perform = (call, effect, memory, deadline) => {
        if (effect.do === "sign") takenOver.push(memory.isTakenOver);
        return last(call, effect, memory, deadline);
      };
      const journal = database.connect();
      const runner = createRunner({ journal, perform: noting, clock, log: errorsInto(lines) });
      replicas.push({ journal, runner, effects: [] });
      await runner.resume();
      for (const key of ["whole", "behind", "gone"])
        void runner.start(await journal.insert(aCall({ key, aliases: [] })), true);
      await clock.advance(0);
      // Each is signed, and the commit of `whole` stands.
      database.failOver(2);
      const rows = ["whole", "behind", "gone"].map((key) => database.find(key)?.state);
      expect(rows).toEqual(["signed", "settling", "settling"]);
      await runner.restart(() => journal.markCopied());
      expect(lines).toEqual([
        [{ key: "behind", state: "signed", version: 2, left: "settling" }, expect.stringContaining("call_behind")],
        [{ key: "gone", state: "signed", version: 2, left: "settling" }, expect.stringContaining("call_behind")],
      ]);
      expect(runner.active.calls).toBe(0);
      last = goodCourse;
      await clock.advance(HEARTBEAT_MS);
      expect(["whole", "behind", "gone"].map((key) => database.find(key)?.state)).toEqual(["done", "done", "done"]);
      expect(takenOver).toEqual([false, false, false, true, true]);
    });

    test("logs what is lost also when the journal could not be taken at first", async () => {
      const lines: unknown[] = [];
      const journal = database.connect();
      const runner = createRunner({ journal, perform: STUCK_AT("paid"), clock, log: errorsInto(lines) });
      replicas.push({ journal, runner, effects: [] });
      void runner.start(await journal.insert(aCall()), true);
      await clock.advance(0);
      database.failOver(1);
      await expect(runner.restart(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
      await runner.restart(() => journal.markCopied());
      expect(lines).toEqual([[{ key: KEY, state: "paid", version: 1 }, expect.stringContaining("call_lost")]]);
    });
  });

  test("outlives a journal that cannot be reached, without haste", async () => {
    let asked = 0;
    const unreachable = () => {
      asked += 1;
      return Promise.reject(new Error("the journal cannot be reached"));
    };
    const one = replica();
    await one.runner.resume();
    const { renew, find, update } = one.journal;
    const call = await one.journal.insert(aCall());
    Object.assign(one.journal, { renew: unreachable, find: unreachable, update: unreachable });
    void one.runner.start(call);
    const waited = one.runner.wait(call, clock.timeout(50_000));
    await clock.advance(60_000);
    expect(asked).toBeLessThan(60);
    expect(await waited).toMatchObject({ state: "paid", version: 1 });
    Object.assign(one.journal, { renew, find, update });
    await clock.advance(60_000);
    expect(await one.journal.find(KEY)).toMatchObject({ state: "done", bundle: DONE.bundle });
  });

  describe("waits for a call", () => {
    test("that it carries", async () => {
      const { journal, runner } = replica();
      let reads = 0;
      const find = journal.find;
      journal.find = (key) => {
        reads += 1;
        return find(key);
      };
      const call = await journal.insert(aCall());
      expect(await runner.wait(call, clock.timeout(1_000))).toEqual(DONE);
      expect(reads).toBe(0);
    });

    test("that another replica carries, and is notified of its end", async () => {
      const [one, two] = [replica(slow), replica()];
      const call = await one.journal.insert(aCall());
      void one.runner.start(call);
      const waited = two.runner.wait(call, clock.timeout(600_000));
      await clock.advance(9_999);
      const before = clock.now();
      await clock.advance(1);
      expect(await waited).toEqual(DONE_SLOWLY);
      expect(clock.now() - before).toBe(1);
      expect(two.effects).toEqual([]);
    });

    test("that another replica carries, when the notification of its end is lost", async () => {
      const [one, two] = [replica(slow), replica(goodCourse, { listen: () => () => undefined })];
      const call = await one.journal.insert(aCall());
      void one.runner.start(call);
      const waited = two.runner.wait(call, clock.timeout(600_000));
      await clock.advance(12_000);
      expect(await Promise.race([waited, "still waiting"])).toEqual(DONE_SLOWLY);
    });

    test("that ends while its row is being read", async () => {
      const [one, two] = [replica(), replica()];
      const call = await one.journal.insert(aCall());
      const { find } = two.journal;
      const reading = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<void>();
      two.journal.find = async (key) => {
        const found = await find(key);
        reading.resolve();
        await answered.promise;
        return found;
      };
      const waited = two.runner.wait(call, clock.timeout(600_000));
      await reading.promise;
      await one.runner.start(call);
      answered.resolve();
      await clock.advance(0);
      expect(await Promise.race([waited, "still waiting"])).toEqual(DONE);
    });

    test("that had ended before anyone waited", async () => {
      const [one, two] = [replica(), replica()];
      const call = await one.journal.insert(aCall());
      await one.runner.start(call);
      expect(await two.runner.wait(call, clock.timeout(1_000))).toEqual(DONE);
    });

    test("that it takes over while it waits", async () => {
      const dead = replica(stuck);
      const call = await dead.journal.insert(aCall());
      const { runner, effects } = replica();
      await runner.resume();
      const waited = runner.wait(call, clock.timeout(600_000));
      await clock.advance(LEASE_MS + HEARTBEAT_MS);
      expect(await waited).toEqual(DONE);
      expect(effects).toHaveLength(4);
    });

    test("until the signal aborts, and returns the call as known then", async () => {
      const [one, two] = [replica(stuck), replica()];
      const call = await one.journal.insert(aCall());
      const waiting = [one, two].map(({ runner }) => runner.wait(call, clock.timeout(5_000)));
      await one.journal.update(SETTLING);
      await clock.advance(5_000);
      expect((await Promise.all(waiting)).map(({ state }) => state)).toEqual(["settling", "settling"]);
    });

    test("until it is stopped", async () => {
      const { journal, runner } = replica(stuck);
      const waited = runner.wait(await journal.insert(aCall()), clock.timeout(600_000));
      await runner.stop();
      expect(isFinal((await waited).state)).toBe(false);
    });
  });

  /** Effects that never end by themselves. */
  const stuck: Perform = (_call, _effect, _memory, { signal }) => endOf(signal);

  /** Effects that take two seconds each. */
  const slow: Perform = async (call, effect, memory, deadline) => {
    await deadline.sleep(2_000);
    return goodCourse(call, effect, memory, deadline);
  };
});

const goodCourse: Perform = async (call) => goodCourseFrom(call)[0];
