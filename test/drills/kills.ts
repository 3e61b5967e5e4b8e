import { existsSync, watch } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type BackupManifest, checkBackup } from "@attestd/service/operator";
import type { Call } from "../../packages/service/src/calls/call.ts";
import { readConfig } from "../../packages/service/src/config/config.ts";
import { openJournal, openJournalReader } from "../../packages/service/src/journal/open.ts";
import { ownTables } from "../../packages/service/src/payment/rails/registry.ts";
import { aCall, aLargeEvidence, goodCourse, take } from "../../packages/service/test/fakes/calls.ts";
import { beginJournal, offlineSettings } from "../../packages/service/test/fakes/offline-deployment.ts";
import { sql } from "../../packages/service/test/fakes/postgres.ts";
import { type Settings, settingsFileOf } from "../../packages/service/test/settings.ts";
import type { Databases, JournalKind } from "../crash/databases.ts";
import { type Running, start } from "../helpers/command.ts";

/*
 * Backups and restores whose process gets SIGKILL. Each function returns what was wrong: nothing, when it held.
 */

/** A deployment with a journal, and a folder of its own. */
export type Place = { kind: JournalKind; databases: Databases; folder: string; settings: Settings; file: string };

/** @param more calls in the journal, each with 100 KB */
export async function newPlace(kind: JournalKind, databases: Databases, folder: string, more: number): Promise<Place> {
  const settings = offlineSettings(await databases.create(kind));
  await beginJournal(settings, more);
  return { kind, databases, folder, settings, file: settingsFileOf(settings.tables) };
}

/** When a process is killed: some ms after it has begun to write, or after its start. */
export type Moment = { after: "start" | "write"; ms: number };

/** Kills a backup, looks at what it has left, and makes the backup again in the same place. */
export async function killBackup({ folder, file }: Place, moment: Moment): Promise<{ wrong: string[]; was: string }> {
  const to = join(folder, "saved");
  await rm(to, { recursive: true, force: true });
  const process = start(["backup", "--to", to, "--settings", file], { cwd: folder });
  await killed(process, moment, folder, (name) => name === "saved.unfinished");
  const wrong: string[] = [];
  const was = existsSync(to) ? "whole" : existsSync(`${to}.unfinished`) ? "unfinished" : "not begun";
  if (was === "whole") await checkBackup(to).catch((error: Error) => wrong.push(`it stands, and ${error.message}`));
  if (was === "unfinished" && (await checkBackup(`${to}.unfinished`).catch(() => undefined)))
    if (!(await hasManifest(`${to}.unfinished`))) wrong.push("an unfinished backup was taken for a whole one");
  if (was !== "whole") {
    const { code, stderr } = await start(["backup", "--to", to, "--settings", file], { cwd: folder }).ended;
    if (code !== 0) wrong.push(`it could not be made again: ${stderr}`);
    await checkBackup(to).catch((error: Error) => wrong.push(`made again, ${error.message}`));
    if (existsSync(`${to}.unfinished`)) wrong.push("the unfinished one is still there");
  }
  return { wrong, was };
}

/** The manifest is written last: with it a backup is whole, whatever its folder is called. */
async function hasManifest(folder: string): Promise<boolean> {
  return (await readdir(folder)).includes("manifest.json");
}

