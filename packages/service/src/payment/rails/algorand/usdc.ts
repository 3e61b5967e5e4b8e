import { ALGORAND_MAINNET_GENESIS_HASH } from "@attestd/proof/algorand";
import { RAILS } from "@attestd/proof/rails";
import type { RailFacts } from "../rail.ts";

/**
 * Returns every spelling of a ledger's network, or of MainNet: as in our options, by CAIP-2, and by the whole genesis
 * hash, which @x402-avm 2.6.1 and x402-avm for Python use.
 * @param genesisHash base64, of the ledger
 */
export function algorandSpellings(genesisHash: string): ReadonlySet<string> {
  const whole = [genesisHash, ALGORAND_MAINNET_GENESIS_HASH].map((hash) => `algorand:${hash}`);
  return new Set([ALGORAND.optionNetwork, ALGORAND.network, ...whole]);
}

export const ALGORAND = {
  name: "algorand",
  network: RAILS.algorand.network,
  optionNetwork: "algorand-mainnet",
  asset: RAILS.algorand.usdc,
  paysFor: () => true,
  sameAddress: (a, b) => a === b,
} as const satisfies RailFacts;
