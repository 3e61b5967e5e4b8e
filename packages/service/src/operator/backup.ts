import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { VERSION } from "../catalogue/about.ts";
import { readConfig, type Settings } from "../config/config.ts";
import { publicSettings } from "../config/print.ts";
import { checkSaved, restoreJournal, savedName, saveJournal } from "../journal/backup.ts";
import { requireOwner } from "../journal/open.ts";
import { syncToDisk } from "../journal/sqlite/backup.ts";
import { ServiceError } from "../lib/errors.ts";
import { openRegularFile, readRegularFile } from "../lib/regular-file.ts";
import { ownTables } from "../payment/rails/registry.ts";
import { type OperatorOptions, openSession } from "./session.ts";

const Saved = z.strictObject({ name: z.string(), bytes: z.int().nonnegative(), sha256: z.string() });

/** `manifest.json` of a backup. It is written last: a folder without it is not a backup. */
const Manifest = z.strictObject({
  format: z.literal("attestd.backup/1"),
  /** RFC 3339. The journal's state is from this moment or a little later. */
  madeAt: z.string(),
  /** The version of attestd that made it. */
  version: z.string(),
  database: z.enum(["sqlite", "postgres"]),
  journal: z.strictObject({
    schema: z.int().positive(),
    identity: z.strictObject({ genesisHash: z.string(), algorandAddress: z.string() }),
    calls: z.record(z.string(), z.int().positive()),
    keys: z.int().positive(),
  }),
  files: z.array(Saved),
  /** SHA-256, hex, of this file's text with an empty `digest`. */
  digest: z.string(),
});

export type BackupManifest = z.infer<typeof Manifest>;

const MANIFEST = "manifest.json";
/** The key history, as the service publishes it. */
const KEYS = "keys.json";
/** The settings, without those that may contain a secret. */
const SETTINGS = "settings.json";
/** The limit of a manifest, in bytes: ours have two thousand. */
const MAX_MANIFEST = 64 * 1024;

/**
 * Saves journal, key history and settings to a new folder, while services run. It contains no secret: the attestor's
 * seeds are kept elsewhere.
 * @param to MUST NOT exist yet. It appears complete or not at all: a crash leaves another folder, which is not a backup
 * @throws argument_invalid when it exists; Error when the journal cannot be read or the folder written
 */
export async function backUp(settings: Settings, to: string, options: OperatorOptions): Promise<BackupManifest> {
  const folder = resolve(to);
  if (existsSync(folder)) throw new ServiceError("argument_invalid", `${to} exists: name a new folder.`);
  await using session = await openSession(settings, options, { mayBeOlder: true });
  const { database } = session.config;
  const draft = `${folder}.unfinished`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const madeAt = new Date().toISOString();
  const journal = join(draft, savedName(database.kind));
  await saveJournal(database, journal);
  await writeJson(join(draft, KEYS), session.history);
  await writeJson(join(draft, SETTINGS), publicSettings(settings, ownTables()));
  const manifest = sealed({
    format: "attestd.backup/1",
    madeAt,
    version: VERSION,
    database: database.kind,
    journal: await checkSaved(database.kind, journal),
    files: await Promise.all(namesIn(database.kind).map((name) => described(draft, name))),
  });
  await writeJson(join(draft, MANIFEST), manifest);
  await syncToDisk(draft);
  await rename(draft, folder);
  await syncToDisk(dirname(folder));
  return manifest;
}

/**
 * Checks that a backup is complete: every file matches its manifest, and the journal can be read to its last row.
 * @throws argument_invalid when it is not a backup; not_allowed when it is damaged, with the file
 */
export async function checkBackup(from: string): Promise<BackupManifest> {
  const manifest = await readManifest(from);
  const names = namesIn(manifest.database);
  if (manifest.files.map(({ name }) => name).join() !== names.join())
    throw new ServiceError("not_allowed", `The manifest of ${from} lists other files than ${names.join(", ")}.`);
  const others = (await readdir(from)).filter((name) => name !== MANIFEST && !names.includes(name));
  if (others.length > 0)
    throw new ServiceError("not_allowed", `${from} has files that were not saved: ${others.slice(0, 3).join(", ")}.`);
  for (const file of manifest.files) {
    const path = join(from, file.name);
    const found = await described(from, file.name, file.bytes).catch(() => undefined);
    if (found?.sha256 !== file.sha256) throw new ServiceError("not_allowed", `${path} has changed since it was saved.`);
  }
  const saved = await checkSaved(manifest.database, join(from, savedName(manifest.database)));
  if (!isDeepStrictEqual(saved, manifest.journal))
    throw new ServiceError("not_allowed", `${from} has another journal than its manifest says.`);
  return manifest;
}

/**
 * Restores a backup's journal to where the settings have none yet. The calls that began after the backup are missing:
 * an audit lists their payments.
 * @throws as `checkBackup`; config_invalid when the backup belongs to another ledger; Error when the database has a
 *   journal
 */
export async function restoreBackup(
  settings: Settings,
  from: string,
  { sandbox }: OperatorOptions,
): Promise<BackupManifest> {
  const { database, algorand } = readConfig(settings, { sandbox, own: ownTables() });
  const manifest = await checkBackup(from);
  requireOwner(manifest.journal.identity, { genesisHash: algorand.genesisHash });
  await restoreJournal(manifest.database, join(from, savedName(manifest.database)), database);
  return manifest;
}

async function readManifest(from: string): Promise<BackupManifest> {
  const path = join(from, MANIFEST);
  try {
    const text = readRegularFile(path, { maxBytes: MAX_MANIFEST, isFound: true }).bytes.toString();
    const manifest = Manifest.parse(JSON.parse(text));
    // One of its bits may have flipped without making it invalid.
    if (textOf(sealed(manifest)) !== text) throw new Error("it has changed since it was written");
    return manifest;
  } catch (cause) {
    throw new ServiceError("argument_invalid", `${from} is not a backup: it has no readable ${MANIFEST}.`, {
      cause,
    });
  }
}

/** Adds the digest to a manifest. */
function sealed(manifest: Omit<BackupManifest, "digest">): BackupManifest {
  const digest = createHash("sha256").update(textOf({ ...manifest, digest: "" }));
  return { ...manifest, digest: digest.digest("hex") };
}

/** Returns the files of a backup besides the manifest, in its order. */
function namesIn(kind: BackupManifest["database"]): string[] {
  return [savedName(kind), KEYS, SETTINGS];
}

/** @param bytes that the file must have. @throws FileRefusal, or the system's error */
async function described(folder: string, name: string, bytes?: number): Promise<z.infer<typeof Saved>> {
  const { fd, stats } = openRegularFile(join(folder, name), { isFound: true });
  const hash = createHash("sha256");
  const reading = createReadStream("", { fd });
  if (bytes !== undefined && stats.size !== bytes) reading.destroy(new RangeError("it has another size"));
  await pipeline(reading, hash);
  return { name, bytes: stats.size, sha256: hash.digest("hex") };
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(path, textOf(value), { mode: 0o600, flag: "wx", flush: true });
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
