import { RAILS } from "@attestd/proof/rails";
import type { OfferedRail, RailFacts } from "../rail.ts";

/** Whether a text has the form of a transaction's hash. */
export function isTransactionHash(text: string): text is `0x${string}` {
  return /^0x[0-9a-fA-F]{64}$/.test(text);
}

export const BASE = {
  name: "base",
  network: RAILS.base.network,
  isNetwork: (network: string) => network === RAILS.base.network,
  asset: RAILS.base.usdc,
  // EIP-3009: a nonce is used once, and the account that submits the authorization pays the fee.
  isForAnyFacilitator: true,
  paysFor: (source) => source !== "algorand",
  // Hex may differ only in case (EIP-55).
  sameAddress: (a, b) => a.toLowerCase() === b.toLowerCase(),
} as const satisfies RailFacts & Pick<OfferedRail, "isNetwork">;
