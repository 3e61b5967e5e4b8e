import { ALGORAND_MAINNET } from "@attestd/proof";
import type { RailFacts } from "../rail.ts";

/** Asset id of USDC on MainNet; the sandbox's has the same id. */
export const ALGORAND_USDC = "31566704";

export const ALGORAND = {
  name: "algorand",
  network: ALGORAND_MAINNET,
  optionNetwork: "algorand-mainnet",
  asset: ALGORAND_USDC,
  paysFor: () => true,
  sameAddress: (a, b) => a === b,
} as const satisfies RailFacts;
