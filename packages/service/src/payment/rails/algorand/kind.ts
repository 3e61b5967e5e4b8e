import { isAlgorandTxId } from "@attestd/proof/algorand";
import type { RailKind } from "../rail.ts";
import { ALGORAND } from "./facts.ts";
import { algorandRail } from "./rail.ts";

/** Algorand USDC. */
export const ALGORAND_RAIL: RailKind = {
  ...ALGORAND,
  isPaymentKey: (text) => /^algorand:[\w-]{43}\//.test(text),
  isTransactionId: isAlgorandTxId,
  canonical: (text) => text,
  open: ({ config: { algorand, limits }, nodes, rounds }) =>
    algorandRail({
      genesisHash: algorand.genesisHash,
      nodes: nodes.algorand,
      rounds,
      maxLifeSeconds: limits.lifeSeconds,
      maxFee: limits.algorandFee,
    }),
};
