import { RAILS } from "@attestd/proof/rails";
import type { OfferedRail, RailFacts } from "../rail.ts";
import { usdcAccountOf } from "./token-account.ts";

export const SOLANA = {
  name: "solana",
  network: RAILS.solana.network,
  isNetwork: (network: string) => network === RAILS.solana.network,
  asset: RAILS.solana.usdc,
  isUnlisted: true,
  needsFeePayer: true,
  paysFor: (source) => source !== "algorand",
  // A transaction names only the payee's token account, so an owner and its token account count as one address.
  sameAddress: (a, b) => a === b || usdcAccountOf(a) === b || usdcAccountOf(b) === a,
} as const satisfies RailFacts & Pick<OfferedRail, "isNetwork">;
