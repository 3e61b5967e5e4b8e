import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBundles } from "../../src/calls/bundles.ts";
import type { Call, CallHead, CallState } from "../../src/calls/call.ts";
import { APART } from "../../src/calls/call.ts";
import type { Journal, Listener } from "../../src/calls/journal.ts";
import { type CallEvent, reduce } from "../../src/calls/machine.ts";
import { createUnderWay } from "../../src/calls/under-way.ts";
import { serviceError } from "../errors.ts";
import {
  aBatch,
  aCall,
  after,
  afterCommit,
  aLargeEvidence,
  anAttempt,
  GOOD_COURSE,
  goodCourseFrom,
} from "../fakes/calls.ts";

function headOf({ key, state, version, createdAt, subjectHash, payloadSha256 }: Call): CallHead {
  return { key, state, version, createdAt, subjectHash, payloadSha256 };
}

/** A database on which a journal is opened, closed and opened again. */
export type TestDatabase = {
  open(): Promise<Journal>;
  /** How many pieces of evidence it keeps, items of batches counted. */
  evidenceKept(): Promise<number>;
  remove(): Promise<void>;
};

/** A database that several replicas may have open at once. */
export type SharedDatabase = TestDatabase & {
  /** Lets LEASE_MS pass, by the clock of the database. */
  outlive(): Promise<void>;
};

