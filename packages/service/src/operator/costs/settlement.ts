import type { RailName } from "../../payment/rails/rail.ts";
import { type PicoUsd, parseUsd } from "./usd.ts";

/** What a facilitator takes for a settlement. */
export type Settlement = {
  /** A facilitator's name in `PUBLISHED`, or "as named". */
  by: string;
  fee: PicoUsd;
  /** Settlements a month, on all rails together, for which it takes nothing. */
  freeAMonth: bigint;
};

/** The day on which the prices below were read. */
export const PUBLISHED_ON = "2026-11-22";

type Published = { host: string; fees: Partial<Record<RailName, string>>; freeAMonth?: bigint };

/**
 * Prices that facilitators publish, in USD a settlement on each of our rails that they serve (docs/first-sale.md). PayAI's
 * follow the networks' fees; its free settlements are for a payee's lifetime, and so count for nothing here.
 */
const PUBLISHED: Readonly<Record<string, Published>> = {
  goplausible: { host: "facilitator.goplausible.xyz", fees: { algorand: "0", base: "0", solana: "0" } },
  cdp: { host: "api.cdp.coinbase.com", fees: { base: "0.001", solana: "0.001" }, freeAMonth: 1_000n },
  payai: { host: "facilitator.payai.network", fees: { base: "0.00231", solana: "0.00152" } },
};

/** The facilitators whose prices are known. */
export const FACILITATORS: readonly string[] = Object.keys(PUBLISHED);

/** @param by a name of `FACILITATORS`, or an amount in USD. @returns undefined where the facilitator does not serve the rail */
export function settlementOf(by: string, rail: RailName): Settlement | undefined {
  const named = parseUsd(by);
  if (named !== undefined) return { by: "as named", fee: named, freeAMonth: 0n };
  const { fees = {}, freeAMonth = 0n }: Partial<Published> = PUBLISHED[by] ?? {};
  const fee = parseUsd(fees[rail] ?? "");
  return fee === undefined ? undefined : { by, fee, freeAMonth };
}

/** The name in `FACILITATORS` of the facilitator at a URL, or undefined. */
export function facilitatorAt(url: string): string | undefined {
  const { hostname } = new URL(url);
  return FACILITATORS.find((name) => PUBLISHED[name]?.host === hostname);
}
