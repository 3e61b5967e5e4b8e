import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Call, CallState } from "../../src/calls/call.ts";
import { type Listener, NameTaken, StaleCall, type Store } from "../../src/calls/journal.ts";
import { type CallEvent, reduce } from "../../src/calls/machine.ts";
import { aCall, after, aLargeEvidence, anAttempt, GOOD_COURSE } from "../fakes/calls.ts";

/** A place for a journal: opened, closed and opened again with what it held. */
export type Journal = {
  open(): Promise<Store>;
  /** How many pieces of evidence it keeps. */
  evidenceKept(): Promise<number>;
  remove(): Promise<void>;
};

/** A journal that several replicas may have open at once. */
export type SharedJournal = Journal & {
  /** Lets LEASE_MS pass, as the journal tells time. */
  outlive(): Promise<void>;
};

/** What every store must do; each implementation runs these tests (calls/store.ts, `Store`). */
export function storeContract(name: string, place: () => Promise<Journal>): void {
  describe(`${name} store`, () => {
    let journal: Journal;
    let store: Store;
    beforeEach(async () => {
      journal = await place();
      store = await journal.open();
    });
    afterEach(async () => {
      await store.close();
      await journal.remove();
    });

    async function reopened(): Promise<Store> {
      await store.close();
      store = await journal.open();
      return store;
    }

    test("gives a call back as it was committed, in every state and after it was closed", async () => {
      let call = await store.insert(aCall());
      expect(await store.find(call.key)).toEqual(call);
      for (const event of GOOD_COURSE) {
        call = reduce(call, event);
        await store.update(call);
        expect(await store.find(call.key)).toEqual(call);
      }
      expect(await (await reopened()).find(call.key)).toEqual(call);
      expect(await store.find("another key")).toBeUndefined();
    });

    test("keeps every attempt, and what the machine adds to a call", async () => {
      const call = await store.insert(aCall());
      const events = [
        ...GOOD_COURSE.slice(0, 3),
        { type: "attestation_dead", txid: "ATTEST" },
        { type: "attestation_signed", attempt: anAttempt("SECOND") },
      ] as const;
      let current: Call & { added?: unknown } = call;
      for (const event of events) {
        current = { ...reduce(current, event), added: { text: 'a "\\ \u0000 \ud800 é', list: [1, null] } };
        await store.update(current);
      }
      expect(await store.find(call.key)).toEqual(current);
      expect(current.attempts.map(({ dead }) => dead)).toEqual([true, false]);
    });

    test("refuses a second attestation transaction in the place of another, and takes no other update with it", async () => {
      const calls = await Promise.all(Array.from({ length: 20 }, (_, i) => store.insert(aCall({ key: `key ${i}` }))));
      const signed = await Promise.all(calls.map((call) => advance(store, call, "signed")));
      const moved = await Promise.allSettled(
        signed.map((call, i) => {
          const blocked = reduce(call, { type: "attestation_blocked", reason: "unfunded" });
          const forged = [{ ...anAttempt("FORGED"), dead: false }];
          return store.update(i === 7 ? { ...blocked, attempts: forged } : blocked);
        }),
      );
      expect(moved.flatMap(({ status }, i) => (status === "rejected" ? [i] : []))).toEqual([7]);
      const found = await Promise.all(calls.map(({ key }) => store.find(key)));
      expect(found.map((call) => call?.state)).toEqual(calls.map((_, i) => (i === 7 ? "signed" : "owed")));
      expect(found[7]).toEqual(signed[7]);
    });

    test("lets one of many calls with one key in, and gives the others the holder", async () => {
      const calls = Array.from({ length: 20 }, (_, i) => aCall({ payer: `PAYER ${i}` }));
      const holders = await Promise.all(calls.map((call) => store.insert(call)));
      expect(new Set(holders.map(({ payer }) => payer)).size).toBe(1);
      expect(await store.open()).toHaveLength(1);
    });

    test("treats an alias as a key", async () => {
      const first = await store.insert(aCall({ key: "one", aliases: ["group"] }));
      expect(await store.insert(aCall({ key: "two", aliases: ["group"] }))).toEqual(first);
      expect(await store.insert(aCall({ key: "group" }))).toEqual(first);
      expect(await store.insert(aCall({ key: "three", aliases: ["one"] }))).toEqual(first);
      expect(await store.find("group")).toEqual(first);
      expect(await store.find("two")).toBeUndefined();
      expect(await store.find("three")).toBeUndefined();
    });

    test("keeps equal evidence once, and drops it with the last call that has it", async () => {
      const [large, other] = [aLargeEvidence("LARGE"), aLargeEvidence("OTHER")];
      const calls = await Promise.all(
        Array.from({ length: 30 }, (_, i) => store.insert(aCall({ key: `key ${i}`, evidence: large }))),
      );
      await store.insert(aCall({ key: "other", evidence: other }));
      expect(await journal.evidenceKept()).toBe(2);
      expect((await store.find("key 29"))?.evidence).toEqual(large);
      const unpaid: CallEvent = { type: "payment_void", reason: "expired", receipt: "" };
      const [last, ...rest] = calls as [Call, ...Call[]];
      await Promise.all(rest.map((call) => store.update(after(call, unpaid))));
      expect(await journal.evidenceKept()).toBe(2);
      expect((await store.find(last.key))?.evidence).toEqual(large);
      await store.update(after(last, unpaid));
      expect(await journal.evidenceKept()).toBe(1);
      expect(await store.find(last.key)).toEqual({ ...after(last, unpaid), evidence: undefined });
      await store.insert(aCall({ key: "again", evidence: large }));
      expect((await (await reopened()).find("again"))?.evidence).toEqual(large);
      expect((await store.open()).map(({ evidence }) => evidence)).toEqual([other, large]);
    });

    test("keeps the evidence of everything that is paid for", async () => {
      const evidence = aLargeEvidence("LARGE");
      const done = await advance(store, await store.insert(aCall({ evidence })));
      expect((await (await reopened()).find(done.key))?.evidence).toEqual(evidence);
    });

    test("lets a refund's transfer close one call, and finds the call by it", async () => {
      const calls = await Promise.all(["one", "two"].map((key) => store.insert(aCall({ key }))));
      const [one, two] = (await Promise.all(calls.map((call) => owed(store, call)))) as [Call, Call];
      const back = (refund: string): CallEvent => ({ type: "payment_refunded", transaction: "BACK", refund });
      await store.update(after(one, back("refund:BACK")));
      await expect(store.update(after(two, back("refund:BACK")))).rejects.toThrow(NameTaken);
      expect(await store.find(two.key)).toEqual(two);
      expect((await (await reopened()).find("refund:BACK"))?.key).toBe("one");
      await store.update(after(two, back("refund:BACK 2")));
      expect((await store.find("refund:BACK 2"))?.state).toBe("refunded");
    });

    test("refuses an update that does not follow the stored version", async () => {
      const call = await store.insert(aCall());
      const settling = after(call, { type: "settlement_begun" });
      await store.update(settling);
      await expect(store.update(settling)).rejects.toThrow(StaleCall);
      await expect(store.update(after(call, { type: "settlement_begun" }))).rejects.toThrow(StaleCall);
      await expect(store.update(after(aCall({ key: "unknown" }), { type: "settlement_begun" }))).rejects.toThrow(
        StaleCall,
      );
      expect(await store.find(call.key)).toEqual(settling);
    });

    test("lists what is not final, oldest first, and finds bundles by their id", async () => {
      await advance(store, await store.insert(aCall({ key: "done" })));
      await store.insert(aCall({ key: "young", createdAt: 3 }));
      await store.insert(aCall({ key: "old", createdAt: 2 }));
      expect((await store.open()).map(({ key }) => key)).toEqual(["old", "young"]);
      expect(await store.bundle("S")).toBe("{}");
      expect(await store.bundle("T")).toBeUndefined();
    });

    test("keeps a delivered call open, and its lease held, until its payment is final", async () => {
      const call = await store.insert(aCall());
      const [begun, proved, ...rest] = GOOD_COURSE as [
        CallEvent,
        CallEvent & { type: "payment_proved" },
        ...CallEvent[],
      ];
      let done = call;
      for (const event of [begun, { ...proved, proof: { ...proved.proof, final: false } }, ...rest]) {
        done = reduce(done, event);
        await store.update(done);
      }
      expect([done.state, await store.open(), store.holds(call.key)]).toEqual(["done", [done], true]);
      await store.update(reduce(done, { type: "payment_seen_again", proof: proved.proof }));
      expect([await store.open(), store.holds(call.key)]).toEqual([[], false]);
    });

    test("sums up what a payer has promised and not paid", async () => {
      await store.insert(aCall({ key: "one", payer: "P" }));
      const two = await store.insert(aCall({ key: "two", payer: "P" }));
      await store.insert(aCall({ key: "three", payer: "Q" }));
      await store.insert(aCall({ key: "four", payer: "P", rail: "base" }));
      expect(await store.exposure("algorand", "P")).toBe(2000n);
      const settling = reduce(two, { type: "settlement_begun" });
      await store.update(settling);
      expect(await store.exposure("algorand", "P")).toBe(2000n);
      await store.update(reduce(settling, { type: "payment_void", reason: "expired", receipt: "" }));
      expect(await store.exposure("algorand", "P")).toBe(1000n);
      expect(await store.exposure("solana", "P")).toBe(0n);
    });

    test("gives the lease of a call to whoever inserted it, until the call is final", async () => {
      const call = await store.insert(aCall());
      expect(store.holds(call.key)).toBe(true);
      expect(store.holds("another key")).toBe(false);
      expect(await store.lease(10)).toEqual([]);
      expect(await store.renew()).toEqual([]);
      await advance(store, call);
      expect(store.holds(call.key)).toBe(false);
      expect(await store.renew()).toEqual([]);
    });

    test("leases again what was released, oldest first and no more than asked for", async () => {
      const calls = [3, 1, 2].map((age) => aCall({ key: `key ${age}`, createdAt: age }));
      for (const call of calls) await store.insert(call);
      await advance(store, await store.insert(aCall({ key: "done" })));
      await store.release();
      expect(store.holds("key 1")).toBe(false);
      expect(await store.lease(2)).toEqual([calls[1], calls[2]]);
      expect(await store.lease(2)).toEqual([calls[0]]);
      expect(await store.lease(2)).toEqual([]);
      expect(["key 1", "key 2", "key 3", "done"].map((key) => store.holds(key))).toEqual([true, true, true, false]);
    });

    test("tells listeners of ends and releases, until they listen no more", async () => {
      const news = hearing(store);
      await advance(store, await store.insert(aCall()));
      await news.heard(`ended ${aCall().key}`);
      await store.release();
      await news.heard("freed");
      news.stop();
      const later = hearing(store);
      await advance(store, await store.insert(aCall({ key: "second" })), "done", "S2");
      await later.heard("ended second");
      expect(news.all).not.toContain("ended second");
      later.stop();
    });

    test("remembers whose it is, every payee and the key history", async () => {
      const identity = { genesisHash: "g", algorandAddress: "A" };
      expect(await store.claim(identity)).toEqual(identity);
      await store.rememberPayees([{ rail: "algorand", address: "P" }]);
      await store.rememberPayees([
        { rail: "algorand", address: "P" },
        { rail: "base", address: "0x" },
      ]);
      const first = { type: "attestor-key", version: 1, kid: "k", fromRound: 1 } as never;
      const second = { type: "attestor-key", version: 1, kid: "a", fromRound: 9 } as never;
      await store.appendKey(first);
      await store.appendKey({ type: "attestor-key", version: 1, kid: "k", fromRound: 2 } as never);
      await store.appendKey(second);
      await reopened();
      expect(await store.claim({ genesisHash: "other", algorandAddress: "B" })).toEqual(identity);
      expect(await store.payees()).toEqual([
        { rail: "algorand", address: "P" },
        { rail: "base", address: "0x" },
      ]);
      expect(await store.keys()).toEqual([first, second]);
    });
  });
}

