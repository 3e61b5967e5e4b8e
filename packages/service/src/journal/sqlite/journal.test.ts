import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { serviceError } from "../../../test/errors.ts";
import { aCall, after, afterCommit, aLargeEvidence, GOOD_COURSE, take } from "../../../test/fakes/calls.ts";
import { journalContract } from "../../../test/journal-contract/calls.ts";
import { copiedContract } from "../../../test/journal-contract/copied.ts";
import { evidenceContract } from "../../../test/journal-contract/evidence.ts";
import { keyContract } from "../../../test/journal-contract/keys.ts";
import { pruningContract } from "../../../test/journal-contract/pruning.ts";
import { refusedContract } from "../../../test/journal-contract/refused.ts";
import type { CallEvent } from "../../calls/machine.ts";
import { checkSqliteCopy, copySqlite, restoreSqlite } from "./backup.ts";
import { openSqliteJournal } from "./journal.ts";

async function place() {
  const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  return {
    open: () => openSqliteJournal(join(dir, "journal.sqlite")),
    async evidenceKept() {
      const db = new DatabaseSync(join(dir, "journal.sqlite"), { readOnly: true });
      const row = db
        .prepare("SELECT (SELECT count(*) FROM evidence) + (SELECT count(*) FROM evidence_items) AS kept")
        .get();
      db.close();
      return row?.kept as number;
    },
    async fillRefused(count: number) {
      const db = new DatabaseSync(join(dir, "journal.sqlite"));
      db.prepare(
        `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
        INSERT INTO refused_payments (key, payer, subject_hash) SELECT 'other ' || n, n, '' FROM numbers`,
      ).run(count);
      db.close();
    },
    remove: () => rm(dir, { recursive: true }),
  };
}

journalContract("SQLite", place);
copiedContract("SQLite", place);
refusedContract("SQLite", place);
keyContract("SQLite", place);
evidenceContract("SQLite", place);
pruningContract("SQLite", place);

test("the commit that delivers packs bundle, receipt and parts with a dictionary that the journal keeps", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  const path = join(dir, "journal.sqlite");
  const journal = await openSqliteJournal(path);
  await journal.appendKey({ kid: "k", pqPublicKey: "the newest key" } as never);
  const body = JSON.stringify({ type: "batch-attestation" });
  const items = [{ id: "item 0", text: JSON.stringify({ type: "batch-item", filler: "filler".repeat(100) }) }];
  const course = GOOD_COURSE.map((event) =>
    event.type === "bundle_sealed" ? { ...event, bundle: { ...event.bundle, body, items } } : event,
  );
  const call = await take(journal, aCall(), course.slice(0, -1));
  const db = new DatabaseSync(path, { readOnly: true });
  const written = () =>
    db.prepare("SELECT request, delivered, content FROM calls LEFT JOIN bundle_parts USING (bundle_id)").get();
  expect(written()).toMatchObject({ delivered: null });
  expect(db.prepare("SELECT count(*) AS attempts FROM attempts").get()).toEqual({ attempts: 1 });
  const delivered = afterCommit(call, course.at(-1) as CallEvent);
  await journal.update(delivered);
  const kept = new Map(
    db
      .prepare("SELECT hash, content FROM dictionaries")
      .all()
      .map(({ hash, content }) => {
        return [(hash as Uint8Array).toHex(), Buffer.from(content as Uint8Array)];
      }),
  );
  expect([...kept.values()].map((content) => content.includes("the newest key"))).toEqual([true]);
  const textOf = (packed: unknown) => {
    const dictionary = kept.get((packed as Uint8Array).subarray(0, 32).toHex());
    return zstdDecompressSync((packed as Uint8Array).subarray(32), { dictionary }).toString();
  };
  const row = written();
  expect(textOf(row?.delivered)).toBe(`signed receipt\n${body}`);
  expect(textOf(row?.content)).toBe(items[0]?.text);
  expect(row?.content).toSatisfy((content: Uint8Array) => content.length < 120);
  expect(JSON.parse(textOf(row?.request))).toMatchObject({ subject: call.subject, payload: call.payload });
  expect(db.prepare("SELECT count(*) AS attempts FROM attempts").get()).toEqual({ attempts: 0 });
  expect(await journal.find(call.key)).toMatchObject({ receipt: "signed receipt", bundle: { body } });
  expect(await journal.partsOf("S", 0, 1)).toEqual([items[0]?.text]);
  db.close();
  await journal.close();
  await rm(dir, { recursive: true });
});

