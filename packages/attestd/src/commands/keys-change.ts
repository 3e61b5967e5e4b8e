import { resolve } from "node:path";
import type { KeyChangeReport } from "@attestd/service/operator";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { readKeys } from "../keys-file.ts";
import { operatorFailure } from "../operator-failure.ts";
import { seedIn } from "../secret-file.ts";
import { readSettings, type SettingsOptions } from "../settings-file.ts";

export type KeysRotateOptions = SettingsOptions & { seedFile: string; json?: boolean };
export type KeysRevokeOptions = SettingsOptions & { from?: string; json?: boolean };

/**
 * Replaces the attestor's key with the one whose seed is in a file; the seed is created if there is none.
 *
 * @throws Failure
 */
export async function keysRotate(options: KeysRotateOptions, environment: Environment): Promise<ExitCode> {
  const seedFile = resolve(options.seedFile);
  const { out } = environment;
  const { signal, settings, operator, onWait } = await prepare(options, environment);
  using _working = environment.working("replacing the key");
  const { rotateKey } = await import("@attestd/service/operator");
  const change = await rotateKey(settings, { seed: () => seedIn(seedFile, "--seed-file"), onWait }, operator).catch(
    (error: unknown) => {
      throw changeFailure(error, "not rotated", signal);
    },
  );
  const [old, key] = change.history.keys.slice(-2);
  if (!old || !key) throw new TypeError("a rotation leaves two keys");
  if (options.json) {
    const { kid, fromRound } = key;
    out.json({
      kid,
      fromRound,
      replaces: old.kid,
      note: change.txid,
      settings: { ATTESTOR_PQ_SEED_FILE: seedFile },
    });
    return EXIT.good;
  }
  out.marked("ok", `Rotated  ${key.kid}`);
  out.line(`  from round  ${key.fromRound}`);
  out.line(`  replaces    ${old.kid}`);
  out.line(`  noted in    ${noteOf(change)}`);
  out.line("Next:");
  out.line(`  Copy ${seedFile} to a safe place: a lost seed ends the key.`);
  out.line("  Start the service with it, in the place of the old seed:");
  out.line(`    ATTESTOR_PQ_SEED_FILE=${seedFile}`);
  out.line("  Destroy the old seed: it is needed no more, and who finds it could sign for its rounds.");
  out.line(HAND_ON);
  return EXIT.good;
}

/**
 * Revokes a key of the attestor.
 *
 * @throws Failure
 */
export async function keysRevoke(kid: string, options: KeysRevokeOptions, environment: Environment): Promise<ExitCode> {
  const { from } = options;
  if (from !== undefined && !/^\d{1,15}$/.test(from)) throw new Failure(EXIT.usage, "--from is not a round");
  const { out } = environment;
  const { signal, settings, operator, onWait } = await prepare(options, environment);
  using _working = environment.working("withdrawing the key");
  const { revokeKey } = await import("@attestd/service/operator");
  const what = { kid, round: from === undefined ? undefined : Number(from), onWait };
  const change = await revokeKey(settings, what, operator).catch((error: unknown) => {
    throw changeFailure(error, "not revoked", signal);
  });
  const key = change.history.keys.find((entry) => entry.kid === kid);
  if (!key) throw new TypeError("a revoked key is in the history");
  const { revokedRound, untilRound } = key;
  if (options.json) {
    out.json({ kid, revokedRound, note: change.txid });
    return EXIT.good;
  }
  out.marked("ok", `Revoked  ${kid}`);
  out.line(`  from round  ${revokedRound}`);
  out.line(`  noted in    ${noteOf(change)}`);
  out.line("Its bundles verify only with the ledger's word now, of an earlier round: attestd verify --chain.");
  out.line("Next:");
  if (untilRound === undefined) out.line("  Replace it: until then the service does not start. attestd keys rotate");
  out.line(HAND_ON);
  return EXIT.good;
}

/**
 * Puts the keys of a saved history that the journal lacks back into the journal.
 *
 * @throws Failure
 */
export async function keysRestore(
  file: string,
  options: SettingsOptions & { json?: boolean },
  environment: Environment,
): Promise<ExitCode> {
  const { out } = environment;
  const { trust: saved } = await readKeys(file);
  const { signal, settings, operator } = await prepare(options, environment);
  using _working = environment.working("comparing the history with the ledger");
  const { restoreKeys } = await import("@attestd/service/operator");
  const history = await restoreKeys(settings, saved, operator).catch((error: unknown) => {
    throw changeFailure(error, "not restored", signal);
  });
  if (options.json) {
    out.json(history);
    return EXIT.good;
  }
  out.marked("ok", `The journal has the ${history.keys.length} keys of ${file}`);
  out.line(`  current  ${history.keys.at(-1)?.kid}`);
  return EXIT.good;
}

const HAND_ON = "  Hand the new history on: attestd keys history --service URL --save keys.json";

async function prepare(options: SettingsOptions, environment: Environment) {
  const signal = environment.stop();
  const settings = await readSettings(options, environment);
  return {
    signal,
    settings,
    operator: { sandbox: options.sandbox ?? false, signal },
    onWait: (round: number) =>
      environment.err.line(`Noted. Waiting for round ${round}, the last before the new key's.`),
  };
}

/** An interrupted change is not undone: running the same command again finishes it. */
function changeFailure(error: unknown, what: string, stop: AbortSignal): Failure {
  if (!stop.aborted) return operatorFailure(error, what, stop);
  return new Failure(EXIT.interrupted, "interrupted", ["Run the same command again to finish it."], error);
}

function noteOf({ txid }: KeyChangeReport): string {
  return txid ?? "made before; nothing was changed now";
}
