import { MAINNET_GENESIS } from "../../../providers/solana-rpc.ts";
import type { RailFacts } from "../rail.ts";
import { SOLANA_USDC, usdcAccountOf } from "./token-account.ts";

export const SOLANA = {
  name: "solana",
  network: `solana:${MAINNET_GENESIS}`,
  asset: SOLANA_USDC,
  isUnlisted: true,
  needsFeePayer: true,
  paysFor: (source) => source !== "algorand",
  // A transaction names the payee's token account only, so an owner and its token account count as one address.
  sameAddress: (a, b) => a === b || usdcAccountOf(a) === b || usdcAccountOf(b) === a,
} as const satisfies RailFacts;
