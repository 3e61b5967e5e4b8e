import type { RailKind } from "../rail.ts";
import { SOLANA } from "./facts.ts";
import { solanaRail } from "./rail.ts";

/** USDC on Solana. */
export const SOLANA_RAIL: RailKind = {
  ...SOLANA,
  isPaymentKey: (text) => text.startsWith("solana:"),
  isTransactionId: (text) => /^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(text),
  canonical: (text) => text,
  open: ({ config: { limits }, nodes, clock }) =>
    solanaRail({
      nodes: nodes.solana,
      limits: { computeUnits: limits.solanaComputeUnits, microLamports: limits.solanaComputeUnitPrice },
      clock,
    }),
};
