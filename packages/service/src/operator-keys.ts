import { algorandCaip2 } from "@attestd/proof/caip2";
import { fromBase64 } from "@attestd/proof/encoding";
import type { KeyHistory } from "@attestd/proof/trust";
import pino from "pino";
import { drawHistory } from "./attestor/history.ts";
import {
  type KeyChange,
  type KeyChangeOptions,
  revokeKey as revoke,
  rotateKey as rotate,
} from "./attestor/key-records.ts";
import { seedSigner } from "./attestor/signer.ts";
import { openJournal } from "./calls/audit/journal.ts";
import { Refused } from "./calls/audit/refused.ts";
import { liveAttempt } from "./calls/call.ts";
import { isFinal } from "./calls/machine.ts";
import { openStore } from "./calls/stores/open.ts";
import { systemClock } from "./clock.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { openLedger } from "./networks.ts";
import type { OperatorOptions } from "./operator.ts";

type Settings = Readonly<Record<string, string | undefined>>;

/** What came of a change of the keys. */
export type KeyChangeReport = {
  /** Id of the note on the ledger; absent where the change had been made before. */
  txid?: string;
  /** As it is from now on. */
  history: KeyHistory;
};

/** How long the ledger may take to show its first round, in ms. */
const DEADLINE_MS = 30_000;

/**
 * Reads the key history out of the journal, beside whatever has it open.
 *
 * @throws ConfigError when it is of another ledger; Refused when it has not begun; Error when it cannot be read
 */
export async function readKeyHistory(settings: Settings, options: OperatorOptions): Promise<KeyHistory> {
  return historyIn(readConfig(settings, options));
}

/**
 * Replaces the attestor's key. Broken off, the same call goes on where it was.
 *
 * @param next.seed gives the new key's seed, 32 bytes, once it is kept; asked for when the settings and the journal fit
 * @throws ConfigError, KeyChangeRefused, Refused, ProviderError; Error when the journal cannot be opened
 */
export async function rotateKey(
  settings: Settings,
  next: { seed(): Promise<Uint8Array>; onWait(round: number): void },
  options: OperatorOptions,
): Promise<KeyChangeReport> {
  return withKeys(settings, options, next.onWait, async ({ attestor, publicUrl }, changing) => {
    const keys = { current: seedSigner(attestor.pqSeed), next: seedSigner(await next.seed()), origin: publicUrl };
    return rotate(keys, changing);
  });
}

/**
 * Revokes a key of the attestor. Broken off, the same call goes on where it was.
 *
 * @param what.round from which on nothing by the key counts; the next unless given
 * @throws as `rotateKey`
 */
export async function revokeKey(
  settings: Settings,
  what: { kid: string; round: number | undefined; onWait(round: number): void },
  options: OperatorOptions,
): Promise<KeyChangeReport> {
  return withKeys(settings, options, what.onWait, (_config, changing) => revoke(what.kid, what.round, changing));
}

/** Opens what changing the keys takes, the journal and the ledger, and gives it up again. */
async function withKeys(
  settings: Settings,
  options: OperatorOptions,
  onWait: (round: number) => void,
  change: (config: Config, options: KeyChangeOptions) => Promise<KeyChange>,
): Promise<KeyChangeReport> {
  const config = readConfig(settings, options);
  // Read first, so that a journal which is not there is not made.
  await historyIn(config);
  await using opened = new AsyncDisposableStack();
  const journal = await openStore(config);
  opened.defer(async () => {
    await journal.release();
    await journal.close();
  });
  const { ledger, close } = openLedger(config, pino({ level: config.logLevel }, pino.destination(2)), systemClock);
  opened.defer(close);
  await ledger.rounds.next(AbortSignal.any([options.signal, AbortSignal.timeout(DEADLINE_MS)]));
  const { txid } = await change(config, {
    journal,
    ledger,
    onWait,
    signal: options.signal,
    async unfinished() {
      const calls = await journal.open();
      return calls.filter((call) => !isFinal(call.state) && liveAttempt(call)).length;
    },
  });
  const history = drawHistory(ledger.caip2, await journal.keys(), await journal.revocations());
  return { ...(txid !== undefined && { txid }), history };
}

async function historyIn({ algorand, database }: Config): Promise<KeyHistory> {
  await using journal = await openJournal(database);
  const identity = await journal.identity();
  if (!identity) throw new Refused("unclear", "The journal is empty: no service has begun it yet.");
  if (identity.genesisHash !== algorand.genesisHash)
    throw new ConfigError(`DATABASE_URL holds the journal of another ledger, of genesis ${identity.genesisHash}.`);
  const ledger = algorandCaip2(fromBase64(algorand.genesisHash));
  return drawHistory(ledger, await journal.keys(), await journal.revocations());
}
