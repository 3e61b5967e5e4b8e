import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aCall } from "../../test/fakes/calls.ts";
import { sql, startPostgres, type TestPostgres } from "../../test/fakes/postgres.ts";
import { reduce } from "../calls/machine.ts";
import { openPostgresJournal } from "./postgres/journal.ts";
import * as ofPostgres from "./postgres/schema.ts";
import { openSqliteJournal } from "./sqlite/journal.ts";
import { openSqliteReader } from "./sqlite/reader.ts";
import * as ofSqlite from "./sqlite/schema.ts";

/** A schema to come, whose last version may change anything. */
const LATER = {
  sqlite: [...ofSqlite.VERSIONS, "DROP TABLE payees"],
  postgres: [...ofPostgres.VERSIONS, "DROP TABLE payees"],
};
const LATER_WROTE = "a later release of attestd has written this journal: run that release, or a later one";
const OLD_FORM = "it was made by an attestd from before its first release, in another form: start with a new journal";

let dir: string;
let postgres: TestPostgres;
beforeAll(async () => {
  [dir, postgres] = await Promise.all([mkdtemp(join(tmpdir(), "attestd-schema-")), startPostgres()]);
});
afterAll(async () => {
  await Promise.all([postgres.close(), rm(dir, { recursive: true })]);
});

let places = 0;
const newPath = () => join(dir, `${++places}.sqlite`);

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

test("both databases have the same versions of the schema", () => {
  expect(ofPostgres.VERSIONS).toHaveLength(ofSqlite.SCHEMA_VERSION);
});

test("an SQLite journal is brought to a later version, which this release then refuses, and keeps every byte", async () => {
  const path = newPath();
  await (await openSqliteJournal(path)).close();
  const db = new DatabaseSync(path);
  ofSqlite.migrate(db, LATER.sqlite);
  const before = ofSqlite.schemaTextOf(db);
  expect(before.join()).not.toContain("payees");
  db.close();
  await expect(openSqliteJournal(path)).rejects.toThrow(`${path}: ${LATER_WROTE}`);
  const again = new DatabaseSync(path);
  expect([ofSqlite.schemaTextOf(again), ofSqlite.versionOf(again)]).toEqual([before, LATER.sqlite.length]);
  again.close();
});

test("a change of the schema that fails leaves an SQLite journal as it was", async () => {
  const path = newPath();
  await (await openSqliteJournal(path)).close();
  const db = new DatabaseSync(path);
  const broken = [...ofSqlite.VERSIONS, "DROP TABLE payees; DROP TABLE nowhere"];
  expect(() => ofSqlite.migrate(db, broken)).toThrow("no such table: nowhere");
  expect(ofSqlite.versionOf(db)).toBe(ofSqlite.SCHEMA_VERSION);
  db.close();
  const journal = await openSqliteJournal(path);
  expect(await journal.payees()).toEqual([]);
  await journal.close();
});

test.each([1, 5])(
  "an SQLite journal of version %i from before the first release is refused by name",
  async (version) => {
    const path = newPath();
    const db = new DatabaseSync(path);
    db.exec(`CREATE TABLE calls (key TEXT PRIMARY KEY); PRAGMA user_version = ${version}`);
    db.close();
    await expect(openSqliteJournal(path)).rejects.toThrow(`${path}: ${OLD_FORM}`);
  },
);

test("an SQLite journal of this version whose tables have another form is refused by name, and keeps every byte", async () => {
  const path = newPath();
  const db = new DatabaseSync(path);
  const [schema = ""] = ofSqlite.VERSIONS;
  ofSqlite.migrate(db, [schema.replace("payload_sha256 TEXT NOT NULL,", "")]);
  const before = ofSqlite.schemaTextOf(db);
  await expect(openSqliteJournal(path)).rejects.toThrow(`${path}: ${OLD_FORM}`);
  await using reader = await openSqliteReader(path);
  expect(await reader.schema()).toBe("unreleased");
  expect(ofSqlite.schemaTextOf(db)).toEqual(before);
  db.close();
});

test("a PostgreSQL journal of this version whose tables have another form is refused by name, at every session", async () => {
  const url = await postgres.database();
  const client = await connected(url);
  const [schema = ""] = ofPostgres.VERSIONS;
  await ofPostgres.migrate(client, [schema.replace("payload_sha256 text NOT NULL,", "")]);
  await expect(openPostgresJournal(url)).rejects.toThrow(OLD_FORM);
  await expect(ofPostgres.holdSchema(client)).rejects.toThrow(OLD_FORM);
  // Those of today's first form did not say which.
  await client.query("ALTER TABLE schema_versions DROP COLUMN form");
  await expect(openPostgresJournal(url)).rejects.toThrow(OLD_FORM);
  await client.end();
});

test.each([1, 5])(
  "a PostgreSQL journal of version %i from before the first release is refused by name",
  async (version) => {
    const url = await postgres.database();
    await sql(url, `CREATE TABLE migrations (version integer); INSERT INTO migrations VALUES (${version})`);
    await expect(openPostgresJournal(url)).rejects.toThrow(OLD_FORM);
    expect(await sql(url, "SELECT to_regclass('calls') AS calls")).toEqual([{ calls: null }]);
  },
);

test("a later release does not upgrade PostgreSQL under a replica that runs, and does once it has stopped", async () => {
  const url = await postgres.database();
  const replica = await openPostgresJournal(url);
  const call = await replica.insert(aCall());
  const later = await connected(url);
  await expect(ofPostgres.migrate(later, LATER.postgres)).rejects.toThrow("stop them all, then start this release");
  expect(await replica.find(call.key)).toEqual(call);
  await replica.update(reduce(call, { type: "settlement_begun" }));
  // Replicas of the same version come and go meanwhile.
  const second = await openPostgresJournal(url);
  await Promise.all([replica.close(), second.close()]);
  await ofPostgres.migrate(later, LATER.postgres);
  await later.end();
  await expect(openPostgresJournal(url)).rejects.toThrow(LATER_WROTE);
});

test("a replica that was cut off while a later release upgraded PostgreSQL reads and writes nothing more", async () => {
  const url = await postgres.database();
  const replica = await openPostgresJournal(url);
  const call = await replica.insert(aCall());
  // The server ends the sessions of a replica that it cannot reach; the replica knows nothing of it.
  const cut =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'attestd' AND datname = current_database()";
  await sql(url, cut);
  const later = await connected(url);
  await ofPostgres.migrate(later, LATER.postgres);
  const before = await sql(url, "SELECT * FROM calls");
  // A connection that broke may be noticed by the first statement on it alone.
  await Promise.allSettled([replica.find(call.key), replica.insert(aCall({ key: "lost" }))]);
  const attempts = [
    () => replica.find(call.key),
    () => replica.open(),
    () => replica.insert(aCall({ key: "another" })),
    () => replica.update(reduce(call, { type: "settlement_begun" })),
    () => replica.expect(["name"]),
    () => replica.lease(1),
    () => replica.renew(),
  ];
  for (const attempt of attempts) await expect(attempt()).rejects.toThrow(LATER_WROTE);
  expect(await sql(url, "SELECT * FROM calls")).toEqual(before);
  await replica.close();
  await later.end();
});
