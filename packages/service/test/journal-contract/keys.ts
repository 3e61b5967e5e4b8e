import type { KeyEntry } from "@attestd/proof/trust";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KeyAnnouncement, KeyJournal } from "../../src/attestor/key-journal.ts";
import type { Store } from "../../src/calls/journal.ts";
import { anAttempt } from "../fakes/calls.ts";
import type { Journal } from "./calls.ts";

export type KeyedJournal = Omit<Journal, "open"> & { open(): Promise<Store & KeyJournal> };

const entry = (kid: string, fromRound: number) => ({ type: "attestor-key", version: 1, kid, fromRound }) as KeyEntry;
const key = (kid: string, txid: string): KeyAnnouncement => ({
  record: { kind: "key", entry: entry(kid, 9) },
  attempt: anAttempt(txid),
});
const revocation = (kid: string, revokedRound: number, txid: string): KeyAnnouncement => ({
  record: { kind: "revocation", kid, revokedRound },
  attempt: anAttempt(txid),
});

/** What every journal of keys must do; each implementation runs these tests (attestor/key-journal.ts). */
export function keyContract(name: string, place: () => Promise<KeyedJournal>): void {
  describe(`${name} journal of keys`, () => {
    let journal: KeyedJournal;
    let store: Store & KeyJournal;
    beforeEach(async () => {
      journal = await place();
      store = await journal.open();
      await store.appendKey(entry("first", 1));
    });
    afterEach(async () => {
      await store.close();
      await journal.remove();
    });

    async function reopened(): Promise<void> {
      await store.close();
      store = await journal.open();
    }

    test("keeps an announcement until it is concluded, and adds what was noted", async () => {
      const announcement = key("second", "NOTE");
      expect(await store.announced()).toBeUndefined();
      expect(await store.announce(announcement)).toEqual(announcement);
      await reopened();
      expect(await store.announced()).toEqual(announcement);
      expect(await store.keys()).toEqual([entry("first", 1)]);
      await store.conclude("NOTE", "noted");
      await reopened();
      expect(await store.announced()).toBeUndefined();
      expect(await store.keys()).toEqual([entry("first", 1), entry("second", 9)]);
      expect(await store.revocations()).toEqual([]);
    });

    test("keeps revocations in their order, and the entries as they are", async () => {
      await store.appendKey(entry("second", 5));
      for (const [kid, round] of [
        ["second", 2 ** 40],
        ["first", 3],
      ] as const) {
        await store.announce(revocation(kid, round, `NOTE ${kid}`));
        await store.conclude(`NOTE ${kid}`, "noted");
      }
      await store.appendRevocation({ kid: "first", revokedRound: 4 });
      await reopened();
      expect(await store.revocations()).toEqual([
        { kid: "second", revokedRound: 2 ** 40 },
        { kid: "first", revokedRound: 3 },
      ]);
      expect(await store.keys()).toEqual([entry("first", 1), entry("second", 5)]);
    });

    test("adds a revocation once, of a key that it has", async () => {
      for (const revokedRound of [7, 8]) await store.appendRevocation({ kid: "first", revokedRound });
      await expect(store.appendRevocation({ kid: "stranger", revokedRound: 7 })).rejects.toThrow();
      expect(await store.revocations()).toEqual([{ kid: "first", revokedRound: 7 }]);
    });

    test("lets one of several announcements stand, until it is concluded", async () => {
      const all = await Promise.all([1, 2, 3, 4].map((i) => store.announce(key(`key ${i}`, `NOTE ${i}`))));
      const [standing] = all as [KeyAnnouncement];
      expect(all).toEqual(all.map(() => standing));
      await store.conclude("ANOTHER", "noted");
      expect(await store.announced()).toEqual(standing);
      await store.conclude(standing.attempt.txid, "dead");
      await store.conclude(standing.attempt.txid, "noted");
      expect(await store.announced()).toBeUndefined();
      expect(await store.keys()).toEqual([entry("first", 1)]);
      expect(await store.announce(key("second", "LATER"))).toEqual(key("second", "LATER"));
    });

    test("has no other replica while it is alone", async () => {
      expect(await store.others()).toBe(0);
    });
  });
}
