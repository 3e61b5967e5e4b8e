import { ALGORAND_MAINNET } from "../algorand/network.ts";
import { isUsdc, RAILS, USDC_DECIMALS } from "../rails.ts";
import { groupedUnits } from "../text.ts";
import type { Amount } from "./description.ts";

export type Token = { symbol: string; decimals: number };

const USDC: Token = { symbol: "USDC", decimals: USDC_DECIMALS };

/**
 * Returns a well-known token by its id: Circle's USDC, or a sandbox's USDC, which has the same id.
 * @param network the transaction's, CAIP-2; undefined if it names none
 * @param ledger of record, CAIP-2; any other than Algorand MainNet is a sandbox's
 */
export function knownToken(
  chain: "algorand" | "base",
  id: string,
  network: string | undefined,
  ledger: string,
): Token | undefined {
  const rail = RAILS[chain];
  const isSandbox = ledger !== ALGORAND_MAINNET;
  const isHere =
    network === rail.network || (chain === "base" ? network === undefined : isSandbox && network === ledger);
  return isHere && isUsdc(rail, id) ? USDC : undefined;
}

export function tokenAmount(units: bigint, { symbol, decimals }: Token): Amount {
  return { units: String(units), symbol, decimals, text: `${groupedUnits(units, decimals, 2)} ${symbol}` };
}

export function algoAmount(microAlgos: bigint): Amount {
  return tokenAmount(microAlgos, { symbol: "ALGO", decimals: 6 });
}

export function etherAmount(wei: bigint): Amount {
  return { units: String(wei), symbol: "ETH", decimals: 18, text: `${groupedUnits(wei, 18)} ETH` };
}
