import type { KeyEntry } from "@attestd/proof";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KeyAnnouncement, KeyJournal } from "../../src/attestor/key-journal.ts";
import type { Journal } from "../../src/calls/journal.ts";
import { anAttempt } from "../fakes/calls.ts";
import type { TestDatabase } from "./calls.ts";

export type KeyDatabase = Omit<TestDatabase, "open"> & { open(): Promise<Journal & KeyJournal> };

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
export function keyContract(name: string, create: () => Promise<KeyDatabase>): void {
  describe(`${name} journal of keys`, () => {
    let database: KeyDatabase;
    let journal: Journal & KeyJournal;
    beforeEach(async () => {
      database = await create();
      journal = await database.open();
      await journal.appendKey(entry("first", 1));
    });
    afterEach(async () => {
      await journal.close();
      await database.remove();
    });

    async function reopened(): Promise<void> {
      await journal.close();
      journal = await database.open();
    }

    test("keeps the key history, with one entry of a key", async () => {
      await journal.appendKey(entry("first", 2));
      await journal.appendKey(entry("a", 9));
      await reopened();
      expect(await journal.keys()).toEqual([entry("first", 1), entry("a", 9)]);
    });

    test("keeps an announcement until it is concluded, and adds what was noted", async () => {
      const announcement = key("second", "NOTE");
      expect(await journal.announced()).toBeUndefined();
      expect(await journal.announce(announcement)).toEqual(announcement);
      await reopened();
      expect(await journal.announced()).toEqual(announcement);
      expect(await journal.keys()).toEqual([entry("first", 1)]);
      await journal.conclude("NOTE", "noted");
      await reopened();
      expect(await journal.announced()).toBeUndefined();
      expect(await journal.keys()).toEqual([entry("first", 1), entry("second", 9)]);
      expect(await journal.revocations()).toEqual([]);
    });

    test("keeps revocations in their order, and the entries as they are", async () => {
      await journal.appendKey(entry("second", 5));
      for (const [kid, round] of [
        ["second", 2 ** 40],
        ["first", 3],
      ] as const) {
        await journal.announce(revocation(kid, round, `NOTE ${kid}`));
        await journal.conclude(`NOTE ${kid}`, "noted");
      }
      await journal.appendRevocation({ kid: "first", revokedRound: 4 });
      await reopened();
      expect(await journal.revocations()).toEqual([
        { kid: "second", revokedRound: 2 ** 40 },
        { kid: "first", revokedRound: 3 },
      ]);
      expect(await journal.keys()).toEqual([entry("first", 1), entry("second", 5)]);
    });

    test("adds a revocation once, of a key that it has", async () => {
      for (const revokedRound of [7, 8]) await journal.appendRevocation({ kid: "first", revokedRound });
      await expect(journal.appendRevocation({ kid: "stranger", revokedRound: 7 })).rejects.toThrow();
      expect(await journal.revocations()).toEqual([{ kid: "first", revokedRound: 7 }]);
    });

    test("keeps one of several announcements until it is concluded", async () => {
      const all = await Promise.all([1, 2, 3, 4].map((i) => journal.announce(key(`key ${i}`, `NOTE ${i}`))));
      const [status] = all as [KeyAnnouncement];
      expect(all).toEqual(all.map(() => status));
      await journal.conclude("ANOTHER", "noted");
      expect(await journal.announced()).toEqual(status);
      await journal.conclude(status.attempt.txid, "dead");
      await journal.conclude(status.attempt.txid, "noted");
      expect(await journal.announced()).toBeUndefined();
      expect(await journal.keys()).toEqual([entry("first", 1)]);
      expect(await journal.announce(key("second", "LATER"))).toEqual(key("second", "LATER"));
    });

    test("has no other replica while it is alone", async () => {
      expect(await journal.others()).toBe(0);
    });
  });
}
