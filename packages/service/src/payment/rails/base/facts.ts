import { RAILS } from "@attestd/proof/rails";
import type { RailFacts } from "../rail.ts";

export const BASE = {
  name: "base",
  network: RAILS.base.network,
  asset: RAILS.base.usdc,
  // EIP-3009: a nonce is used once, and whoever submits the authorization pays.
  isForAnyFacilitator: true,
  paysFor: (source) => source !== "algorand",
  // Hex may differ in case alone (EIP-55).
  sameAddress: (a, b) => a.toLowerCase() === b.toLowerCase(),
} as const satisfies RailFacts;
