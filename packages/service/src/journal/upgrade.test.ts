import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { all } from "../../test/fakes/audit-reading.ts";
import { aCall, anAttempt } from "../../test/fakes/calls.ts";
import { sql, startPostgres, type TestPostgres } from "../../test/fakes/postgres.ts";
import { ANNOUNCEMENT, IDENTITY, KEYS, PAYEES, REVOCATION } from "../../test/journals/content.ts";
import { hasFixture, heldBy, journalOf } from "../../test/journals/fixtures.ts";
import { schemaTextOf as postgresSchemaText } from "../../test/journals/postgres-schema.ts";
import { isAtRest, isFinal, reduce } from "../calls/machine.ts";
import type { Config } from "../config/config.ts";
import { checkSaved, restoreJournal, savedName } from "./backup.ts";
import { openJournal, openJournalReader } from "./open.ts";
import { openPostgresJournal } from "./postgres/journal.ts";
import * as ofPostgres from "./postgres/schema.ts";
import { openSqliteJournal } from "./sqlite/journal.ts";
import * as ofSqlite from "./sqlite/schema.ts";

const VERSION = ofSqlite.MIGRATIONS_KNOWN;
const VERSIONS = Array.from({ length: VERSION }, (_, i) => i + 1);
const ADD =
  "The schema is another one than that of the journals in test/journals. Add a migration to each database, and make their journal by npm run journal:fixture.";

let dir: string;
let postgres: TestPostgres;
beforeAll(async () => {
  [dir, postgres] = await Promise.all([mkdtemp(join(tmpdir(), "attestd-upgrade-")), startPostgres()]);
});
afterAll(async () => {
  await Promise.all([postgres.close(), rm(dir, { recursive: true })]);
});

let places = 0;
/** A database without a journal. */
async function emptyDatabase(kind: "sqlite" | "postgres"): Promise<Config["database"]> {
  if (kind === "postgres") return { kind, url: await postgres.database() };
  return { kind, path: join(dir, `${++places}.sqlite`) };
}

async function schemaOf(database: Config["database"]): Promise<string[]> {
  if (database.kind === "sqlite") {
    const db = new DatabaseSync(database.path);
    const text = ofSqlite.schemaTextOf(db);
    db.close();
    return text;
  }
  const client = await connected(database.url);
  const text = await postgresSchemaText(client);
  await client.end();
  return text;
}

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

const log = { warn: () => undefined };

test("each schema version has a journal that the release of that version made", () => {
  expect(ofPostgres.MIGRATIONS_KNOWN, "both databases have the same number of migrations").toBe(VERSION);
  expect(
    VERSIONS.filter((version) => !hasFixture(version)),
    ADD,
  ).toEqual([]);
  expect(hasFixture(VERSION + 1), "a journal of a version that no migration leads to").toBe(false);
});

describe.each(["sqlite", "postgres"] as const)("a journal in %s", (kind) => {
  test("has the schema of its version's journal", async () => {
    const database = await emptyDatabase(kind);
    await (await openJournal(database, log)).close();
    expect(await schemaOf(database), ADD).toEqual(heldBy(VERSION).schema[kind]);
  });

  test.each(VERSIONS)("of version %i is restored, upgraded, read whole, and carried on", async (version) => {
    const database = await emptyDatabase(kind);
    const saved = join(dir, `${++places}-${savedName(kind)}`);
    await writeFile(saved, journalOf(version, kind === "sqlite" ? "sqlite" : "ndjson"));
    expect(await checkSaved(kind, saved)).toMatchObject({ schema: version, identity: IDENTITY, keys: KEYS.length });
    await restoreJournal(kind, saved, database);
    const { calls } = heldBy(version);

    const journal = await openJournal(database, log);
    expect(await schemaOf(database)).toEqual(heldBy(VERSION).schema[kind]);
    await using reader = await openJournalReader(database);
    expect(await reader.schema()).toBe("current");
    const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
    expect((await all(reader.calls())).toSorted(byKey)).toEqual(calls.toSorted(byKey));
    expect(await reader.identity()).toEqual(IDENTITY);
    expect(await journal.payees()).toEqual(PAYEES);
    expect(await journal.keys()).toEqual(KEYS);
    expect(await journal.revocations()).toEqual([REVOCATION]);
    expect(await journal.announced()).toEqual(ANNOUNCEMENT);

    const open = calls.filter((call) => !isAtRest(call));
    expect(await journal.lease(100)).toEqual(open);
    for (const call of calls) {
      for (const alias of call.aliases) expect(await journal.find(alias)).toEqual(call);
      if (call.refund !== undefined) expect(await journal.find(call.refund)).toEqual(call);
      if (call.bundle) expect(await journal.bundle(call.bundle.id)).toBe(call.bundle.body);
      expect(await journal.insert(aCall({ key: `another of ${call.key}`, aliases: call.aliases }))).toEqual(call);
    }
    for (const call of open.filter(({ state }) => state === "paid")) {
      const signed = reduce(call, { type: "attestation_signed", attempt: anAttempt(`LATER ${call.key}`) });
      await journal.update(signed);
      expect(await journal.find(call.key)).toEqual(signed);
    }
    for (const call of open.filter(({ state }) => isFinal(state))) {
      const rested = reduce(call, { type: "payment_seen_again", proof: { ...call.proof, final: true } as never });
      await journal.update(rested);
      expect(await journal.find(call.key)).toEqual(rested);
    }
    const added = await journal.insert(aCall({ key: "added" }));
    await journal.close();
    const again = await openJournal(database, log);
    expect(await again.find("added")).toEqual(added);
    await again.close();
  });
});

