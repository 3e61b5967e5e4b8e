import { ALGORAND_ID } from "@attestd/proof/algorand";
import { z } from "zod";
import { ownSettings } from "../../../config/config.ts";
import { algorandAddress, whole } from "../../../config/formats.ts";
import type { RailVariables } from "../../../config/rails.ts";
import type { AlgorandNodes } from "../../../providers/algorand-nodes.ts";
import type { RailKind } from "../rail.ts";
import { algorandReader } from "./payment-reader.ts";
import { algorandRail } from "./rail.ts";
import { ALGORAND, algorandSpellings } from "./usdc.ts";

const settings = {
  name: ALGORAND.name,
  payTo: algorandAddress,
  isRequired: true,
  own: z.object({ ALGORAND_MAX_FEE: whole(2_000, 1_000_000).default(3_000) }),
} satisfies RailVariables;

/** Algorand USDC. */
export const ALGORAND_RAIL: RailKind<AlgorandNodes> = {
  ...ALGORAND,
  settings,
  isNetwork: (network, { algorand }) => algorandSpellings(algorand.genesisHash).has(network),
  isPaymentKey: (text) => /^algorand:[\w-]{43}\//.test(text),
  isTransactionId: (text) => ALGORAND_ID.pattern.test(text),
  canonical: (text) => text,
  connect: ({ ledger }) => ledger,
  open: (nodes, { config, rounds }) =>
    algorandRail({
      genesisHash: config.algorand.genesisHash,
      nodes,
      rounds,
      maxLifeSeconds: config.maxLifeSeconds,
      maxFee: ownSettings(config, settings).ALGORAND_MAX_FEE,
    }),
  reader: (_, { ledger }) => algorandReader(ledger),
  unsigned: { paymentGroup: ["AA=="], paymentIndex: 0 },
};