/** What every journal must do; each implementation runs these tests (calls/journal.ts, `Journal`). */
export function journalContract(name: string, create: () => Promise<TestDatabase>): void {
  describe(`${name} journal`, () => {
    let database: TestDatabase;
    let journal: Journal;
    beforeEach(async () => {
      database = await create();
      journal = await database.open();
    });
    afterEach(async () => {
      await journal.close();
      await database.remove();
    });

    async function reopened(): Promise<Journal> {
      await journal.close();
      journal = await database.open();
      return journal;
    }

    test("returns a call as it was committed, in every state and after the journal was closed", async () => {
      let call = await journal.insert(aCall());
      expect(await journal.find(call.key)).toEqual(call);
      for (const event of GOOD_COURSE) {
        call = afterCommit(call, event);
        await journal.update(call);
        expect(await journal.find(call.key)).toEqual(call);
      }
      expect(await (await reopened()).find(call.key)).toEqual(call);
      expect(await journal.find("another key")).toBeUndefined();
    });

    test("keeps every attempt, and what the machine adds to a call", async () => {
      const call = await journal.insert(aCall());
      const events = [
        ...GOOD_COURSE.slice(0, 2),
        { type: "attestation_dead", txid: "ATTEST" },
        { type: "attestation_signed", attempt: anAttempt("SECOND") },
      ] as const;
      let current: Call & { added?: unknown } = call;
      for (const event of events) {
        current = { ...afterCommit(current, event), added: { text: 'a "\\ \u0000 \ud800 é', list: [1, null] } };
        await journal.update(current);
      }
      expect(await journal.find(call.key)).toEqual(current);
      expect(current.attempts.map(({ dead }) => dead)).toEqual([true, false]);
    });

    test("refuses a second attestation transaction in the place of another, and takes no other update with it", async () => {
      const calls = await Promise.all(Array.from({ length: 20 }, (_, i) => journal.insert(aCall({ key: `key ${i}` }))));
      const signed = await Promise.all(calls.map((call) => advance(journal, call, "signed")));
      const moved = await Promise.allSettled(
        signed.map((call, i) => {
          const blocked = reduce(call, { type: "attestation_blocked", reason: "unfunded" });
          const forged = [{ ...anAttempt("FORGED"), dead: false }];
          return journal.update(i === 7 ? { ...blocked, attempts: forged } : blocked);
        }),
      );
      expect(moved.flatMap(({ status }, i) => (status === "rejected" ? [i] : []))).toEqual([7]);
      const found = await Promise.all(calls.map(({ key }) => journal.find(key)));
      expect(found.map((call) => call?.state)).toEqual(calls.map((_, i) => (i === 7 ? "signed" : "owed")));
      expect(found[7]).toEqual(signed[7]);
    });

    test("inserts one of many calls with one key, and returns it for the others", async () => {
      const calls = Array.from({ length: 20 }, (_, i) => aCall({ payer: `PAYER ${i}` }));
      const holders = await Promise.all(calls.map((call) => journal.insert(call)));
      expect(new Set(holders.map(({ payer }) => payer)).size).toBe(1);
      expect(await journal.open()).toHaveLength(1);
    });

    test("gives the head alone of a payment that has not come again byte for byte, by its key and by an alias", async () => {
      const call = await journal.insert(aCall({ key: "one", aliases: ["group"] }));
      for (const key of ["one", "group"]) {
        expect(await journal.look(key, "another")).toEqual({ head: headOf(call) });
        expect(await journal.look(key, call.payloadSha256)).toEqual({ head: headOf(call), call });
      }
      expect(await journal.look("two", call.payloadSha256)).toBeUndefined();
      const signed = await advance(journal, call, "signed");
      expect(await journal.look("one", "another")).toEqual({ head: headOf(signed) });
    });

    test("treats an alias as a key", async () => {
      const first = await journal.insert(aCall({ key: "one", aliases: ["group"] }));
      expect(await journal.insert(aCall({ key: "two", aliases: ["group"] }))).toEqual(first);
      expect(await journal.insert(aCall({ key: "group" }))).toEqual(first);
      expect(await journal.insert(aCall({ key: "three", aliases: ["one"] }))).toEqual(first);
      expect(await journal.find("group")).toEqual(first);
      expect(await journal.find("two")).toBeUndefined();
      expect(await journal.find("three")).toBeUndefined();
    });

    test("keeps equal evidence once, and drops it with the last call that has it", async () => {
      const [large, other] = [aLargeEvidence("LARGE"), aLargeEvidence("OTHER")];
      const calls = await Promise.all(
        Array.from({ length: 30 }, (_, i) => journal.insert(aCall({ key: `key ${i}`, evidence: large }))),
      );
      await journal.insert(aCall({ key: "other", evidence: other }));
      expect(await database.evidenceKept()).toBe(2);
      expect((await journal.find("key 29"))?.evidence).toBe(APART);
      expect(await journal.evidenceOf("key 29")).toEqual(large);
      const unpaid: CallEvent = { type: "payment_void", reason: "expired", receipt: "" };
      const [last, ...rest] = calls as [Call, ...Call[]];
      await Promise.all(rest.map((call) => journal.update(after(call, unpaid))));
      expect(await database.evidenceKept()).toBe(2);
      expect(await journal.evidenceOf(last.key)).toEqual(large);
      await journal.update(after(last, unpaid));
      expect(await database.evidenceKept()).toBe(1);
      expect(await journal.find(last.key)).toEqual({ ...after(last, unpaid), evidence: undefined });
      await journal.insert(aCall({ key: "again", evidence: large }));
      expect(await (await reopened()).evidenceOf("again")).toEqual(large);
      expect(await journal.evidenceOf("other")).toEqual(other);
    });

    test("keeps the items of a large batch apart from its head, and drops them with it", async () => {
      const large = aBatch(300);
      const { items = [], ...head } = large;
      const call = await journal.insert(aCall({ key: "large", evidence: large }));
      await journal.insert(aCall({ key: "other", evidence: aBatch(40) }));
      const again = await reopened();
      expect((await again.find("large"))?.evidence).toEqual(head);
      expect(await again.evidenceOf("large")).toEqual(head);
      const read: unknown[] = [];
      for (let next = items.slice(0, 1); next.length > 0; read.push(...next)) {
        next = await again.evidenceItemsOf("large", read.length, 10_000);
        expect(JSON.stringify(next).length).toBeLessThan(11_000);
      }
      expect(read).toEqual(items);
      expect(await again.evidenceItemsOf("large", 7, 0)).toEqual([items[7]]);
      await again.update(after(call, { type: "payment_void", reason: "expired", receipt: "" }));
      expect(await again.evidenceItemsOf("large", 0, 10_000)).toEqual([]);
      expect(await again.evidenceItemsOf("other", 0, 0)).toHaveLength(1);
      expect(await database.evidenceKept()).toBe(41);
    });

    test("keeps a small batch in its row", async () => {
      const small = aBatch(2);
      await journal.insert(aCall({ evidence: small }));
      expect((await (await reopened()).find(aCall().key))?.evidence).toEqual(small);
    });

    test("keeps the evidence of what is paid for until it is delivered: the bundle has it then", async () => {
      const evidence = aLargeEvidence("LARGE");
      const confirmed = await advance(journal, await journal.insert(aCall({ evidence })), "confirmed");
      expect(await (await reopened()).evidenceOf(confirmed.key)).toEqual(evidence);
      await advance(journal, confirmed);
      expect(await database.evidenceKept()).toBe(0);
      expect(await journal.evidenceOf(confirmed.key)).toBeUndefined();
    });

    test("keeps what is large apart: rows that are found and leased stay small, and all of it comes back in parts", async () => {
      const evidence = aLargeEvidence("LARGE");
      const call = await journal.insert(aCall({ evidence }));
      const [proved, ...rest] = GOOD_COURSE as [CallEvent & { type: "payment_proved" }, ...CallEvent[]];
      const body = `{"of":"${"0123456789".repeat(60_000)}"}`;
      let done = call;
      for (const event of [{ ...proved, proof: { ...proved.proof, final: false } }, ...rest]) {
        done = afterCommit(done, event.type === "bundle_sealed" ? { ...event, bundle: { id: "LARGE", body } } : event);
        await journal.update(done);
      }
      await journal.release();
      const [leased] = await (await reopened()).lease(1);
      expect(leased).toEqual(headOf(done));
      const found = (await journal.find(call.key)) as Call;
      expect(found).toEqual({ ...done, bundle: { id: "LARGE", apart: { bytes: body.length, parts: 10 } } });
      expect(JSON.stringify(found).length).toBeLessThan(4_000);
      expect(await journal.stored("LARGE")).toEqual({ bundleId: "LARGE", bytes: body.length, place: null, parts: 10 });
      expect(await journal.bodyOf("LARGE")).toBeUndefined();
      const parts: string[] = [];
      while (parts.length < 10) parts.push(...(await journal.partsOf("LARGE", parts.length, 200_000)));
      expect(parts.join("")).toBe(body);
      expect(await journal.partsOf("LARGE", 2, 200_000)).toHaveLength(3);
      expect(await journal.partsOf("LARGE", 2, 0)).toHaveLength(1);
      expect(await journal.partsOf("LARGE", 10, 1)).toEqual([]);
      // A watcher that moves the call on does not write the bundle again.
      const watched = { ...found, proof: proved.proof, version: done.version + 1 };
      await journal.update(watched);
      expect(await journal.stored("LARGE")).toMatchObject({ parts: 10 });
    });

    test("lets a refund's transfer close one call, and finds the call by it", async () => {
      const calls = await Promise.all(["one", "two"].map((key) => journal.insert(aCall({ key }))));
      const [one, two] = (await Promise.all(calls.map((call) => owed(journal, call)))) as [Call, Call];
      const back = (refund: string): CallEvent => ({ type: "payment_refunded", transaction: "BACK", refund });
      await journal.update(after(one, back("refund:BACK")));
      await expect(journal.update(after(two, back("refund:BACK")))).rejects.toThrow(serviceError("name_taken"));
      expect(await journal.find(two.key)).toEqual(two);
      expect((await (await reopened()).find("refund:BACK"))?.key).toBe("one");
      await journal.update(after(two, back("refund:BACK 2")));
      expect((await journal.find("refund:BACK 2"))?.state).toBe("refunded");
    });

    test("keeps the facilitator of a payment, and the one that is asked after it", async () => {
      const call = await journal.insert(aCall({ facilitator: "https://a.example" }));
      expect((await (await reopened()).find(call.key))?.facilitator).toBe("https://a.example");
      await journal.update(after(call, { type: "settlement_begun", facilitator: "https://b.example" }));
      expect((await (await reopened()).find(call.key))?.facilitator).toBe("https://b.example");
    });

    test("refuses an update that does not follow the stored version", async () => {
      const call = await journal.insert(aCall());
      const settling = after(call, { type: "settlement_begun" });
      await journal.update(settling);
      await expect(journal.update(settling)).rejects.toThrow(serviceError("call_stale"));
      await expect(journal.update(after(call, { type: "settlement_begun" }))).rejects.toThrow(
        serviceError("call_stale"),
      );
      await expect(journal.update(after(aCall({ key: "unknown" }), { type: "settlement_begun" }))).rejects.toThrow(
        serviceError("call_stale"),
      );
      expect(await journal.find(call.key)).toEqual(settling);
    });

    test("lists what is not final, oldest first, and finds bundles by their id", async () => {
      await advance(journal, await journal.insert(aCall({ key: "done" })));
      await journal.insert(aCall({ key: "young", createdAt: 3 }));
      await journal.insert(aCall({ key: "old", createdAt: 2 }));
      expect((await journal.open()).map(({ key }) => key)).toEqual(["old", "young"]);
      expect(await journal.stored("S")).toEqual({ bundleId: "S", bytes: 2, place: null, parts: 0 });
      expect(await journal.bodyOf("S")).toBe("{}");
      expect(await journal.stored("T")).toBeUndefined();
    });

    test("finds each item of a delivered batch by its own id, with the head", async () => {
      const call = await advance(journal, await journal.insert(aCall({ key: "batch" })), "confirmed");
      const answer = '{"batch":{"size":2},"items":[{"index":0,"b":"x"},{"index":1}]}';
      const body = '{"size":2}';
      const items = [
        { id: "FIRST", text: '{"index":0,"b":"x"}' },
        { id: "SECOND", text: '{"index":1}' },
      ];
      const done = after(call, {
        type: "bundle_sealed",
        bundle: { id: "HEAD", body, items },
        receipt: "signed receipt",
      });
      await journal.update(done);
      const bundles = createBundles(journal, createUnderWay());
      const texts = {
        HEAD: answer,
        FIRST: '{"batch":{"size":2},"index":0,"b":"x"}',
        SECOND: '{"batch":{"size":2},"index":1}',
      };
      for (const [id, text] of Object.entries(texts)) {
        const found = await bundles.find(id);
        const read = await found?.open();
        if (!read || typeof read === "string") throw new Error("a batch is read piece by piece");
        expect([found?.bytes, await read.whole()]).toEqual([text.length, text]);
        expect((await Array.fromAsync(read.pieces())).join("")).toBe(text);
      }
      const apart = { parts: 2, bytes: answer.length };
      expect((await journal.find("batch"))?.bundle).toEqual({ id: "HEAD", body, apart });
    });

    test("keeps a delivered call open, and its lease held, until its payment is final", async () => {
      const call = await journal.insert(aCall());
      const [proved, ...rest] = GOOD_COURSE as [CallEvent & { type: "payment_proved" }, ...CallEvent[]];
      let done = call;
      for (const event of [{ ...proved, proof: { ...proved.proof, final: false } }, ...rest]) {
        done = afterCommit(done, event);
        await journal.update(done);
      }
      const open = { key: call.key, state: "done", createdAt: call.createdAt, bundle: { id: "S" } };
      expect([await journal.open(), journal.holds(call.key)]).toEqual([[open], true]);
      await journal.update(reduce(done, { type: "payment_seen_again", proof: proved.proof }));
      expect([await journal.open(), journal.holds(call.key)]).toEqual([[], false]);
    });

    test("sums what a payer has promised and not paid", async () => {
      await journal.insert(aCall({ key: "one", payer: "P" }));
      const two = await journal.insert(aCall({ key: "two", payer: "P" }));
      await journal.insert(aCall({ key: "three", payer: "Q" }));
      await journal.insert(aCall({ key: "four", payer: "P", rail: "base" }));
      expect(await journal.exposure("algorand", "P")).toBe(2000n);
      const settling = reduce(two, { type: "settlement_begun" });
      await journal.update(settling);
      expect(await journal.exposure("algorand", "P")).toBe(2000n);
      await journal.update(reduce(settling, { type: "payment_void", reason: "expired", receipt: "" }));
      expect(await journal.exposure("algorand", "P")).toBe(1000n);
      expect(await journal.exposure("solana", "P")).toBe(0n);
    });

    test("gives the lease of a call to the replica that inserted it, until the call is final", async () => {
      const call = await journal.insert(aCall());
      expect(journal.holds(call.key)).toBe(true);
      expect(journal.holds("another key")).toBe(false);
      expect(await journal.lease(10)).toEqual([]);
      expect(await journal.renew()).toEqual([]);
      await advance(journal, call);
      expect(journal.holds(call.key)).toBe(false);
      expect(await journal.renew()).toEqual([]);
    });

    test("leases again what was released, oldest first and no more than asked for", async () => {
      const calls = [3, 1, 2].map((age) => aCall({ key: `key ${age}`, createdAt: age }));
      for (const call of calls) await journal.insert(call);
      await advance(journal, await journal.insert(aCall({ key: "done" })));
      await journal.release();
      expect(journal.holds("key 1")).toBe(false);
      expect(await journal.lease(2)).toEqual([calls[1], calls[2]].map((call) => headOf(call as Call)));
      expect(await journal.lease(2)).toEqual([headOf(calls[0] as Call)]);
      expect(await journal.lease(2)).toEqual([]);
      expect(["key 1", "key 2", "key 3", "done"].map((key) => journal.holds(key))).toEqual([true, true, true, false]);
    });

    test("calls listeners at ends and releases, until they are removed", async () => {
      const news = hearing(journal);
      await advance(journal, await journal.insert(aCall()));
      await news.heard(`ended ${aCall().key}`);
      await journal.release();
      await news.heard("freed");
      news.stop();
      const later = hearing(journal);
      await advance(journal, await journal.insert(aCall({ key: "second" })), "done", "S2");
      await later.heard("ended second");
      expect(news.all).not.toContain("ended second");
      later.stop();
    });

    test("keeps its identity, its secret and every payee", async () => {
      const identity = { genesisHash: "g", algorandAddress: "A" };
      const secret = await journal.secret();
      expect(secret).toHaveLength(32);
      expect(await journal.claim(identity)).toEqual(identity);
      await journal.rememberPayees([{ rail: "algorand", address: "P" }]);
      await journal.rememberPayees([
        { rail: "algorand", address: "P" },
        { rail: "base", address: "0x" },
      ]);
      await reopened();
      expect(await journal.claim({ genesisHash: "other", algorandAddress: "B" })).toEqual(identity);
      expect(await journal.secret()).toEqual(secret);
      expect(await journal.payees()).toEqual([
        { rail: "algorand", address: "P" },
        { rail: "base", address: "0x" },
      ]);
    });
  });
}

