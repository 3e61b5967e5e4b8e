import { resolve } from "node:path";
import { keyEntryHash, keyRevocationHash } from "@attestd/proof/attestor";
import type { Table } from "@attestd/service/settings";
import { EXIT, type ExitCode, Failure } from "../../failure.ts";
import { requireSeed } from "../../files/files.ts";
import { operate } from "../../operator/operate.ts";
import { attestorTable } from "../../operator/settings.ts";
import type { SettingsOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import { readKeys } from "../../trust/keys.ts";

type Options = SettingsOptions & { json?: boolean };
type RotateOptions = Options & { seedFile?: string; next?: string; from?: number };

/** An interrupted change is not undone. */
const INTERRUPTED = "Run the same command again to finish it.";
const PUBLISH = "  Pass the new history on to verifiers: attestd keys history --service URL --save keys.json";

/**
 * Replaces the attestor's key: with the one whose seed is in a file, or with the one that other settings name. If the seed's
 * file does not exist, it is created with a new seed.
 */
export async function rotateAttestorKey(options: RotateOptions, environment: Environment): Promise<ExitCode> {
  const { attestor, following } = nextKey(options);
  const next = { attestor, onWait: waitLine(environment), fromRound: options.from };
  const texts = { doing: "replacing the key", undone: "not rotated", interrupted: INTERRUPTED };
  const change = await operate(options, environment, texts, ({ rotateKey }, settings, operator) =>
    rotateKey(settings, next, operator),
  );
  const [old, key] = change.history.keys.slice(-2);
  if (!old || !key) throw new TypeError("a rotation leaves two keys");
  const { kid, fromRound } = key;
  environment.out.done(
    options.json,
    { kid, fromRound, replaces: old.kid, record: keyEntryHash(key), note: change.txid, settings: following.settings },
    `Rotated  ${kid}`,
    `  from round  ${fromRound}`,
    `  replaces    ${old.kid}`,
    `  record      ${keyEntryHash(key)}`,
    `  noted in    ${noteOf(change.txid)}`,
    "Next:",
    ...following.lines,
    "  Destroy the old key: nothing needs it, and anyone who finds it could sign for its rounds.",
    PUBLISH,
  );
  return EXIT.good;
}

/** The settings of the next key, and what to do with them. @throws Failure `usage` unless exactly one option names it */
function nextKey({ seedFile: seed, next: file }: RotateOptions) {
  if ((seed === undefined) === (file === undefined))
    throw new Failure(EXIT.usage, "name the next key by --seed-file, or by --next");
  if (file !== undefined) {
    const lines = [`  Start the service with the table [attestor] of ${file} instead of the old one.`];
    return { attestor: async () => attestorTable(file), following: { settings: undefined, lines } };
  }
  const seedFile = resolve(seed as string);
  const lines = [
    `  Copy ${seedFile} to a safe place: a key whose seed is lost cannot sign again.`,
    "  Start the service with it instead of the old seed, in the table [attestor]:",
    `    pq_seed = "file:${seedFile}"`,
  ];
  const pq_seed = `file:${seedFile}`;
  const attestor = async (current: Table): Promise<Table> => {
    await requireSeed(seedFile, "--seed-file");
    return { ...current, pq_seed };
  };
  return { attestor, following: { settings: { "attestor.pq_seed": pq_seed }, lines } };
}

/** Rekeys the attestor's account to the key that other settings name. */
export async function rekeyAttestorAccount(
  options: Options & { next: string },
  environment: Environment,
): Promise<ExitCode> {
  const texts = { doing: "rekeying the account", undone: "not rekeyed", interrupted: INTERRUPTED };
  const next = { attestor: async () => attestorTable(options.next) };
  const { address, authorizer, txid } = await operate(
    options,
    environment,
    texts,
    ({ rekeyAccount }, settings, operator) => rekeyAccount(settings, next, operator),
  );
  environment.out.done(
    options.json,
    { address, authorizer, transaction: txid },
    `Rekeyed  ${address}`,
    `  to the key of  ${authorizer}`,
    `  recorded as    ${noteOf(txid)}`,
    "Next:",
    `  Start the service with the table [attestor] of ${options.next} instead of the old one.`,
    "  Copy the new key to a safe place: without it the account is lost.",
  );
  return EXIT.good;
}

/** Revokes a key of the attestor. */
export async function revokeAttestorKey(
  kid: string,
  options: Options & { from?: number },
  environment: Environment,
): Promise<ExitCode> {
  const what = { kid, round: options.from, onWait: waitLine(environment) };
  const texts = { doing: "withdrawing the key", undone: "not revoked", interrupted: INTERRUPTED };
  const change = await operate(options, environment, texts, ({ revokeKey }, settings, operator) =>
    revokeKey(settings, what, operator),
  );
  const key = change.history.keys.find((entry) => entry.kid === kid);
  if (!key) throw new TypeError("a revoked key is in the history");
  const { revokedRound, untilRound } = key;
  if (revokedRound === undefined) throw new TypeError("a revoked key has its round");
  const record = keyRevocationHash({ ...key, revokedRound });
  environment.out.done(
    options.json,
    { kid, revokedRound, record, note: change.txid },
    `Revoked  ${kid}`,
    `  from round  ${revokedRound}`,
    `  record      ${record}`,
    `  noted in    ${noteOf(change.txid)}`,
    "Its bundles now verify only if the ledger has them in an earlier round: attestd verify --chain.",
    "Next:",
    ...(untilRound === undefined ? ["  Replace it: until then the service does not start. attestd keys rotate"] : []),
    PUBLISH,
  );
  return EXIT.good;
}

/** Adds the keys of a saved history that the journal lacks to the journal. */
export async function restoreAttestorKeys(file: string, options: Options, environment: Environment): Promise<ExitCode> {
  const { trust: saved } = await readKeys(file);
  const texts = { doing: "comparing the history with the ledger", undone: "not restored", interrupted: INTERRUPTED };
  const history = await operate(options, environment, texts, ({ restoreKeys }, settings, operator) =>
    restoreKeys(settings, saved, operator),
  );
  environment.out.done(
    options.json,
    history,
    `The journal has the ${history.keys.length} keys of ${file}`,
    `  current  ${history.keys.at(-1)?.kid}`,
  );
  return EXIT.good;
}

function waitLine({ err }: Environment): (round: number) => void {
  return (round) => err.line(`Noted. Waiting for round ${round}, the last one before the new key's first.`);
}

function noteOf(txid: string | undefined): string {
  return txid ?? "made before; nothing was changed now";
}
