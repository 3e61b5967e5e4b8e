import { MAX_BUNDLE_BYTES } from "@attestd/proof";
import type { ChainName, ConfirmationLevel } from "../chains/chain.ts";

/** What can be attested and proven of the blocks of one chain, for people and for programs. */
export type BlockCapability = {
  /** What `height` counts. */
  height: string;
  /** What `headerBase64` holds, and how `blockHash` comes from it. */
  header: string;
  blockHash: string;
  levels: { known: readonly ConfirmationLevel[]; required: ConfirmationLevel };
  inclusion: {
    kind: "algorand-merkle" | "mpt";
    /** The header's fields that a proof may lead to. */
    trees: readonly { root: string; of: string; form: string; when: string }[];
    /** What a proof may carry beyond the way to the header. */
    optional: Readonly<Record<string, string>>;
    transactionTypes: { known: readonly string[]; others: string };
    notProvable: readonly string[];
  };
  doesNotProve: readonly string[];
};

export type BlockCapabilities = {
  chains: Partial<Record<ChainName, BlockCapability>>;
  limits: { blocksPerRequest: number; transactionsPerRequest: number; bundleBytes: number; heights: string };
  doesNotProve: readonly string[];
};

const DOES_NOT_PROVE = [
  "That the chain agreed on the block. The header is the one that the configured nodes agree on; the attestor signs that, and consensus itself is not verified.",
  "That a transaction is in no block, or in no other one: only that it is in this one.",
  "What anyone owned before or after: no balances, no storage, no state.",
  "That the transaction was wanted or lawful, or that no later one undoes it.",
] as const;

/**
 * The document of `GET /block-capabilities`.
 *
 * @param sources the chains that are configured
 * @param baseLevel the level below which Base's blocks are refused
 */
export function blockCapabilities(
  sources: ReadonlyMap<ChainName, unknown>,
  baseLevel: ConfirmationLevel = "finalized",
): BlockCapabilities {
  const all: Record<ChainName, BlockCapability> = { algorand: algorand(), base: base(baseLevel) };
  return {
    chains: Object.fromEntries([...sources.keys()].map((chain) => [chain, all[chain]])),
    limits: {
      blocksPerRequest: 1,
      transactionsPerRequest: 1,
      bundleBytes: MAX_BUNDLE_BYTES,
      heights: "0 to 2^53 - 1, as an integer or decimal digits",
    },
    doesNotProve: DOES_NOT_PROVE,
  };
}

function algorand(): BlockCapability {
  return {
    height: "round",
    header: "canonical msgpack of the block map without txns",
    blockHash: 'base32 of SHA-512/256("BH", header)',
    levels: { known: ["finalized"], required: "finalized" },
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
      notProvable: ["Inner transactions: they are no leaves of the tree. Name the transaction that contains them."],
    },
    doesNotProve: ["That the effects which the block's entry states are right: they are the block's own statement."],
  };
}

function base(required: ConfirmationLevel): BlockCapability {
  return {
    height: "block number",
    header: "RLP of the header's fields",
    blockHash: "0x and hex of Keccak-256(header)",
    levels: { known: ["included", "safe", "finalized"], required },
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
        others: "Any, such as 0x79, of which a node gives the raw bytes.",
      },
      notProvable: ["Calls inside a transaction, and the messages of a batch: they are no items of the trie."],
    },
    doesNotProve: [
      "That the transaction succeeded: one that reverted is in its block like any other. The receipt, where there is one, says.",
      "Anything on Ethereum: how deep the block's batch lies there is what the nodes say (safe, finalized).",
    ],
  };
}
