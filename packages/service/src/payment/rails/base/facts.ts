import { BASE_MAINNET } from "@attestd/proof/base";
import type { RailFacts } from "../rail.ts";

/** Contract of USDC on Base; the sandbox's has the same address. */
export const BASE_USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

export const BASE = {
  name: "base",
  network: BASE_MAINNET,
  asset: BASE_USDC,
  paysFor: (source) => source !== "algorand",
  // Hex may differ in case alone (EIP-55).
  sameAddress: (a, b) => a.toLowerCase() === b.toLowerCase(),
} as const satisfies RailFacts;