test("a file that another journal has open is refused, and can be opened once that one is closed", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  const path = join(dir, "journal.sqlite");
  const first = await openSqliteJournal(path);
  await expect(openSqliteJournal(path)).rejects.toThrow("another process");
  await first.insert(aCall());
  await first.close();
  await expect(first.find("any")).rejects.toThrow("closed");
  const second = await openSqliteJournal(path);
  expect(await second.open()).toHaveLength(1);
  await second.close();
  await rm(dir, { recursive: true });
});

test("the error of a path that cannot be opened names the path", async () => {
  await expect(openSqliteJournal("/no/such/folder/journal.sqlite")).rejects.toThrow("/no/such/folder/journal.sqlite");
});

test("the journal, its WAL, shared memory and lock, and a folder made for them, are their owner's alone", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  const umask = process.umask(0);
  try {
    const journal = await openSqliteJournal(join(dir, "data", "journal.sqlite"));
    await journal.insert(aCall());
    expect(await modesIn(join(dir, "data"))).toEqual({
      ".": "700",
      "journal.sqlite": "600",
      "journal.sqlite-shm": "600",
      "journal.sqlite-wal": "600",
      "journal.sqlite.lock": "600",
      "journal.sqlite.lock-journal": "600",
    });
    await journal.close();
  } finally {
    process.umask(umask);
    await rm(dir, { recursive: true });
  }
});

test("nothing is restored under the name of a journal that was moved away while a service has it open", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  const [path, saved] = [join(dir, "journal.sqlite"), join(dir, "saved.sqlite")];
  const journal = await openSqliteJournal(path);
  await journal.insert(aCall());
  await copySqlite(path, saved);
  for (const end of ["", "-wal", "-shm"]) await rename(`${path}${end}`, join(dir, `moved${end}`));
  await expect(restoreSqlite(saved, path)).rejects.toThrow("a service has this journal open: stop it first");
  expect(await readdir(dir)).not.toContain("journal.sqlite");
  await journal.close();
  await restoreSqlite(saved, path);
  const restored = await openSqliteJournal(path);
  expect(await restored.open()).toHaveLength(1);
  await restored.close();
  await rm(dir, { recursive: true });
});

async function journalOf(path: string, use: (journal: Awaited<ReturnType<typeof openSqliteJournal>>) => Promise<void>) {
  const journal = await openSqliteJournal(path);
  await use(journal);
  await journal.close();
}

test.each([
  ["renamed to its place", async (path: string, put: string) => rename(put, path)],
  ["copied over it", async (path: string, put: string) => copyFile(put, path)],
  ["moved away, and none put there", async (path: string) => rename(path, `${path}.moved`)],
])(
  "a journal whose file was %s while it was open answers nothing any more, and is as it was put there",
  async (_, put) => {
    const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
    const [path, saved] = [join(dir, "journal.sqlite"), join(dir, "saved.sqlite")];
    const journal = await openSqliteJournal(path);
    await journal.claim({ genesisHash: "g", algorandAddress: "A" });
    await journal.insert(aCall({ key: "kept", aliases: [] }));
    await copySqlite(path, saved);
    const before = await readFile(saved);
    await journal.insert(aCall({ key: "lost", aliases: [] }));
    await put(path, saved);
    const there = await readFile(path).catch(() => undefined);
    const asked = [
      () => journal.find("kept"),
      () => journal.insert(aCall({ key: "new", aliases: [] })),
      () => journal.update(after(aCall({ key: "lost", aliases: [] }), { type: "settlement_begun" })),
      () => journal.lease(10),
      () => journal.markCopied(),
    ];
    for (const ask of asked) await expect(ask()).rejects.toEqual(serviceError("journal_behind"));
    if (there) expect(there).toEqual(before);
    expect(await readFile(path).catch(() => undefined)).toEqual(there);
    await journal.close();
    // What was in the WAL is of the file that was there before, and goes into no other.
    expect(await readFile(path).catch(() => undefined)).toEqual(there);
    if (there) {
      await journalOf(path, async (next) => expect((await next.open()).map(({ key }) => key)).toEqual(["kept"]));
      expect(checkSqliteCopy(path)).toMatchObject({ calls: { settling: 1 } });
    }
    await rm(dir, { recursive: true });
  },
);

