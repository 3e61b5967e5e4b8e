import { describe, expect, test } from "vitest";
import type { CopiedJournal } from "../../src/calls/copied.ts";
import type { Journal } from "../../src/calls/journal.ts";
import { serviceError } from "../errors.ts";
import { aCall, after, deliver } from "../fakes/calls.ts";

export type CopiedDatabase = { open(): Promise<Journal & CopiedJournal>; remove(): Promise<void> };

/** A database that can lose its newest commits while it is open. */
export type LossyDatabase = CopiedDatabase & {
  /** Makes the row of a call as it was at its insertion, or removes it, or all that an empty journal lacks; every connection breaks. */
  lose(key: string, left: "row" | "nothing" | "everything"): Promise<void>;
};

/** What every journal must do for copies of it; each implementation runs this test (calls/copied.ts, `CopiedJournal`). */
export function copiedContract(name: string, create: () => Promise<CopiedDatabase>): void {
  test(`${name} journal marks its newest call, and those before it, as put back, keeps the mark until the next, and forgets refused payments`, async () => {
    const database = await create();
    const journal = await database.open();
    expect(journal.mayLackSince()).toBeUndefined();
    const insert = (key: string, createdAt: number) => journal.insert(aCall({ key, aliases: [], createdAt }));
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
    expect([await reopened.copiedUntil(), reopened.mayLackSince()]).toEqual([1_795_772_566_123, expect.any(Number)]);
    await reopened.markCopied();
    expect(await reopened.copiedUntil()).toBe(1_795_772_566_124);
    await reopened.close();
    await database.remove();
  });

  test(`${name} journal without calls is marked too: each process after it knows that it may lack them all`, async () => {
    const database = await create();
    const journal = await database.open();
    await journal.markCopied();
    await journal.close();
    const reopened = await database.open();
    expect([await reopened.copiedUntil(), reopened.mayLackSince()]).toEqual([0, expect.any(Number)]);
    await reopened.close();
    await database.remove();
  });
}

/** What every journal must do that may lose commits under running replicas. */
export function lossContract(name: string, create: () => Promise<LossyDatabase>): void {
  const behind = serviceError("journal_behind");

  describe(`${name} journal that lost the last commit`, () => {
    test.each(["row", "nothing"] as const)(
      "answers nothing until it is taken as it is (of the call it has: %s)",
      async (left) => {
        const database = await create();
        const [journal, other] = [await database.open(), await database.open()];
        const [kept, lost] = [aCall({ key: "kept", aliases: [] }), aCall({ key: "lost", aliases: [], createdAt: 2 })];
        await other.insert(kept);
        await journal.insert(lost);
        const moved = after(lost, { type: "settlement_begun" });
        await journal.update(moved);
        await database.lose("lost", left);

        await expect.poll(() => journal.find("kept").catch((error: unknown) => error)).toEqual(behind);
        const asked = [
          () => journal.insert(aCall({ key: "new", aliases: [] })),
          () => journal.update(after(moved, { type: "settlement_begun" })),
          () => journal.lease(10),
          () => journal.renew(),
          () => journal.open(),
        ];
        for (const ask of asked) await expect.poll(() => ask().catch((error: unknown) => error)).toEqual(behind);
        // The commits of another replica all stand, as far as it knows.
        await expect.poll(() => other.find("kept").catch(() => undefined)).toMatchObject(kept);

        await journal.markCopied();
        expect(await journal.find("lost")).toEqual(left === "row" ? lost : undefined);
        expect([await journal.copiedUntil(), journal.mayLackSince()]).toEqual([
          left === "row" ? lost.createdAt : kept.createdAt,
          expect.any(Number),
        ]);
        const leased = (await journal.lease(10)).map(({ key }) => key);
        expect(leased).toEqual(left === "row" ? ["lost"] : []);
        await Promise.all([journal.close(), other.close()]);
        await database.remove();
      },
    );

    test("packs what comes later so that others can read it, also where the loss took its dictionary", async () => {
      const database = await create();
      const journal = await database.open();
      await journal.insert(aCall({ key: "lost", aliases: [] }));
      await database.lose("lost", "everything");
      await expect.poll(() => journal.find("lost").catch((error: unknown) => error)).toEqual(behind);
      await journal.markCopied();
      const call = aCall({ key: "new", aliases: [] });
      await journal.insert(call);
      await deliver(journal, aCall({ key: "delivered", aliases: [] }));
      const other = await database.open();
      expect(await other.find("new")).toEqual(call);
      expect((await other.find("delivered"))?.receipt).toEqual(expect.any(String));
      await Promise.all([journal.close(), other.close()]);
      await database.remove();
    });

    test("leases a call again whose end its replica has found, though not committed, and which is open again", async () => {
      const database = await create();
      const [journal, other] = [await database.open(), await database.open()];
      const call = aCall({ key: "ended", aliases: [] });
      await journal.insert(call);
      await other.update(after(call, { type: "payment_void", reason: "expired", receipt: "failed" }));
      await other.close();
      expect(await journal.find("ended")).toMatchObject({ state: "void" });
      await database.lose("ended", "row");
      const left = { state: "settling", version: 1 };
      await expect.poll(() => journal.find("ended").catch(() => undefined)).toMatchObject(left);
      expect((await journal.lease(10)).map(({ key }) => key)).toEqual(["ended"]);
      expect(await journal.lease(10)).toEqual([]);
      await journal.close();
      await database.remove();
    });

    test("is taken for whole by a replica whose last commit stands", async () => {
      const database = await create();
      const journal = await database.open();
      await journal.insert(aCall({ key: "lost", aliases: [] }));
      await journal.insert(aCall({ key: "kept", aliases: [] }));
      await database.lose("lost", "row");
      await expect.poll(() => journal.find("kept").catch(() => undefined)).toMatchObject({ key: "kept" });
      await journal.close();
      await database.remove();
    });
  });
}
