import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { VERSION } from "../catalogue/about.ts";
import { readConfig, settingNames } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import { checkSaved, restoreJournal, savedName, saveJournal } from "../journal/backup.ts";
import { requireOwner } from "../journal/open.ts";
import type { SavedJournal } from "../journal/reader.ts";
import { RAIL_SETTINGS } from "../payment/rails/registry.ts";
import { type OperatorOptions, openSession, type Settings } from "./session.ts";

const Saved = z.strictObject({ name: z.string(), bytes: z.int().nonnegative(), sha256: z.string() });

/** `manifest.json` of a backup, written last: a folder without it is no backup. */
const Manifest = z.strictObject({
  format: z.literal("attestd.backup/1"),
  /** RFC 3339; the journal is of this moment or a little later. */
  madeAt: z.string(),
  /** Of the attestd that made it. */
  version: z.string(),
  database: z.enum(["sqlite", "postgres"]),
  journal: z.strictObject({
    schema: z.int().positive(),
    identity: z.strictObject({ genesisHash: z.string(), algorandAddress: z.string() }),
    calls: z.record(z.string(), z.int().positive()),
    keys: z.int().positive(),
  }),
  files: z.array(Saved),
});

export type BackupManifest = z.infer<typeof Manifest>;

const MANIFEST = "manifest.json";
/** The key history as the service publishes it. */
const KEYS = "keys.json";
/** The settings, without those that are or may hold a secret. */
const SETTINGS = "settings.json";

/**
 * Saves journal, key history and settings to a new folder, while services sell. It holds no secret: the attestor's seeds
 * are kept elsewhere.
 *
 * @param to MUST NOT exist yet. It appears at once and whole: a crash leaves another folder, which is no backup
 * @throws argument_invalid when it exists; Error when the journal cannot be read or the folder written
 */
export async function backUp(settings: Settings, to: string, options: OperatorOptions): Promise<BackupManifest> {
  const folder = resolve(to);
  if (existsSync(folder)) throw new ServiceError("argument_invalid", `${to} exists: name a new folder.`);
  await using session = await openSession(settings, options);
  const { database } = session.config;
  const draft = `${folder}.unfinished`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const madeAt = new Date().toISOString();
  const journal = savedName(database.kind);
  await saveJournal(database, join(draft, journal));
  await writeJson(join(draft, KEYS), session.history);
  await writeJson(join(draft, SETTINGS), publicSettings(settings));
  const manifest: BackupManifest = {
    format: "attestd.backup/1",
    madeAt,
    version: VERSION,
    database: database.kind,
    journal: await checkSaved(database.kind, join(draft, journal)),
    files: await Promise.all([journal, KEYS, SETTINGS].map((name) => described(draft, name))),
  };
  await writeJson(join(draft, MANIFEST), manifest);
  await sync(draft);
  await rename(draft, folder);
  await sync(dirname(folder));
  return manifest;
}

/**
 * Checks that a backup is whole: every file as its manifest has it, and the journal readable to its last row.
 *
 * @throws argument_invalid when it is no backup; not_allowed when it is damaged, with the file
 */
export async function checkBackup(from: string): Promise<BackupManifest> {
  const manifest = await readManifest(from);
  for (const file of manifest.files) {
    const { bytes, sha256 } = await described(from, file.name).catch(() => ({ bytes: -1, sha256: "" }));
    if (bytes !== file.bytes || sha256 !== file.sha256)
      throw new ServiceError("not_allowed", `${join(from, file.name)} is not as it was saved.`);
  }
  const others = (await readdir(from)).filter(
    (name) => name !== MANIFEST && !manifest.files.some((f) => f.name === name),
  );
  if (others.length > 0)
    throw new ServiceError("not_allowed", `${from} has files that were not saved: ${others.join(", ")}.`);
  const saved = await checkSaved(manifest.database, join(from, savedName(manifest.database)));
  if (!isSame(saved, manifest.journal))
    throw new ServiceError("not_allowed", `${from} has another journal than its manifest says.`);
  return manifest;
}

/**
 * Puts the journal of a backup where the settings name none yet. The calls that were begun after the backup are missing:
 * an audit lists their payments.
 *
 * @throws as `checkBackup`; config_invalid when the backup is of another ledger; Error when the database has a journal
 */
export async function restoreBackup(
  settings: Settings,
  from: string,
  { sandbox }: OperatorOptions,
): Promise<BackupManifest> {
  const { database, algorand } = readConfig(settings, { sandbox, rails: RAIL_SETTINGS });
  const manifest = await checkBackup(from);
  requireOwner(manifest.journal.identity, { genesisHash: algorand.genesisHash });
  await restoreJournal(manifest.database, join(from, savedName(manifest.database)), database);
  return manifest;
}

async function readManifest(from: string): Promise<BackupManifest> {
  try {
    return Manifest.parse(JSON.parse(await readFile(join(from, MANIFEST), "utf8")));
  } catch (cause) {
    throw new ServiceError("argument_invalid", `${from} is no backup: it has no ${MANIFEST} that can be read.`, {
      cause,
    });
  }
}

async function described(folder: string, name: string): Promise<z.infer<typeof Saved>> {
  if (name !== savedName("sqlite") && name !== savedName("postgres") && name !== KEYS && name !== SETTINGS)
    throw new Error(`${name} is no file of a backup`);
  const path = join(folder, name);
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return { name, bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}

/** Names that hold a secret, or a URL that may hold one in its path. */
const MAY_BE_SECRET = /MNEMONIC|SEED|SECRET|TOKEN|_AUTH|KEY_ID|(ALGOD|INDEXER|RPC|DATABASE)_URL/;

/** The settings that are set; of those that may hold a secret, the names alone. */
function publicSettings(settings: Settings): Record<string, string> {
  const own = settingNames(RAIL_SETTINGS);
  const set = Object.entries(settings).filter(([name, value]) => own.has(name) && value);
  return Object.fromEntries(
    set.map(([name, value]) => [
      name,
      MAY_BE_SECRET.test(name) && !name.endsWith("_FILE") ? "(not saved)" : `${value}`,
    ]),
  );
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

function isSame(a: SavedJournal, b: BackupManifest["journal"]): boolean {
  const text = ({ schema, identity, calls, keys }: SavedJournal | BackupManifest["journal"]) =>
    JSON.stringify([schema, identity.genesisHash, identity.algorandAddress, keys, Object.entries(calls).toSorted()]);
  return text(a) === text(b);
}