test("a journal stays its own while it is read, saved and written so much that the WAL goes into the file", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  const path = join(dir, "journal.sqlite");
  const journal = await openSqliteJournal(path);
  const { size } = await stat(path);
  for (let i = 0; i < 40; i++) {
    const evidence = aLargeEvidence(`${i}`);
    await Promise.all([journal.insert(aCall({ key: `${i}`, aliases: [], evidence })), journal.evidenceOf(`${i - 1}`)]);
  }
  await copySqlite(path, join(dir, "saved.sqlite"));
  expect((await stat(path)).size).toBeGreaterThan(size);
  expect(await journal.open()).toHaveLength(40);
  await journal.close();
  await rm(dir, { recursive: true });
});

test("wider modes that an earlier run, or a copy, has left are narrowed and logged with the old and the new mode", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  const path = join(dir, "data", "journal.sqlite");
  const first = await openSqliteJournal(path);
  await first.insert(aCall());
  // As after a crash: the WAL stays.
  for (const name of ["journal.sqlite", "journal.sqlite-wal"]) await copyFile(join(dir, "data", name), join(dir, name));
  await first.close();
  for (const name of ["journal.sqlite", "journal.sqlite-wal"]) {
    await copyFile(join(dir, name), join(dir, "data", name));
    await chmod(join(dir, "data", name), 0o644);
  }
  await chmod(join(dir, "data"), 0o755);
  const logged: object[] = [];
  const second = await openSqliteJournal(path, { warn: (fields: object) => logged.push(fields) });
  expect(await second.open()).toHaveLength(1);
  expect(new Set(Object.values(await modesIn(join(dir, "data"))))).toEqual(new Set(["700", "600"]));
  expect(logged).toEqual([
    {
      narrowed: [
        { file: path, from: "0644", to: "0600" },
        { file: `${path}-wal`, from: "0644", to: "0600" },
        { file: join(dir, "data"), from: "0755", to: "0700" },
      ],
    },
  ]);
  await second.close();
  await rm(dir, { recursive: true });
});

test("a folder with other files keeps its mode, as do those files and the targets of links; that is logged", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  await chmod(dir, 0o755);
  await writeFile(join(dir, "other"), "");
  await chmod(join(dir, "other"), 0o644);
  await symlink("other", join(dir, "journal.sqlite-link"));
  await mkdir(join(dir, "journal.sqlite.d"), { mode: 0o755 });
  const logged: object[] = [];
  const journal = await openSqliteJournal(join(dir, "journal.sqlite"), {
    warn: (fields: object) => logged.push(fields),
  });
  expect(logged).toEqual([{ folder: dir, mode: "0755" }]);
  expect(await modesIn(dir)).toMatchObject({ ".": "755", other: "644", "journal.sqlite.d": "755" });
  await journal.close();
  await rm(dir, { recursive: true });
});

test("a journal is locked under every name of its file", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-journal-"));
  const first = await openSqliteJournal(join(dir, "journal.sqlite"));
  await symlink("journal.sqlite", join(dir, "alias.sqlite"));
  await expect(openSqliteJournal(join(dir, "alias.sqlite"))).rejects.toThrow("another process");
  await first.close();
  await rm(dir, { recursive: true });
});

/** Permissions of a folder, as ".", and of what is in it. */
async function modesIn(dir: string): Promise<Record<string, string>> {
  const names = [".", ...(await readdir(dir)).sort()];
  const modes = names.map(async (name) => [name, ((await stat(join(dir, name))).mode & 0o777).toString(8)]);
  return Object.fromEntries(await Promise.all(modes));
}
