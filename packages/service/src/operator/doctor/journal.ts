import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Config } from "../../config/config.ts";
import { away, type Finding, fail, ok, warning } from "../../health/finding.ts";
import { openJournalReader, requireOwner } from "../../journal/open.ts";
import { type JournalReader, REFUSED } from "../../journal/reader.ts";
import { hasCode } from "../../lib/errors.ts";
import type { Check, Examined } from "./examined.ts";

/**
 * Checks the journal: whether it can be reached and written, its release and owner, and the remaining space. Creates
 * nothing.
 */
export const checkJournal: Check = async (examined) => {
  const { database } = examined.config;
  if (database.kind === "postgres") return checkPostgres(examined, database.url);
  const path = resolve(database.path);
  const found = await stat(path).catch(absent);
  const folder = dirname(path);
  if (!found) return [await checkFolder(path, folder), ...(await checkRoom(examined, folder))];
  if (!found.isFile()) return [fail(`journal.url: ${path} is not a file. Name the journal's file.`)];
  const rights = await Promise.all([mayWrite(path), mayWrite(folder)]);
  if (rights.includes(false)) {
    const who = `this user (${process.getuid?.() ?? "unknown"})`;
    return [fail(`journal.url: ${path} cannot be written by ${who}. Give its folder to the service's user.`)];
  }
  return [await checkContent(examined, path), ...(await checkRoom(examined, folder))];
};

/** Checks the place of a journal that does not exist yet: the service creates it, and at most its folder. */
async function checkFolder(path: string, folder: string): Promise<Finding> {
  const existing = (await stat(folder).catch(absent)) ? folder : dirname(folder);
  const stats = await stat(existing).catch(absent);
  if (!stats?.isDirectory())
    return fail(`journal.url: there is no folder ${existing}. Make it for the service's user.`);
  if (!(await mayWrite(existing)))
    return fail(`journal.url: the folder ${existing} cannot be written by this user. Give it to the service's user.`);
  return missing(path);
}

async function checkContent(examined: Examined, name: string): Promise<Finding> {
  try {
    return (await readJournal(examined.config, (reader) => readContent(reader, examined, name))) ?? missing(name);
  } catch (error) {
    if (hasCode(error, "config_invalid"))
      return fail(`${error.message} Name the journal that belongs to these settings.`);
    return fail(`journal.url: ${(error as Error).message}. Check the database, or restore the backup.`);
  }
}

async function readContent(reader: JournalReader, { ledger }: Examined, name: string): Promise<Finding> {
  const schema = await reader.schema();
  if (schema === "absent") return missing(name);
  const refusal = REFUSED[schema];
  if (refusal !== undefined) return fail(`journal.url: ${name}: ${refusal}.`);
  const identity = await reader.identity();
  if (!identity) return missing(name);
  requireOwner(identity, { genesisHash: ledger.genesisHash, algorandAddress: ledger.address });
  const keys = (await reader.keys()).length;
  const upgraded = schema === "older" ? ", and is upgraded at the next start (docs/upgrading.md)" : "";
  return ok(`journal.url: ${name} is this ledger's journal, with ${keys} ${keys === 1 ? "key" : "keys"}${upgraded}.`);
}

function missing(name: string): Finding {
  const remedy = "The first start begins it. If you have sold before, name its database, or restore the backup";
  return warning(`journal.url: there is no journal in ${name} yet. ${remedy}.`);
}

async function checkRoom({ config }: Examined, folder: string): Promise<Finding[]> {
  const existing = (await stat(folder).catch(absent)) ? folder : dirname(folder);
  if (!(await stat(existing).catch(absent))) return [];
  const { bavail, bsize } = await statfs(existing, { bigint: true });
  const [free, reserve] = [(bavail * bsize) >> 20n, config.diskReserve >> 20n];
  if (free >= reserve) return [];
  const remedy = "Make room, or nothing is sold";
  return [
    fail(
      `journal.disk_reserve_mib: ${free} MiB are free for the journal, less than the ${reserve} of the reserve. ${remedy}.`,
    ),
  ];
}

async function checkPostgres(examined: Examined, url: string): Promise<Finding[]> {
  const { examineDatabase } = await import("../../journal/postgres/examination.ts");
  const found = await examineDatabase(url).catch((error: Error) => error);
  if (found instanceof Error) return [away(`journal.url: ${found.message}. Check server, name and password.`)];
  const { name } = found;
  const faults: [isFault: boolean, message: string][] = [
    [!found.mayCreate, `the user may not create tables in ${name}. Grant CREATE on its schema.`],
    [!found.mayWrite, `the user may not write the tables in ${name}. Grant INSERT, UPDATE and DELETE.`],
    [found.isStandby, `${name} is a standby, which takes no writes. Name the primary.`],
    [!found.syncs, `${name} runs with fsync=off, and may forget payments. Switch it on.`],
  ];
  const findings = faults.flatMap(([isFault, message]) => (isFault ? [fail(`journal.url: ${message}`)] : []));
  return [...findings, await checkContent(examined, name)];
}

/** Reads the journal, even while another process has it open. @returns undefined when there is no file */
export async function readJournal<T>(
  { database }: Pick<Config, "database">,
  read: (reader: JournalReader) => Promise<T>,
): Promise<T | undefined> {
  if (database.kind === "sqlite" && !(await stat(database.path).catch(absent))) return undefined;
  await using reader = await openJournalReader(database, { isBrief: true });
  return await read(reader);
}

function mayWrite(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
