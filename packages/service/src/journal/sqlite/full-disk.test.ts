import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { aCall, aLargeEvidence, deliver } from "../../../test/fakes/calls.ts";
import { mountSmallDisk } from "../../../test/fakes/small-disk.ts";
import { openSqliteJournal } from "./journal.ts";

const disk = await mountSmallDisk(4);
if ("reason" in disk) console.log(`a full disk: ${disk.reason}; skipped`);
afterAll(async () => {
  if (!("reason" in disk)) await disk[Symbol.asyncDispose]();
});

test("a commit that fails does not fail the reads beside it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  const journal = await openSqliteJournal(join(folder, "journal.sqlite"));
  const call = await journal.insert(aCall());
  const other = new DatabaseSync(join(folder, "journal.sqlite"));
  other.exec("BEGIN IMMEDIATE");
  const reads = [
    journal.find(call.key),
    journal.bodyOf("S"),
    journal.exposure("algorand", call.payer),
    journal.open(),
  ] as const;
  const [inserted, ...seen] = await Promise.allSettled([journal.insert(aCall({ key: "another" })), ...reads]);
  expect(inserted).toMatchObject({ status: "rejected", reason: { message: expect.stringContaining("locked") } });
  expect(seen).toEqual(
    [call, undefined, 1000n, [{ key: call.key, state: call.state, createdAt: call.createdAt }]].map((value) => ({
      status: "fulfilled",
      value,
    })),
  );
  other.exec("ROLLBACK");
  other.close();
  await journal.insert(aCall({ key: "another" }));
  await journal.close();
  await rm(folder, { recursive: true });
});

test.skipIf("reason" in disk)(
  "on a full disk commits fail and delivered bundles stay readable; with room again it commits",
  async () => {
    const path = (disk as { path: string }).path;
    await writeFile(join(path, "ballast"), new Uint8Array(1024 * 1024));
    const journal = await openSqliteJournal(join(path, "data", "journal.sqlite"));
    const done = await deliver(journal);
    expect(await journal.freeBytes()).toBeGreaterThan(2n * 1024n * 1024n);

    let inserted = 0;
    const large = (n: number) => aCall({ key: `large ${n}`, evidence: aLargeEvidence(`SOURCE ${n}`) });
    const failure = await (async () => {
      for (;;) await journal.insert(large(inserted++));
    })().catch((error: Error) => error);
    expect(failure.message).toMatch(/full/);
    expect(await journal.freeBytes()).toBeLessThan(512n * 1024n);

    // What is asked for in one turn is one commit.
    const [failing, found, bundle, ...more] = await Promise.allSettled([
      journal.insert(large(1_000)),
      journal.find(done.key),
      journal.bodyOf("S"),
      journal.insert(large(1_001)),
      journal.find("large 0"),
      journal.payees(),
      // Small enough for the room that is left, and part of a commit that fails.
      journal.rememberPayees([{ rail: "base", address: "0x00" }]),
    ]);
    expect([failing, more[0], more[3]].map((result) => result?.status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(found).toMatchObject({ value: { state: "done", bundle: { id: "S", body: "{}" } } });
    expect(bundle).toMatchObject({ value: "{}" });
    expect(more.slice(1, 3)).toMatchObject([{ value: { key: "large 0" } }, { value: [] }]);
    expect(await journal.find("large 1000")).toBeUndefined();

    expect(await journal.payees()).toEqual([]);

    await rm(join(path, "ballast"));
    await journal.insert(large(1_000));
    expect(await journal.find("large 1000")).toMatchObject({ state: "settling" });
    await journal.close();
  },
);