/** What a store must do beside `storeContract` when several replicas may have its journal open. */
export function replicaContract(name: string, place: () => Promise<SharedJournal>): void {
  describe(`${name} store with two replicas`, () => {
    let journal: SharedJournal;
    let one: Store;
    let two: Store;
    beforeEach(async () => {
      journal = await place();
      [one, two] = await Promise.all([journal.open(), journal.open()]);
    });
    afterEach(async () => {
      await Promise.all([one.close(), two.close()]);
      await journal.remove();
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
    ])("lets one of the calls that race for %s in, and gives both its holder", async (_, calls) => {
      const holders = await racing(calls);
      const [holder] = await one.open();
      expect(await two.open()).toEqual([holder]);
      expect(holders).toEqual(holders.map(() => holder));
      expect([one, two].filter((store) => store.holds(holder?.key as string))).toHaveLength(1);
    });

    test("never leases what a living replica holds", async () => {
      await one.insert(aCall());
      expect(await two.lease(10)).toEqual([]);
      await journal.outlive();
      expect(await one.renew()).toEqual([]);
      expect(await two.lease(10)).toEqual([]);
      expect([one, two].map((store) => store.holds(aCall().key))).toEqual([true, false]);
    });

    test("leases what a dead replica held, and tells it so when it comes back", async () => {
      const call = await one.insert(aCall());
      const kept = await two.insert(aCall({ key: "kept" }));
      await journal.outlive();
      await two.renew();
      expect(await two.lease(10)).toEqual([call]);
      expect(two.holds(call.key)).toBe(true);
      expect(one.holds(call.key)).toBe(true);
      expect(await one.renew()).toEqual([call.key]);
      expect(one.holds(call.key)).toBe(false);
      expect(await one.lease(10)).toEqual([]);
      expect(await two.renew()).toEqual([]);
      expect(two.holds(kept.key)).toBe(true);
    });

    test("a replica that comes back in time has lost nothing", async () => {
      await one.insert(aCall());
      await journal.outlive();
      expect(await one.renew()).toEqual([]);
      expect(await two.lease(10)).toEqual([]);
    });

    test("leases at once what another released", async () => {
      const news = hearing(two);
      const call = await one.insert(aCall());
      await one.release();
      await news.heard("freed");
      news.stop();
      expect(await two.lease(10)).toEqual([call]);
    });

    test("gives each call to one of those that ask at once", async () => {
      const calls = await Promise.all(Array.from({ length: 60 }, (_, i) => one.insert(aCall({ key: `key ${i}` }))));
      await one.release();
      const others = await Promise.all([1, 2, 3, 4].map(() => journal.open()));
      const leased = (await Promise.all(others.map((store) => store.lease(20)))).flat();
      const rest = (await Promise.all(others.map((store) => store.lease(60)))).flat();
      const keys = [...leased, ...rest].map(({ key }) => key);
      expect(keys.sort()).toEqual(calls.map(({ key }) => key).sort());
      await Promise.all(others.map((store) => store.close()));
    });

    test("the version fences a replica that lost its lease", async () => {
      const call = await one.insert(aCall());
      await journal.outlive();
      await two.renew();
      await two.lease(10);
      const settling = after(call, { type: "settlement_begun" });
      await two.update(settling);
      await expect(one.update(settling)).rejects.toThrow(StaleCall);
      const ended = await advance(two, settling);
      await expect(one.update(after(settling, ...GOOD_COURSE.slice(1, 2)))).rejects.toThrow(StaleCall);
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

    test("one transfer that both give to a call of their own closes one of them", async () => {
      for (let round = 0; round < 10; round++) {
        const keys = [`one ${round}`, `two ${round}`];
        const calls = await Promise.all(keys.map(async (key) => owed(one, await one.insert(aCall({ key })))));
        const back: CallEvent = { type: "payment_refunded", transaction: "BACK", refund: `refund:${round}` };
        const ended = await Promise.allSettled(calls.map((call, i) => (i ? one : two).update(after(call, back))));
        const refused = ended.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
        expect(refused).toEqual([expect.any(NameTaken)]);
        const states = await Promise.all(keys.map(async (key) => (await one.find(key))?.state));
        expect(states.toSorted()).toEqual(["owed", "refunded"]);
      }
    });

    test("evidence that one drops while the other takes it up is there for whoever has it", async () => {
      const evidence = aLargeEvidence("SHARED");
      const unpaid: CallEvent = { type: "payment_void", reason: "expired", receipt: "" };
      let last = await one.insert(aCall({ key: "key 0", evidence }));
      for (let n = 1; n <= 40; n++) {
        const [next] = await Promise.all([
          two.insert(aCall({ key: `key ${n}`, evidence })),
          one.update(after(last, unpaid)),
        ]);
        expect((await one.find(next.key))?.evidence).toEqual(evidence);
        expect(await journal.evidenceKept()).toBe(1);
        last = next;
      }
      await two.update(after(last, unpaid));
      expect(await journal.evidenceKept()).toBe(0);
    });

    test("is told of calls that the other ended, and finds them so", async () => {
      const news = hearing(two);
      const ended = await advance(one, await one.insert(aCall()));
      await news.heard(`ended ${ended.key}`);
      expect(await two.find(ended.key)).toEqual(ended);
      news.stop();
    });

    test("one identity and one beginning of the key history, whoever is first", async () => {
      const identities = await Promise.all(
        [one, two].map((store, i) => store.claim({ genesisHash: "g", algorandAddress: `A${i}` })),
      );
      expect(identities[0]).toEqual(identities[1]);
      const entries = [1, 2].map((fromRound) => ({ kid: "k", fromRound }) as never);
      await Promise.all([one.appendKey(entries[0] as never), two.appendKey(entries[1] as never)]);
      expect(await one.keys()).toHaveLength(1);
      expect(await one.keys()).toEqual(await two.keys());
    });
  });
}

/** Takes a call to where it is owed, with no attestation. */
async function owed(store: Store, call: Call): Promise<Call> {
  let current = call;
  for (const event of [...GOOD_COURSE.slice(0, 2), { type: "attestation_blocked", reason: "unfunded" } as const]) {
    current = reduce(current, event);
    await store.update(current);
  }
  return current;
}

/** Takes a call through the rest of its good course, or until it is in a state; each call has an attestation of its own. */
async function advance(store: Store, call: Call, until: CallState = "done", bundleId = "S"): Promise<Call> {
  const txid = `ATTEST ${call.key}`;
  let current = call;
  for (const event of GOOD_COURSE.slice(call.version - 1)) {
    if (current.state === until) break;
    current = reduce(current, {
      ...event,
      ...(event.type === "attestation_signed" && { attempt: anAttempt(txid) }),
      ...(event.type === "attestation_confirmed" && { txid }),
      ...(event.type === "bundle_sealed" && { bundle: { ...event.bundle, id: bundleId } }),
    });
    await store.update(current);
  }
  return current;
}

function hearing(store: Store) {
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
    stop: store.listen(listener),
    async heard(line: string): Promise<void> {
      while (!all.includes(line)) await changed.promise;
    },
  };
}
