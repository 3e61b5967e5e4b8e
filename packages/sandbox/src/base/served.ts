import { type Hex, numberToHex } from "viem";

/** A block about which the proxy answers instead of anvil. */
export interface ServedBlock {
  number: number;
  hash: Hex;
  /** Its JSON without `transactions`. */
  json: object;
  transactions: readonly ServedTransaction[];
  /** The answer of `eth_getBlockReceipts`. */
  receipts(): unknown;
}

export interface ServedTransaction {
  hash: Hex;
  /** EIP-2718 bytes. */
  raw: Hex;
  json(): unknown;
  receipt(): unknown;
}

/**
 * Returns JSON-RPC's methods over blocks. If several have one number, the last counts. Methods return undefined for
 * anything that does not belong to these blocks, and null for an index beyond a block's last.
 */
export function servedMethods(blocks: readonly ServedBlock[]): ReadonlyMap<string, (...args: unknown[]) => unknown> {
  const byNumber = new Map(blocks.map((block) => [block.number, block]));
  const byHash = new Map<string, ServedBlock>(blocks.map((block) => [block.hash, block]));
  const byTransaction = new Map<string, ServedTransaction>(
    blocks.flatMap(({ transactions }) => transactions.map((one) => [one.hash, one] as const)),
  );
  const numbered = (number: unknown) => (isHex(number) ? byNumber.get(Number(number)) : undefined);
  const hashed = (hash: unknown) => (isHex(hash) ? byHash.get(hash.toLowerCase()) : undefined);
  const transaction = (hash: unknown) => (isHex(hash) ? byTransaction.get(hash.toLowerCase()) : undefined);
  const nth = (block: ServedBlock | undefined, index: unknown) => block && (block.transactions[Number(index)] ?? null);
  const count = (block: ServedBlock | undefined) => block && numberToHex(block.transactions.length);
  const json = (found: ServedTransaction | null | undefined) => (found ? found.json() : found);
  const raw = (found: ServedTransaction | null | undefined) => (found ? found.raw : found);
  return new Map(
    Object.entries({
      eth_getBlockByNumber: (number, full) => blockJson(numbered(number), full),
      eth_getBlockByHash: (hash, full) => blockJson(hashed(hash), full),
      eth_getBlockTransactionCountByNumber: (number) => count(numbered(number)),
      eth_getBlockTransactionCountByHash: (hash) => count(hashed(hash)),
      eth_getBlockReceipts: (block) => (numbered(block) ?? hashed(block))?.receipts(),
      eth_getTransactionByHash: (hash) => json(transaction(hash)),
      eth_getTransactionByBlockNumberAndIndex: (number, index) => json(nth(numbered(number), index)),
      eth_getTransactionByBlockHashAndIndex: (hash, index) => json(nth(hashed(hash), index)),
      eth_getRawTransactionByHash: (hash) => raw(transaction(hash)),
      debug_getRawTransaction: (hash) => raw(transaction(hash)),
      eth_getRawTransactionByBlockNumberAndIndex: (number, index) => raw(nth(numbered(number), index)),
      eth_getRawTransactionByBlockHashAndIndex: (hash, index) => raw(nth(hashed(hash), index)),
      eth_getTransactionReceipt: (hash) => transaction(hash)?.receipt(),
    } satisfies Record<string, (...args: unknown[]) => unknown>),
  );
}

async function blockJson(block: ServedBlock | undefined, full: unknown): Promise<object | undefined> {
  if (!block) return undefined;
  const transactions = await Promise.all(block.transactions.map((one) => (full === true ? one.json() : one.hash)));
  return { ...block.json, transactions };
}

const isHex = (value: unknown): value is Hex => typeof value === "string" && value.startsWith("0x");
