import pino from "pino";
import { attestationsFor } from "../calls/capacity.ts";
import { readConfig, type Settings } from "../config/config.ts";
import { deadline, systemClock } from "../lib/clock.ts";
import { openLedger } from "../networks/networks.ts";
import { ownTables } from "../payment/rails/registry.ts";
import { openAccount } from "../signers/attestor-keys.ts";
import type { OperatorOptions } from "./session.ts";

/** How long the nodes may take to name the account's balance, in ms. */
const DEADLINE_MS = 30_000;

/**
 * Reads the prices of a configured service, and what its notes cost.
 * @returns by rail the price in micro-USDC; `fee` of a note in microAlgos without congestion; `affordable`: the number
 *   of notes for which the attestor's account has ALGO
 * @throws config_invalid; ProviderError
 */
export async function readCosts(settings: Settings, { sandbox, signal }: OperatorOptions) {
  const config = readConfig(settings, { sandbox, own: ownTables() });
  await using opened = new AsyncDisposableStack();
  const ends = deadline(systemClock, DEADLINE_MS, signal);
  const log = pino({ level: "silent" });
  const account = opened.adopt(await openAccount(config, { log, signal: ends }), (one) => one.close());
  const { ledger } = opened.adopt(openLedger(config, account, log), (one) => one.close());
  const prices = Object.entries(config.rails).map(([rail, { price }]) => ({ rail, price }));
  return { prices, fee: ledger.fee, affordable: attestationsFor(await ledger.spendable(ends), ledger.fee) };
}
