import { appendFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { all } from "../../test/fakes/audit-reading.ts";
import { aCall, after, afterCommit, anAttempt, GOOD_COURSE, goodCourse, take } from "../../test/fakes/calls.ts";
import { PASSWORD, sql, startPostgres, type TestPostgres } from "../../test/fakes/postgres.ts";
import type { Call } from "../calls/call.ts";
import type { Config } from "../config/config.ts";
import type { WholeJournal } from "./journal.ts";
import { openJournal, openJournalReader } from "./open.ts";
import { examineDatabase } from "./postgres/examination.ts";
import { openPostgresJournal } from "./postgres/journal.ts";
import { schemaState } from "./reader.ts";
import { openSqliteJournal } from "./sqlite/journal.ts";
import { SCHEMA_VERSION } from "./sqlite/schema.ts";

let dir: string;
let postgres: TestPostgres;
beforeAll(async () => {
  [dir, postgres] = await Promise.all([mkdtemp(join(tmpdir(), "attestd-journal-")), startPostgres()]);
});
afterAll(async () => {
  await Promise.all([postgres.close(), rm(dir, { recursive: true })]);
});

let databases = 0;
const DATABASES: [string, () => Promise<{ database: Config["database"]; open: () => Promise<WholeJournal> }>][] = [
  [
    "SQLite",
    async () => {
      const path = join(dir, `journal-${++databases}.db`);
      return { database: { kind: "sqlite", path }, open: () => openSqliteJournal(path) };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const url = await postgres.database();
      return { database: { kind: "postgres", url }, open: () => openPostgresJournal(url) };
    },
  ],
];

async function edit(database: Config["database"], statement: string): Promise<void> {
  if (database.kind === "postgres") return void (await sql(database.url, statement));
  using db = new DatabaseSync(database.path);
  db.exec(statement);
}

describe.each(DATABASES)("the journal in %s", (_, create) => {
  test("is read whole beside the service that writes it, page by page, in every state", async () => {
    const { database, open } = await create();
    const journal = await open();
    const identity = { genesisHash: "g", algorandAddress: "A" };
    await journal.claim(identity);
    await journal.rememberPayees([{ rail: "base", address: "0x" }]);
    await journal.appendKey({ type: "attestor-key", version: 1, kid: "k" } as never);
    const rows = new Map<string, Call>();
    await Promise.all(
      Array.from({ length: 450 }, async (_, i) => {
        let call = await journal.insert(aCall({ key: `key ${i}`, aliases: [`alias ${i}`], createdAt: i }));
        for (const event of GOOD_COURSE.slice(0, i % (GOOD_COURSE.length + 1))) {
          const own = { ...event } as { attempt?: object; txid?: string; bundle?: object };
          if (own.attempt) own.attempt = anAttempt(`ATTEST ${i}`);
          if (own.txid) own.txid = `ATTEST ${i}`;
          if (own.bundle) own.bundle = { id: `S${i}`, body: "{}" };
          call = afterCommit(call, own as typeof event);
          await journal.update(call);
        }
        rows.set(call.key, call);
      }),
    );

    await using reader = await openJournalReader(database);
    const read = await all(reader.calls());
    expect(read).toHaveLength(450);
    for (const call of read) expect(call).toEqual(rows.get(call.key));
    expect(await reader.identity()).toEqual(identity);
    expect(await reader.payees()).toEqual([{ rail: "base", address: "0x" }]);
    expect(await reader.keys()).toEqual([{ type: "attestor-key", version: 1, kid: "k" }]);

    const late = after(await journal.insert(aCall({ key: "late" })), { type: "settlement_begun" });
    await journal.update(late);
    expect((await all(reader.calls())).find(({ key }) => key === "late")).toEqual(late);
    await journal.close();
  });

  test("is read and pruned past a row that is damaged, whose readers are told which it is", async () => {
    const { database, open } = await create();
    const journal = await open();
    for (const key of ["a", "b", "c"]) await take(journal, aCall({ key, aliases: [], createdAt: 1 }), goodCourse(key));
    // One byte in the middle of what the middle one has packed.
    const flip = (column: string) =>
      database.kind === "sqlite"
        ? `UPDATE calls SET ${column} = CAST(substr(${column}, 1, 60) || x'00' || substr(${column}, 62) AS BLOB) WHERE key = 'b'`
        : `UPDATE calls SET ${column} = set_byte(${column}, 60, 0) WHERE key = 'b'`;
    await edit(database, flip("request"));
    const fault = expect.stringMatching(/^the row of b cannot be read: /);
    await using reader = await openJournalReader(database);
    const read = await all(reader.calls());
    expect(read).toMatchObject([
      { key: "a", state: "done" },
      { key: "b", fault },
      { key: "c", state: "done" },
    ]);
    await expect(journal.find("b")).rejects.toThrow(/the row of b cannot be read: /);
    expect(await journal.prune(100, 2)).toBe(2);
    expect(await journal.prune(100, 2)).toBe(2);
    expect(await journal.prune(100, 2)).toBe(0);
    expect((await journal.find("c"))?.payload).toBeUndefined();
    await journal.close();
  });

  test("has no identity before a service has begun it", async () => {
    const { database, open } = await create();
    await (await open()).close();
    await using reader = await openJournalReader(database);
    expect(await reader.schema()).toBe("current");
    expect(await reader.identity()).toBeUndefined();
    expect(await all(reader.calls())).toEqual([]);
  });
});

test("a brief look at a closed journal leaves no file beside it", async () => {
  const path = join(dir, "closed", "journal.db");
  await (await openJournal({ kind: "sqlite", path }, { warn: () => undefined })).close();
  const before = await readdir(join(dir, "closed"));
  await using reader = await openJournalReader({ kind: "sqlite", path }, { isBrief: true });
  expect([await reader.schema(), await reader.keys()]).toEqual(["current", []]);
  expect(await readdir(join(dir, "closed"))).toEqual(before);
});

test("the schema of a journal by another release is named", async () => {
  const path = join(dir, "releases.db");
  await (await openJournal({ kind: "sqlite", path }, { warn: () => undefined })).close();
  const states: string[] = [];
  for (const pragma of [
    "user_version = 0",
    `user_version = ${SCHEMA_VERSION}`,
    "user_version = 99",
    "application_id = 0",
  ]) {
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA ${pragma}`);
    db.close();
    await using reader = await openJournalReader({ kind: "sqlite", path });
    states.push(await reader.schema());
  }
  expect(states).toEqual(["absent", "current", "newer", "unreleased"]);
  expect(schemaState(1, 2)).toBe("older");
});

test("what a PostgreSQL user may do, and whether the server syncs, is read before a journal is there", async () => {
  const url = await postgres.database();
  await using reader = await openJournalReader({ kind: "postgres", url });
  expect(await reader.schema()).toBe("absent");
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE ROLE guest LOGIN PASSWORD 'guest'; REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  await client.end();
  const guest = Object.assign(new URL(url), { username: "guest", password: "guest" }).href;
  // The test's server runs with fsync=off.
  const name = expect.stringMatching(/^PostgreSQL 127\.0\.0\.1:\d+\/test_/);
  const owner = { name, mayCreate: true, mayWrite: true, isStandby: false, syncs: false };
  expect(await examineDatabase(url)).toEqual(owner);
  expect(await examineDatabase(guest)).toEqual({ ...owner, mayCreate: false });
  await (await openPostgresJournal(url)).close();
  expect(await examineDatabase(guest)).toEqual({ ...owner, mayCreate: false, mayWrite: false });
  const wrong = examineDatabase(Object.assign(new URL(url), { password: "hunter2" }).href);
  await expect(wrong).rejects.toThrow(/^PostgreSQL 127\.0\.0\.1:\d+\/test_\w+: password authentication failed/);
});

test("a missing journal is not made, and the error of a file that is no journal names it", async () => {
  const path = join(dir, "nowhere.db");
  await expect(openJournalReader({ kind: "sqlite", path })).rejects.toThrow("there is no such journal");
  await expect(openJournalReader({ kind: "sqlite", path })).rejects.toThrow("there is no such journal");
  await appendFile(path, "not a database, but long enough to be taken for one".repeat(100));
  await using reader = await openJournalReader({ kind: "sqlite", path });
  await expect(reader.keys()).rejects.toThrow(`${path}: file is not a database`);
});

test("the error of a PostgreSQL that cannot be read names no user and no password", async () => {
  const url = new URL(await postgres.database());
  url.username = "nobody";
  const error = await openJournalReader({ kind: "postgres", url: url.href }).catch((reason: Error) => reason);
  expect(String(error)).toContain("the journal in PostgreSQL cannot be read (28P01)");
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(new RegExp(`${PASSWORD}|nobody`));
});
