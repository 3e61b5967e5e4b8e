import { constants, existsSync, realpathSync } from "node:fs";
import { chmod, copyFile, mkdir, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { CallState } from "../../calls/call.ts";
import { checkDictionary, type Dictionary, noDictionary } from "../packing.ts";
import { REFUSED, type SavedJournal, schemaState } from "../reader.ts";
import { sqliteCommands } from "./commands.ts";
import { lockJournal } from "./lock.ts";
import { makeFile } from "./private-files.ts";
import { hasSchema, SCHEMA_VERSION, VERSIONS, versionOf } from "./schema.ts";

/** The dictionary of something packed that is not there. */
const UNREAD = `
  SELECT hash FROM (
    SELECT substr(request, 1, 32) AS hash FROM calls UNION ALL
    SELECT substr(delivered, 1, 32) FROM calls WHERE delivered IS NOT NULL UNION ALL
    SELECT substr(content, 1, 32) FROM bundle_parts
  ) WHERE hash NOT IN (SELECT hash FROM dictionaries) LIMIT 1`;

/** `VACUUM INTO` copies what one read transaction sees: WAL lets the service commit meanwhile. The copy is marked as one. */
export async function copySqlite(from: string, to: string): Promise<void> {
  if (!existsSync(from)) throw new Error(`${from}: there is no such journal`);
  const db = new DatabaseSync(from, { readOnly: true });
  try {
    db.prepare("VACUUM INTO ?").run(to);
  } catch (error) {
    throw new Error(`${from}: ${(error as Error).message}`);
  } finally {
    db.close();
  }
  const copy = new DatabaseSync(to);
  sqliteCommands(copy).markCopied();
  copy.close();
  await chmod(to, 0o600);
  await syncToDisk(to);
}

/** @throws Error when SQLite finds damage, or it is of a later release, or from before the first */
export function checkSqliteCopy(file: string): SavedJournal {
  const url = pathToFileURL(file);
  // Makes no files beside it, which would be none of the backup's.
  url.searchParams.set("immutable", "1");
  using db = new DatabaseSync(url, { readOnly: true });
  try {
    const damage = db.prepare("PRAGMA integrity_check(1)").get() as { integrity_check: string };
    if (damage.integrity_check !== "ok") throw new Error(damage.integrity_check);
    const broken = db.prepare("PRAGMA foreign_key_check").get();
    if (broken) throw new Error(`rows of ${String(broken.table)} refer to nothing`);
    const schema = versionOf(db);
    const refusal = REFUSED[schemaState(schema, SCHEMA_VERSION)];
    if (refusal !== undefined) throw new Error(refusal);
    if (!hasSchema(db, VERSIONS.slice(0, schema)))
      throw new Error(`its tables are not those of a journal of schema ${schema}`);
    for (const row of db.prepare("SELECT hash, content FROM dictionaries").iterate())
      checkDictionary(row as Dictionary);
    const unread = db.prepare(UNREAD).get();
    if (unread) throw noDictionary((unread.hash as Uint8Array).toHex());
    const { identity, keys } = sqliteCommands(db);
    const owner = identity();
    if (!owner) throw new Error("no service has begun this journal");
    const states = db.prepare("SELECT state, count(*) AS calls FROM calls GROUP BY state").all();
    const calls = Object.fromEntries(states.map(({ state, calls }) => [state as CallState, Number(calls)]));
    return { schema, identity: owner, calls, keys: keys().length };
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}

/** The whole file appears at once: a crash leaves no half of a journal where a service would open it. */
export async function restoreSqlite(file: string, path: string): Promise<void> {
  const there = [path, `${path}-wal`, `${path}-journal`].find(existsSync);
  if (there !== undefined) throw new Error(`${there} is there already: move it away, and keep it for the audit`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  using _lock = lockOf(path);
  const draft = `${path}.restoring`;
  await unlink(draft).catch(() => undefined);
  await copyFile(file, draft, constants.COPYFILE_EXCL);
  await chmod(draft, 0o600);
  await syncToDisk(draft);
  await rename(draft, path);
  await syncToDisk(dirname(path));
}

/** A service whose journal was moved away goes on writing to it. @throws Error when one is there */
function lockOf(path: string): DatabaseSync {
  const file = join(realpathSync(dirname(path)), basename(path));
  try {
    makeFile(`${file}.lock`);
    return lockJournal(file);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(message.includes("locked") ? `${path}: a service has this journal open: stop it first` : message);
  }
}

/** Makes what was written to a file or a folder outlast a loss of power. */
export async function syncToDisk(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}
