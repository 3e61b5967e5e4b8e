import { ALGORAND_ID } from "@attestd/proof/algorand";
import { RAILS } from "@attestd/proof/rails";
import { z } from "zod";
import { ownSettings } from "../../../config/config.ts";
import { algorandAddress, whole } from "../../../config/formats.ts";
import type { RailTable } from "../../../config/own-tables.ts";
import type { AlgorandNodes } from "../../../providers/algorand-nodes.ts";
import type { RailKind } from "../rail-kind.ts";
import { algorandReader } from "./payment-reader.ts";
import { algorandRail } from "./rail.ts";
import { ALGORAND, algorandSpellings } from "./usdc.ts";

const settings = {
  name: ALGORAND.name,
  payTo: algorandAddress,
  isRequired: true,
  own: z.strictObject({
    max_fee: whole(2_000, 1_000_000).default(3_000).describe("microAlgos that a payment may make the fee payer pay."),
  }),
} satisfies RailTable;

/** Algorand USDC. */
export const ALGORAND_RAIL: RailKind<AlgorandNodes> = {
  ...ALGORAND,
  label: RAILS.algorand.label,
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
      maxFee: ownSettings(config, settings).max_fee,
    }),
  reader: (_, { ledger }) => algorandReader(ledger),
  wallets: {
    about: "the ledger's genesis, its last round, and the fees in microAlgos",
    noAccount: "it has not opted in",
    parameters: {
      genesisId: z.string(),
      genesisHash: z.base64().length(44),
      round: z.int().min(0).describe("The last one."),
      minFee: z.int().min(0).describe("microAlgos a transaction."),
      feePerByte: z.int().min(0).describe("microAlgos; 0 unless the network is congested."),
    },
  },
  unsigned: { paymentGroup: ["AA=="], paymentIndex: 0 },
};
