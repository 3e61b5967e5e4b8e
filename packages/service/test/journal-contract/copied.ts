import { expect, test } from "vitest";
import { aCall } from "../fakes/calls.ts";
import type { EvidenceDatabase } from "./evidence.ts";

/** What every journal must do for copies of it; each implementation runs this test (calls/copied.ts, `CopiedJournal`). */
export function copiedContract(name: string, create: () => Promise<EvidenceDatabase>): void {
  test(`${name} journal marks its newest call, and those before it, as put back, keeps the mark until the next, and forgets refused payments`, async () => {
    const database = await create();
    const journal = await database.open();
    const insert = (key: string, createdAt: number) => journal.insert(aCall({ key, aliases: [], createdAt }));
    await journal.markCopied();
    expect(await journal.copiedUntil()).toBeUndefined();
    await insert("late", 1_795_772_566_123);
    await insert("early", 7);
    expect(await journal.copiedUntil()).toBeUndefined();
    const refused = { key: "refused", payer: "payer", subjectHash: "subject" };
    await journal.rememberRefused(refused);
    expect(await journal.refused("refused")).toEqual(refused);
    await journal.markCopied();
    // It may have been taken, and attested for, since the copy was made.
    expect(await journal.refused("refused")).toBeUndefined();
    await insert("later", 1_795_772_566_124);
    await journal.close();
    const reopened = await database.open();
    expect(await reopened.copiedUntil()).toBe(1_795_772_566_123);
    await reopened.markCopied();
    expect(await reopened.copiedUntil()).toBe(1_795_772_566_124);
    await reopened.close();
    await database.remove();
  });
}
