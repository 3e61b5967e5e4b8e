import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../call.ts";
import { reduce } from "../machine.ts";
import { StaleCall, type Store } from "../store.ts";
import { aCall, after, GOOD_COURSE } from "../testing.ts";

/** A place for a journal: opened, closed and opened again with what it held. */
export type Journal = { open(): Promise<Store>; remove(): Promise<void> };

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

    async function course(call: Call): Promise<Call> {
      let current = await store.insert(call);
      for (const event of GOOD_COURSE) {
        current = reduce(current, event);
        await store.update(current);
      }
      return current;
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
      expect(await store.find("group")).toEqual(first);
      expect(await store.find("two")).toBeUndefined();
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
      await course(aCall({ key: "done" }));
      await store.insert(aCall({ key: "young", createdAt: 3 }));
      await store.insert(aCall({ key: "old", createdAt: 2 }));
      expect((await store.open()).map(({ key }) => key)).toEqual(["old", "young"]);
      expect(await store.bundle("S")).toBe("{}");
      expect(await store.bundle("T")).toBeUndefined();
    });

    test("remembers whose it is, every payee and the key history", async () => {
      const identity = { genesisHash: "g", algorandAddress: "A" };
      expect(await store.claim(identity)).toEqual(identity);
      await store.rememberPayees([{ rail: "algorand", address: "P" }]);
      await store.rememberPayees([
        { rail: "algorand", address: "P" },
        { rail: "base", address: "0x" },
      ]);
      const entry = { type: "attestor-key", version: 1, kid: "k" } as never;
      await store.appendKey(entry);
      await reopened();
      expect(await store.claim({ genesisHash: "other", algorandAddress: "B" })).toEqual(identity);
      expect(await store.payees()).toEqual([
        { rail: "algorand", address: "P" },
        { rail: "base", address: "0x" },
      ]);
      expect(await store.keys()).toEqual([entry]);
    });
  });
}
