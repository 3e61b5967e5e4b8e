import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { Client } from "pg";
import { temporaryFolder } from "../../../../test/helpers/temporary-folder.ts";
import { saveJournal } from "../../src/journal/backup.ts";
import { openJournal } from "../../src/journal/open.ts";
import { MIGRATIONS_KNOWN as POSTGRES_VERSION } from "../../src/journal/postgres/schema.ts";
import { schemaTextOf, MIGRATIONS_KNOWN as VERSION } from "../../src/journal/sqlite/schema.ts";
import { startPostgres } from "../fakes/postgres.ts";
import { fill } from "./content.ts";
import { fixtureFile, hasFixture, textOf } from "./fixtures.ts";
import { schemaTextOf as postgresText } from "./postgres-schema.ts";

/*
 * npm run journal:fixture
 *
 * Writes the journal of the present schema version, which every later release is tested to upgrade. Run it once, in the
 * commit that adds a migration; a version's journal is never made again.
 */

if (VERSION !== POSTGRES_VERSION) throw new Error("SQLite and PostgreSQL have another number of migrations: add both");
if (hasFixture(VERSION)) throw new Error(`the journal of version ${VERSION} is made already: add a migration first`);

await using folder = await temporaryFolder();
const postgres = await startPostgres();
try {
  const path = join(folder.path, "journal.sqlite");
  const url = await postgres.database();
  const log = { warn: () => undefined };

  const inFile = await openJournal({ kind: "sqlite", path }, log);
  const calls = await fill(inFile);
  await inFile.close();
  await saveJournal({ kind: "sqlite", path }, join(folder.path, "saved.sqlite"));
  const db = new DatabaseSync(path);
  const sqlite = schemaTextOf(db);
  db.close();

  const onServer = await openJournal({ kind: "postgres", url }, log);
  await fill(onServer);
  await onServer.close();
  await saveJournal({ kind: "postgres", url }, join(folder.path, "saved.ndjson"));
  const client = new Client({ connectionString: url });
  await client.connect();
  const text = await postgresText(client);
  await client.end();

  for (const kind of ["sqlite", "ndjson"] as const)
    await writeFile(
      fixtureFile(VERSION, `${kind}.zst`),
      zstdCompressSync(await readFile(join(folder.path, `saved.${kind}`))),
    );
  await writeFile(fixtureFile(VERSION, "json"), textOf({ schema: { sqlite, postgres: text }, calls }));
  console.log(`wrote ${fixtureFile(VERSION, "json")} and its journals`);
} finally {
  await postgres.close();
}
