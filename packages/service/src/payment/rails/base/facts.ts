import { RAILS } from "@attestd/proof/rails";
import type { RailFacts } from "../rail.ts";

export const BASE = {
  name: "base",
  network: RAILS.base.network,
  asset: RAILS.base.usdc,
  paysFor: (source) => source !== "algorand",
  // Hex may differ in case alone (EIP-55).
  sameAddress: (a, b) => a.toLowerCase() === b.toLowerCase(),
} as const satisfies RailFacts;
