import { resolve } from "node:path";
import type { KeyChangeReport } from "@attestd/service/operator";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { readKeys } from "../keys-file.ts";
import { operate } from "../operate.ts";
import { seedIn } from "../secret-file.ts";
import type { SettingsOptions } from "../settings-file.ts";

export type KeysRotateOptions = SettingsOptions & { seedFile: string; json?: boolean };
export type KeysRevokeOptions = SettingsOptions & { from?: string; json?: boolean };

/** An interrupted change is not undone. */
const INTERRUPTED = "Run the same command again to finish it.";
const PUBLISH = "  Pass the new history on to verifiers: attestd keys history --service URL --save keys.json";

/** Replaces the attestor's key with the one whose seed is in a file; a file that does not exist is created with a seed. */
export async function keysRotate(options: KeysRotateOptions, environment: Environment): Promise<ExitCode> {
  const seedFile = resolve(options.seedFile);
  const next = {
    async settings() {
      await seedIn(seedFile, "--seed-file");
      return { ATTESTOR_PQ_SEED: "", ATTESTOR_PQ_SEED_FILE: seedFile };
    },
    onWait: waitLine(environment),
  };
  const texts = { doing: "replacing the key", undone: "not rotated", interrupted: INTERRUPTED };
  const change = await operate(options, environment, texts, ({ rotateKey }, settings, operator) =>
    rotateKey(settings, next, operator),
  );
  const [old, key] = change.history.keys.slice(-2);
  if (!old || !key) throw new TypeError("a rotation leaves two keys");
  const { kid, fromRound } = key;
  environment.out.done(
    options.json,
    { kid, fromRound, replaces: old.kid, note: change.txid, settings: { ATTESTOR_PQ_SEED_FILE: seedFile } },
    `Rotated  ${kid}`,
    `  from round  ${fromRound}`,
    `  replaces    ${old.kid}`,
    `  noted in    ${noteOf(change)}`,
    "Next:",
    `  Copy ${seedFile} to a safe place: a key whose seed is lost cannot sign again.`,
    "  Start the service with it, in the place of the old seed:",
    `    ATTESTOR_PQ_SEED_FILE=${seedFile}`,
    "  Destroy the old seed: nothing needs it, and anyone who finds it could sign for its rounds.",
    PUBLISH,
  );
  return EXIT.good;
}

/** Revokes a key of the attestor. */
export async function keysRevoke(kid: string, options: KeysRevokeOptions, environment: Environment): Promise<ExitCode> {
  const { from } = options;
  if (from !== undefined && !/^\d{1,15}$/.test(from)) throw new Failure(EXIT.usage, "--from is not a round");
  const what = { kid, round: from === undefined ? undefined : Number(from), onWait: waitLine(environment) };
  const texts = { doing: "withdrawing the key", undone: "not revoked", interrupted: INTERRUPTED };
  const change = await operate(options, environment, texts, ({ revokeKey }, settings, operator) =>
    revokeKey(settings, what, operator),
  );
  const key = change.history.keys.find((entry) => entry.kid === kid);
  if (!key) throw new TypeError("a revoked key is in the history");
  const { revokedRound, untilRound } = key;
  environment.out.done(
    options.json,
    { kid, revokedRound, note: change.txid },
    `Revoked  ${kid}`,
    `  from round  ${revokedRound}`,
    `  noted in    ${noteOf(change)}`,
    "Its bundles now verify only if the ledger has them in an earlier round: attestd verify --chain.",
    "Next:",
    ...(untilRound === undefined ? ["  Replace it: until then the service does not start. attestd keys rotate"] : []),
    PUBLISH,
  );
  return EXIT.good;
}

/** Puts the keys of a saved history that the journal lacks back into the journal. */
export async function keysRestore(
  file: string,
  options: SettingsOptions & { json?: boolean },
  environment: Environment,
): Promise<ExitCode> {
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
  return (round) => err.line(`Noted. Waiting for round ${round}, the last before the new key's.`);
}

function noteOf({ txid }: KeyChangeReport): string {
  return txid ?? "made before; nothing was changed now";
}
