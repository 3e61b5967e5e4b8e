import { BASE_CHAIN_ID, baseFormat } from "@attestd/proof/base";
import { z } from "zod";
import { ownSettings } from "../../config/config.ts";
import { whole } from "../../config/formats.ts";
import { chainTable } from "../../config/own-tables.ts";
import { type EthereumNodes, EthereumRpc } from "../../providers/ethereum-rpc.ts";
import type { SourceChainKind } from "../chain-kind.ts";
import { examineNodes } from "./examination.ts";
import { BaseSource } from "./source.ts";

const Bytes = z.base64().min(4);
const EXAMPLE = "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060";

/** The settings of Base. */
export const baseTable = chainTable(baseFormat, {
  log_span: whole(1, 100_000)
    .default(1_000)
    .describe("Blocks in one query for logs of Base, 200 s of them; see [below](#nodes-of-base)."),
});

/** Base. */
export const baseChain: SourceChainKind<EthereumNodes> = {
  format: baseFormat,
  settings: baseTable,
  work: new URL("./block-work.ts", import.meta.url),
  examples: {
    attest: { txid: EXAMPLE },
    block: { height: "46000000" },
    inclusion: { txId: EXAMPLE, height: 46000000 },
  },

  connect(settings, rules) {
    const { rpc } = ownSettings(settings, baseTable);
    return rpc && { rpcs: rpc.map((node) => new EthereumRpc(node, BASE_CHAIN_ID)), rules };
  },

  witnesses: ({ rpcs }) => ({
    who: "nodes of Base",
    lost: "nothing on Base can be attested",
    asks: rpcs.map((rpc) => (signal) => rpc.blockNumber(signal)),
  }),

  examine: (nodes, { signal }) => examineNodes(nodes, signal),

  open(nodes, settings, { run }) {
    const { transaction_level: transaction, block_level: block } = ownSettings(settings, baseTable);
    return new BaseSource({ nodes, accept: settings.extraSourceChains, levels: { transaction, block }, run });
  },

  inclusion: z
    .strictObject({
      kind: z.literal("mpt"),
      index: z.int().min(0).describe("Place in the block, from 0."),
      nodes: z.array(Bytes).describe("Trie nodes from root to leaf."),
      receipt: z
        .strictObject({ bytesBase64: Bytes, nodes: z.array(Bytes) })
        .optional()
        .describe("The transaction's receipt and its own proof."),
    })
    .describe("The way from a Base transaction to its block's header."),

  blocks: {
    height: "block number",
    header: "RLP of the header's fields",
    blockHash: "0x and hex of Keccak-256(header)",
    inclusion: {
      kind: "mpt",
      trees: [
        {
          root: "transactionsRoot",
          of: "transactions",
          form: "Keccak-256 Merkle-Patricia trie under rlp(index)",
          when: "always",
        },
        {
          root: "receiptsRoot",
          of: "receipts",
          form: "Keccak-256 Merkle-Patricia trie under rlp(index)",
          when: "see optional.receipt",
        },
      ],
      optional: {
        receipt:
          "The transaction's receipt and its own proof, where the nodes give receipts that reproduce the header's receiptsRoot and the bundle stays within its limit.",
      },
      transactionTypes: {
        known: ["0x0", "0x1", "0x2", "0x4", "0x7e"],
        others: "Any, such as 0x79, if a node gives the raw bytes.",
      },
      notProvable: ["Calls inside a transaction, and the messages of a batch: they are no items of the trie."],
    },
    doesNotProve: [
      "That the transaction succeeded: a reverted one is in its block like any other. The receipt, if there is one, says.",
      "Anything on Ethereum: how deep the block's batch lies there is what the nodes say (safe, finalized).",
    ],
  },
};