/** What a journal must do beside `journalContract` when several replicas may have its database open. */
export function replicaContract(name: string, create: () => Promise<SharedDatabase>): void {
  describe(`${name} journal with two replicas`, () => {
    let database: SharedDatabase;
    let one: Journal;
    let two: Journal;
    beforeEach(async () => {
      database = await create();
      [one, two] = await Promise.all([database.open(), database.open()]);
    });
    afterEach(async () => {
      await Promise.all([one.close(), two.close()]);
      await database.remove();
    });

    const racing = (calls: (i: number) => Call) =>
      Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).insert(calls(i))));

    test.each([
      ["a key", (i: number) => aCall({ payer: `PAYER ${i}` })],
      ["an alias", (i: number) => aCall({ key: `key ${i}`, aliases: ["group"], payer: `PAYER ${i}` })],
      [
        "keys with aliases",
        (i: number) => aCall({ key: i % 3 ? `key ${i}` : "group", aliases: i % 3 ? ["group"] : [] }),
      ],
    ])("inserts one of the calls that race for %s, and returns it for both", async (_, calls) => {
      const holders = await racing(calls);
      const [open] = await one.open();
      expect(await two.open()).toEqual([open]);
      const holder = await one.find(open?.key ?? "");
      expect(holders).toEqual(holders.map(() => holder));
      expect([one, two].filter((journal) => journal.holds(holder?.key as string))).toHaveLength(1);
    });

    test("never leases what a living replica holds", async () => {
      await one.insert(aCall());
      expect(await two.lease(10)).toEqual([]);
      await database.outlive();
      expect(await one.renew()).toEqual([]);
      expect(await two.lease(10)).toEqual([]);
      expect([one, two].map((journal) => journal.holds(aCall().key))).toEqual([true, false]);
    });

    test("leases what a dead replica held, and reports that to it when it is back", async () => {
      const call = await one.insert(aCall());
      const kept = await two.insert(aCall({ key: "kept" }));
      await database.outlive();
      await two.renew();
      expect(await two.lease(10)).toEqual([headOf(call)]);
      expect(two.holds(call.key)).toBe(true);
      expect(one.holds(call.key)).toBe(true);
      expect(await one.renew()).toEqual([call.key]);
      expect(one.holds(call.key)).toBe(false);
      expect(await one.lease(10)).toEqual([]);
      expect(await two.renew()).toEqual([]);
      expect(two.holds(kept.key)).toBe(true);
    });

    test("a replica that is back in time has lost nothing", async () => {
      await one.insert(aCall());
      await database.outlive();
      expect(await one.renew()).toEqual([]);
      expect(await two.lease(10)).toEqual([]);
    });

    test("knows what another expects, until each of its expectations is ended, and then finds the call", async () => {
      const [first, second] = [await one.expect(["key", "bytes"]), await one.expect(["key"])];
      expect(await Promise.all(["key", "bytes", "other"].map((name) => two.isExpectedElsewhere(name)))).toEqual([
        true,
        true,
        false,
      ]);
      expect(await one.isExpectedElsewhere("key")).toBe(false);
      first.end();
      first.end();
      while (await two.isExpectedElsewhere("bytes"));
      expect(await two.isExpectedElsewhere("key")).toBe(true);
      const own = await two.expect(["key"]);
      expect(await one.isExpectedElsewhere("key")).toBe(true);
      own.end();
      const call = await one.insert(aCall({ key: "key" }), second);
      second.end();
      while (await two.isExpectedElsewhere("key"));
      expect(await two.find("key")).toEqual(call);
    });

    test("expects nothing of a replica that is gone", async () => {
      const gone = await database.open();
      await gone.expect(["key"]);
      expect(await two.isExpectedElsewhere("key")).toBe(true);
      await gone.close();
      while (await two.isExpectedElsewhere("key"));
    });

    test("leases at once what another released", async () => {
      const news = hearing(two);
      const call = await one.insert(aCall());
      await one.release();
      await news.heard("freed");
      news.stop();
      expect(await two.lease(10)).toEqual([headOf(call)]);
    });

    test("leases each call to one of the replicas that ask at once", async () => {
      const calls = await Promise.all(Array.from({ length: 60 }, (_, i) => one.insert(aCall({ key: `key ${i}` }))));
      await one.release();
      const others = await Promise.all([1, 2, 3, 4].map(() => database.open()));
      const leased = (await Promise.all(others.map((journal) => journal.lease(20)))).flat();
      const rest = (await Promise.all(others.map((journal) => journal.lease(60)))).flat();
      const keys = [...leased, ...rest].map(({ key }) => key);
      expect(keys.sort()).toEqual(calls.map(({ key }) => key).sort());
      await Promise.all(others.map((journal) => journal.close()));
    });

    test("the version fences a replica that lost its lease", async () => {
      const call = await one.insert(aCall());
      await database.outlive();
      await two.renew();
      await two.lease(10);
      const settling = after(call, { type: "settlement_begun" });
      await two.update(settling);
      await expect(one.update(settling)).rejects.toThrow(serviceError("call_stale"));
      const ended = await advance(two, settling);
      await expect(one.update(after(settling, { type: "settlement_begun" }))).rejects.toThrow(
        serviceError("call_stale"),
      );
      expect(await one.find(call.key)).toEqual(ended);
      expect(await one.renew()).toEqual([call.key]);
    });

    test("one of many that race to move a call does so", async () => {
      const call = await one.insert(aCall());
      const settling = after(call, { type: "settlement_begun" });
      const moved = await Promise.allSettled(
        Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).update(settling)),
      );
      expect(moved.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await one.find(call.key)).toEqual(settling);
    });

    test("one transfer that both name for a call of their own closes one of them", async () => {
      for (let round = 0; round < 10; round++) {
        const keys = [`one ${round}`, `two ${round}`];
        const calls = await Promise.all(keys.map(async (key) => owed(one, await one.insert(aCall({ key })))));
        const back: CallEvent = { type: "payment_refunded", transaction: "BACK", refund: `refund:${round}` };
        const ended = await Promise.allSettled(calls.map((call, i) => (i ? one : two).update(after(call, back))));
        const refused = ended.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
        expect(refused).toEqual([serviceError("name_taken")]);
        const states = await Promise.all(keys.map(async (key) => (await one.find(key))?.state));
        expect(states.toSorted()).toEqual(["owed", "refunded"]);
      }
    });

    test("evidence that one replica drops while another begins to use it is kept", async () => {
      const evidence = aLargeEvidence("SHARED");
      const unpaid: CallEvent = { type: "payment_void", reason: "expired", receipt: "" };
      let last = await one.insert(aCall({ key: "key 0", evidence }));
      for (let n = 1; n <= 40; n++) {
        const [next] = await Promise.all([
          two.insert(aCall({ key: `key ${n}`, evidence })),
          one.update(after(last, unpaid)),
        ]);
        expect(await one.evidenceOf(next.key)).toEqual(evidence);
        expect(await database.evidenceKept()).toBe(1);
        last = next;
      }
      await two.update(after(last, unpaid));
      expect(await database.evidenceKept()).toBe(0);
    });

    test("gets notifications of calls that the other ended, and finds them ended", async () => {
      const news = hearing(two);
      const ended = await advance(one, await one.insert(aCall()));
      await news.heard(`ended ${ended.key}`);
      expect(await two.find(ended.key)).toEqual(ended);
      news.stop();
    });

    test("has one secret, whichever replica is first", async () => {
      const [first, second] = await Promise.all([one, two].map((journal) => journal.secret()));
      expect(first).toHaveLength(32);
      expect(second).toEqual(first);
    });

    test("keeps one identity, whichever replica is first", async () => {
      const identities = await Promise.all(
        [one, two].map((journal, i) => journal.claim({ genesisHash: "g", algorandAddress: `A${i}` })),
      );
      expect(identities[0]).toEqual(identities[1]);
    });
  });
}

