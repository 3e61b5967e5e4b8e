import { type BaseHeaderField, baseTxHash, decodeBaseHeader } from "@attestd/proof/base";
import { toHex } from "@attestd/proof/encoding";
import { FakeBase } from "./base-providers.ts";

type Json = Record<string, unknown>;

/** A whole block, real or made, as a node can be asked for it. */
export type BlockOfBase = {
  hash: string;
  /** Header members as JSON-RPC has them. */
  header: Json;
  /** JSON of transactions beside their bytes; a node gives what there is. */
  transactions: { hash: string; raw?: string; json?: Json }[];
  receipts?: Json[];
  rawReceipts?: string[];
};

/** A node that serves one block, which its `finalized` head has passed. */
export function nodeWith(block: BlockOfBase): FakeBase {
  const node = new FakeBase();
  const number = Number(block.header.number);
  Object.assign(node, { latest: number + 30, safe: number + 20, finalized: number + 10 });
  const { transactions } = block;
  node.include(number, ...transactions);
  const { eth_getBlockByNumber: heads, eth_getTransactionReceipt: receipt } = node.methods;
  const json = { ...block.header, hash: block.hash, transactions: transactions.map(({ hash }) => hash) };
  Object.assign(node.methods, {
    eth_getBlockByNumber: (tag: string) => (Number(tag) === number && number <= node.latest ? json : heads?.(tag)),
    eth_getTransactionReceipt: (hash: string) => {
      const found = receipt?.(hash);
      return found ? { ...found, blockHash: block.hash } : null;
    },
    ...(transactions.every((transaction) => transaction.json) && {
      eth_getBlockByHash: (hash: string) =>
        hash === block.hash ? { ...json, transactions: transactions.map((transaction) => transaction.json) } : null,
    }),
    ...(block.receipts && { eth_getBlockReceipts: () => block.receipts }),
    ...(block.rawReceipts && { debug_getRawReceipts: () => block.rawReceipts }),
  });
  return node;
}

/** A block from its bytes. @param header RLP @param transactions EIP-2718 */
export function blockFromBytes(header: Uint8Array, hash: string, transactions: readonly Uint8Array[]): BlockOfBase {
  return {
    hash,
    header: headerJson(header),
    transactions: transactions.map((bytes) => ({ hash: baseTxHash(bytes), raw: `0x${toHex(bytes)}` })),
  };
}

const QUANTITIES: readonly BaseHeaderField[] = [
  "difficulty",
  "number",
  "gasLimit",
  "gasUsed",
  "timestamp",
  "baseFeePerGas",
  "blobGasUsed",
  "excessBlobGas",
  "slotNumber",
];

function headerJson(header: Uint8Array): Json {
  const members = [...decodeBaseHeader(header).fields].map(([name, bytes]) => {
    const digits = toHex(bytes);
    return [name, QUANTITIES.includes(name) ? `0x${digits.replace(/^0/, "") || "0"}` : `0x${digits}`];
  });
  return Object.fromEntries(members);
}