/** Kills a restore, looks at what it has left where a service would open a journal, and restores again. */
export async function killRestore(
  place: Place,
  from: string,
  moment: Moment,
): Promise<{ wrong: string[]; was: string }> {
  const { kind, databases, folder } = place;
  const databaseUrl = await databases.create(kind);
  const own = settingsFileOf(offlineSettings(databaseUrl).tables);
  const manifest = await checkBackup(from);
  const run = () => start(["restore", from, "--settings", own], { cwd: folder });
  const file = kind === "sqlite" ? databaseUrl.slice("sqlite:".length) : undefined;
  await killed(run(), moment, file ? dirname(file) : folder, (name) => file?.endsWith(name.replace(".restoring", "")));
  const wrong: string[] = [];
  const was = (await isThere(databaseUrl, file)) ? "whole" : "nothing";
  const { code, stderr } = await run().ended;
  if (was === "nothing" && code !== 0) wrong.push(`it could not be restored again: ${stderr}`);
  if (was === "whole" && !/is there already|has a journal already/.test(stderr))
    wrong.push(`over a journal: ${stderr}`);
  // Saved from where it was restored to, it holds what the backup held.
  const again = join(folder, "again");
  await rm(again, { recursive: true, force: true });
  const saved = await start(["backup", "--to", again, "--json", "--settings", own], { cwd: folder }).ended;
  if (saved.code !== 0) wrong.push(`what was restored cannot be saved: ${saved.stderr}`);
  else {
    const { journal, files } = JSON.parse(saved.stdout) as BackupManifest;
    if (JSON.stringify(journal) !== JSON.stringify(manifest.journal)) wrong.push("it holds something else");
    // A dump of PostgreSQL has the same bytes whenever its rows are the same.
    if (kind === "postgres" && files[0]?.sha256 !== manifest.files[0]?.sha256) wrong.push("a row is another");
  }
  return { wrong, was };
}

/** Calls of `killPrune`, each of which takes some 2 ms. */
const DELIVERED = 150;

/** Kills `attestd prune`, looks at what it has left of each call, and runs it again. */
export async function killPrune(place: Pick<Place, "kind" | "databases" | "folder">, moment: Moment) {
  const { settings, file } = await newPlace(place.kind, place.databases, place.folder, 0);
  const { database } = readConfig(settings, { sandbox: false, own: ownTables() });
  const journal = await openJournal(database, { warn: () => undefined });
  const calls: Call[] = [];
  for (let i = 0; i < DELIVERED; i++)
    calls.push(
      await take(journal, aCall({ key: `delivered ${i}`, evidence: aLargeEvidence(`${i}`) }), goodCourse(`${i}`)),
    );
  await journal.close();
  const run = () => start(["prune", "--days", "1", "--json", "--settings", file], { cwd: place.folder });
  await killed(run(), moment, place.folder, () => false);
  const wrong: string[] = [];
  const pruned = await countPruned();
  const was = pruned === 0 ? "nothing pruned" : pruned < DELIVERED ? "some pruned" : "all pruned";
  const { code, stderr } = await run().ended;
  if (code !== 0) wrong.push(`it could not be run again: ${stderr}`);
  if ((await countPruned()) !== DELIVERED) wrong.push("some were not pruned");
  return { wrong, was };

  /** Reads every call. @returns how many are pruned */
  async function countPruned(): Promise<number> {
    const byKey = new Map(calls.map((call) => [call.key, call]));
    let pruned = 0;
    await using reader = await openJournalReader(database);
    for await (const found of reader.calls()) {
      const call = byKey.get(found.key);
      if (!call || "fault" in found) continue;
      byKey.delete(found.key);
      const isPruned = found.payload === undefined;
      pruned += Number(isPruned);
      const isWhole = isDeepStrictEqual(found, call);
      const isLeft = found.bundle?.body === call.bundle?.body && found.receipt === call.receipt && !found.evidence;
      if (!(isPruned ? isLeft : isWhole)) wrong.push(`${found.key} is neither whole nor pruned`);
    }
    for (const key of byKey.keys()) wrong.push(`${key} is lost`);
    return pruned;
  }
}

/** Whether a service would find a journal, of which it would read every row. */
async function isThere(databaseUrl: string, file: string | undefined): Promise<boolean> {
  if (file !== undefined) return existsSync(file);
  const [row] = await sql(databaseUrl, "SELECT to_regclass('calls') IS NOT NULL AS found");
  return row?.found === true;
}

/** @param begins whether a file that appears in the folder shows that the process writes */
async function killed(
  process: Running,
  { after, ms }: Moment,
  folder: string,
  begins: (name: string) => boolean | undefined,
): Promise<void> {
  const writes = Promise.withResolvers<void>();
  const watcher = watch(folder, (_, name) => {
    if (name !== null && begins(name)) writes.resolve();
  });
  if (after === "write") await Promise.race([writes.promise, process.ended]);
  await Promise.race([sleep(ms), process.ended]);
  watcher.close();
  process.kill("SIGKILL");
  await process.ended;
}
