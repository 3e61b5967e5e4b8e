import { algorandFormat } from "@attestd/proof/algorand";
import { z } from "zod";
import { Algod } from "../../providers/algod.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import { Indexer } from "../../providers/indexer.ts";
import type { SourceChainKind } from "../chain-kind.ts";
import { AlgorandSource } from "./source.ts";

const Index = z.int().min(0);
const Bytes = z.base64().min(4);
const Hash = z.base64().length(44);

/** Algorand. Its nodes are also the ledger of record's. */
export const algorandChain: SourceChainKind<AlgorandNodes> = {
  format: algorandFormat,
  work: new URL("./block-work.ts", import.meta.url),
  examples: {
    attest: { txid: "AFTNUMC6OZCKFGUPNKP3EHCSBPSYYEZJULJSXKVVALVU7RAC7SOA" },
    block: { height: 46581204 },
  },

  connect({ algorand: { genesisHash, algod, indexer } }, rules) {
    return {
      algods: algod.map((endpoint) => new Algod(endpoint, genesisHash)),
      indexers: indexer.map((endpoint) => new Indexer(endpoint)),
      rules,
    };
  },

  // The algods are the ledger's, without which nothing is sold, and they have the newer transactions.
  witnesses: ({ indexers }) => ({
    who: "indexers",
    lost: "older Algorand transactions cannot be attested",
    asks: indexers.map((indexer) => (signal) => indexer.currentRound(signal)),
  }),

  open(nodes, { algorand: { caip2 }, extraSourceChains: accept }, options) {
    return new AlgorandSource({ nodes, caip2, accept, ...options });
  },

  inclusion: z
    .strictObject({
      kind: z.literal("algorand-merkle"),
      tree: z.enum(["txn256", "txn"]).describe("The header's root that the proof leads to."),
      index: Index.describe("Place in the payset, from 0."),
      stibBase64: Bytes.describe("Canonical msgpack of the in-block map, without the prefix STIB."),
      siblings: z.array(z.base64()).describe("From leaf to root."),
      lightHeader: z
        .strictObject({
          index: Index,
          interval: Index,
          commitment: Hash.describe("The state proof message's BlockHeadersCommitment."),
          siblings: z.array(z.base64()),
        })
        .optional()
        .describe("The way from the header to the commitment of a state proof."),
    })
    .describe("The way from an Algorand transaction to its block's header."),

  blocks: {
    height: "round",
    header: "canonical msgpack of the block map without txns",
    blockHash: 'base32 of SHA-512/256("BH", header)',
    inclusion: {
      kind: "algorand-merkle",
      trees: [
        {
          root: "txn256",
          of: "transactions with their effects",
          form: "SHA-256 vector commitment",
          when: "the header has it",
        },
        {
          root: "txn",
          of: "transactions with their effects",
          form: "SHA-512/256 Merkle tree",
          when: "the header has no txn256",
        },
      ],
      optional: {
        lightHeader:
          "The way from the header to the commitment of the state proof that covers its round, once there is one (about 12 minutes later). Whoever verifies must know the commitment from elsewhere; else it is not_checked.",
      },
      transactionTypes: {
        known: ["pay", "keyreg", "acfg", "axfer", "afrz", "appl", "stpf", "hb"],
        others: "Any: the bytes are hashed and not interpreted.",
      },
      notProvable: [
        "Inner transactions: they are no leaves of the tree. Name the transaction that contains them.",
        "Transactions under consensus before v26: their header commits to a plain list.",
      ],
    },
    doesNotProve: ["The effects that the block's entry states: they are the block's own statement."],
  },
};