/** Takes a call to where it is owed, with no attestation. */
async function owed(journal: Journal, call: Call): Promise<Call> {
  let current = call;
  for (const event of [...GOOD_COURSE.slice(0, 1), { type: "attestation_blocked", reason: "unfunded" } as const]) {
    current = afterCommit(current, event);
    await journal.update(current);
  }
  return current;
}

/** Takes a call through the rest of its good course, or until it is in a state; each call has an attestation of its own. */
async function advance(journal: Journal, call: Call, until: CallState = "done", bundleId = "S"): Promise<Call> {
  const txid = `ATTEST ${call.key}`;
  let current = call;
  for (const event of goodCourseFrom(call)) {
    if (current.state === until) break;
    current = afterCommit(current, {
      ...event,
      ...(event.type === "attestation_signed" && { attempt: anAttempt(txid) }),
      ...(event.type === "attestation_confirmed" && { txid }),
      ...(event.type === "bundle_sealed" && { bundle: { ...event.bundle, id: bundleId } }),
    });
    await journal.update(current);
  }
  return current;
}

function hearing(journal: Journal) {
  const all: string[] = [];
  let changed = Promise.withResolvers<void>();
  const hear = (line: string) => {
    all.push(line);
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const listener: Listener = { ended: (key) => hear(`ended ${key}`), freed: () => hear("freed") };
  return {
    all,
    stop: journal.listen(listener),
    async heard(line: string): Promise<void> {
      while (!all.includes(line)) await changed.promise;
    },
  };
}
