import { toBase64 } from "@attestd/proof/encoding";
import { RAILS } from "@attestd/proof/rails";
import { z } from "zod";
import { ownSettings } from "../../../config/config.ts";
import { nodes, solanaWallet, whole } from "../../../config/formats.ts";
import type { ChainTable, RailTable } from "../../../config/own-tables.ts";
import { type SolanaNodes, SolanaRpc } from "../../../providers/solana-rpc.ts";
import type { RailKind } from "../rail-kind.ts";
import { examineNodes } from "./examination.ts";
import { solanaReader } from "./payment-reader.ts";
import { solanaRail } from "./rail.ts";
import { SOLANA } from "./usdc.ts";

const chain = {
  name: SOLANA.name,
  own: z.strictObject({
    rpc: nodes.optional().meta({
      description: "JSON-RPC nodes of Solana; without them nothing is paid there.",
      example: ["https://solana.example"],
      mayBeSecret: true,
    }),
  }),
} satisfies ChainTable;

const settings = {
  name: SOLANA.name,
  payTo: solanaWallet,
  chain,
  own: z.strictObject({
    max_compute_units: whole(20_000, 1_400_000).default(50_000).describe("Compute units that a payment may ask for."),
    max_compute_unit_price: whole(1, 5_000_000).default(100_000).describe("Micro-lamports for each of them."),
  }),
} satisfies RailTable;

const zeros = (count: number) => new Array<number>(count).fill(0);
/** A transaction of version 0 without an instruction: one signature, one account and a blockhash, all zero. */
const NO_TRANSACTION = Uint8Array.from([1, ...zeros(64), 0x80, 1, 0, 0, 1, ...zeros(64), 0, 0]);

/** USDC on Solana. */
export const SOLANA_RAIL: RailKind<SolanaNodes> = {
  ...SOLANA,
  label: RAILS.solana.label,
  settings,
  isPaymentKey: (text) => text.startsWith("solana:"),
  isTransactionId: (text) => /^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(text),
  canonical: (text) => text,
  connect({ config, rules }) {
    const { rpc = [] } = ownSettings(config, chain);
    return { rpcs: rpc.map((node) => new SolanaRpc(node)), rules };
  },
  open(nodes, { config, clock }) {
    const own = ownSettings(config, settings);
    const limits = { computeUnits: own.max_compute_units, microLamports: own.max_compute_unit_price };
    return solanaRail({ nodes, limits, clock });
  },
  reader: (nodes, { clock, ask }) => (nodes.rpcs.length > 0 ? solanaReader(nodes, clock, ask) : undefined),
  examine: ({ rpcs }, examination) => examineNodes(rpcs, examination),
  wallets: {
    about: "a recent blockhash",
    parameters: {
      blockhash: z.string().describe("Base58."),
      lastValidBlockHeight: z.int().min(0).describe("The last block height at which the blockhash is valid."),
    },
  },
  unsigned: { transaction: toBase64(NO_TRANSACTION) },
};
