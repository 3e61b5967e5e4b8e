import { RAILS } from "@attestd/proof/rails";
import type { RailFacts } from "../rail.ts";

export const ALGORAND = {
  name: "algorand",
  network: RAILS.algorand.network,
  optionNetwork: "algorand-mainnet",
  asset: RAILS.algorand.usdc,
  paysFor: () => true,
  sameAddress: (a, b) => a === b,
} as const satisfies RailFacts;