test.each(["sqlite", "postgres"] as const)("evidence that version 4 kept in %s reads the same", async (kind) => {
  const database = await emptyDatabase(kind);
  const saved = join(dir, `${++places}-${savedName(kind)}`);
  await writeFile(saved, journalOf(4, kind === "sqlite" ? "sqlite" : "ndjson"));
  await restoreJournal(kind, saved, database);
  const { key, bundle } = heldBy(4).calls.find((call) => call.bundle) ?? expect.fail("no call is delivered");
  const [message, checkpoint, inclusion] = [{ lastAttestedRound: 16 }, { round: 8 }, { headerBase64: "aA==" }];
  const siblings = ["cw==", "dA=="];
  const item = { type: "algorand-state-proof/1", siblings, message, stateProofSha256: "p", checkpoint };
  const json = (value: object) => `'${JSON.stringify(value)}'`;
  const content = kind === "sqlite" ? "x'01'" : "'\\x01'";
  const rows = `
    INSERT INTO state_proofs (sha256, first_round, last_round, message, checkpoint, content)
      VALUES ('p', 9, 16, ${json(message)}, ${json(checkpoint)}, ${content});
    UPDATE ledger_evidence SET state = 'whole', round = 9, inclusion = ${json(inclusion)}, state_proof = ${json(item)},
      state_proof_sha256 = 'p' WHERE key = '${key}';
    INSERT INTO source_evidence (id, key, round, block_hash, state, due, header, siblings, state_proof_sha256)
      VALUES ('S', '${key}', 9, 'B', 'whole', 0, ${json(inclusion)}, ${json(siblings)}, 'p')`;
  if (database.kind === "postgres") await sql(database.url, rows);
  else {
    const db = new DatabaseSync(database.path);
    db.exec(rows);
    db.close();
  }

  const journal = await openJournal(database, log);
  const stake = { sha256: "p", siblings, message, checkpoint };
  const whole = { bundleId: bundle?.id, state: "whole", round: 9, inclusion, stake };
  expect(await journal.evidence(bundle?.id ?? "")).toEqual(whole);
  expect(await journal.source("S")).toEqual({ state: "whole", round: 9, header: inclusion, stake });
  await journal.close();
});

/** A release to come: its migrations, of which the last one may change anything. */
const LATER = {
  sqlite: [...ofSqlite.MIGRATIONS, "DROP TABLE payees"],
  postgres: [...ofPostgres.MIGRATIONS, "DROP TABLE payees"],
};
const LATER_WROTE = "a later release of attestd has written this journal: run that release, or a later one";

test("an SQLite journal that a later release has upgraded is refused, and keeps every byte", async () => {
  const database = await emptyDatabase("sqlite");
  const { path } = database as { path: string };
  await (await openSqliteJournal(path)).close();
  const db = new DatabaseSync(path);
  ofSqlite.migrate(db, LATER.sqlite);
  db.close();
  const before = await schemaOf(database);
  await expect(openSqliteJournal(path)).rejects.toThrow(`${path}: ${LATER_WROTE}`);
  expect(await schemaOf(database)).toEqual(before);
});

test("a migration that fails leaves an SQLite journal as it was", async () => {
  const database = await emptyDatabase("sqlite");
  const { path } = database as { path: string };
  await (await openSqliteJournal(path)).close();
  const db = new DatabaseSync(path);
  const broken = [...ofSqlite.MIGRATIONS, "DROP TABLE payees; DROP TABLE nowhere"];
  expect(() => ofSqlite.migrate(db, broken)).toThrow("no such table: nowhere");
  expect(ofSqlite.versionOf(db)).toBe(VERSION);
  db.close();
  const journal = await openSqliteJournal(path);
  expect(await journal.payees()).toEqual([]);
  await journal.close();
});

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
