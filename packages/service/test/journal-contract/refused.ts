import { expect, test } from "vitest";
import type { Journal } from "../../src/calls/journal.ts";
import { MAX_REFUSED, MAX_REFUSED_OF_PAYER, type RefusedJournal } from "../../src/calls/refused.ts";

/** A database with refused payments that are there already. */
export type RefusedDatabase = {
  open(): Promise<Opened>;
  /** Adds so many, each of a payer of its own, the newest last: `other 1`, `other 2`, … */
  fillRefused(count: number): Promise<void>;
  remove(): Promise<void>;
};
type Opened = Pick<Journal, "close"> & RefusedJournal;

/** What every journal must do with refused payments (calls/refused.ts, `RefusedJournal`). */
export function refusedContract(name: string, create: () => Promise<RefusedDatabase>): void {
  const refused = (key: string, payer: string, subjectHash = "subject") => ({ key, payer, subjectHash });
  const keysOf = async (journal: RefusedJournal, keys: readonly string[]) => {
    const found = await Promise.all(keys.map((key) => journal.refused(key)));
    return found.flatMap((payment) => payment?.key ?? []);
  };

  test(`${name} journal remembers a refused payment by what it was first brought for, also after it was closed`, async () => {
    const database = await create();
    const journal = await database.open();
    await journal.rememberRefused(refused("key", "payer", "first"));
    await journal.rememberRefused(refused("key", "payer", "second"));
    await journal.close();
    const reopened = await database.open();
    expect(await reopened.refused("key")).toEqual(refused("key", "payer", "first"));
    expect(await reopened.refused("another key")).toBeUndefined();
    await reopened.close();
    await database.remove();
  });

  test(`${name} journal remembers the newest refused payments of each payer, and of all`, async () => {
    const database = await create();
    const journal = await database.open();
    const own = Array.from({ length: MAX_REFUSED_OF_PAYER + 2 }, (_, i) => `own ${i}`);
    for (const [i, key] of own.entries()) {
      await journal.rememberRefused(refused(key, "payer"));
      // A payment that comes again stays as old as it is.
      await journal.rememberRefused(refused(own[i - 1] ?? key, "payer"));
    }
    expect(await keysOf(journal, own)).toEqual(own.slice(2));
    await database.fillRefused(MAX_REFUSED - 2);
    await journal.rememberRefused(refused("last", "last payer"));
    expect(await keysOf(journal, [...own, "other 1", "last"])).toEqual([...own.slice(-1), "other 1", "last"]);
    await journal.close();
    await database.remove();
  });
}
