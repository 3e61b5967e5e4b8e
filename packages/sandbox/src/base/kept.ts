import { type Hex, hexToBigInt, numberToHex } from "viem";
import { serializeTransaction } from "viem/op-stack";
import type { NetworkArchive } from "../archive.ts";
import type { RpcCall } from "../jsonrpc.ts";

type BlockJson = { number: Hex; hash: Hex; transactions: TransactionJson[] };
type TransactionJson = { hash: Hex; type: string };
type DepositJson = Record<"sourceHash" | "from" | "to" | "mint" | "value" | "gas" | "input", Hex>;
type LogJson = { address: Hex; topics: Hex[] };
type ReceiptJson = { transactionHash: Hex; logs: LogJson[] };

/** A block of an earlier start that has transactions beside deposits, as anvil answered for it. */
type KeptBlock = { block: BlockJson; raw: Hex[]; receipts: ReceiptJson[] };

type Methods = Record<string, (...args: unknown[]) => unknown>;

/** The blocks of earlier starts. */
export interface Kept {
  /** JSON-RPC's methods over them; undefined for anything that is not of them. */
  methods: Methods;
  /** What `eth_getLogs` answers of them alone, ascending. */
  logs(filter: LogFilter): LogJson[];
}

/** The parameter of `eth_getLogs`. */
export type LogFilter = {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  address?: string | string[];
  topics?: (string | string[] | null)[];
};

/** Reads the blocks in an archive. */
export function readKept(archive: NetworkArchive): Kept {
  const decoder = new TextDecoder();
  const blocks = archive.records().map((record): KeptBlock => JSON.parse(decoder.decode(record)));
  return { methods: methodsOver(blocks), logs: (filter) => blocks.flatMap((kept) => logsOf(kept, filter)) };
}

function methodsOver(blocks: readonly KeptBlock[]): Methods {
  const byNumber = new Map(blocks.map((kept) => [Number(kept.block.number), kept]));
  const byHash = new Map(blocks.map((kept) => [kept.block.hash, kept]));
  const byTransaction = new Map(
    blocks.flatMap((kept) => kept.block.transactions.map(({ hash }, index) => [hash, { kept, index }] as const)),
  );
  const numbered = (number: unknown) => byNumber.get(Number(number));
  const hashed = (hash: unknown) => byHash.get(String(hash).toLowerCase() as Hex);
  const placed = (hash: unknown) => byTransaction.get(String(hash).toLowerCase() as Hex);
  const shown = (kept: KeptBlock | undefined, full: unknown) =>
    kept &&
    (full === true ? kept.block : { ...kept.block, transactions: kept.block.transactions.map(({ hash }) => hash) });
  const count = (kept: KeptBlock | undefined) => kept && numberToHex(kept.raw.length);
  const nth = <T>(list: T[] | undefined, index: unknown) => list && (list[Number(index)] ?? null);
  const raw = (hash: unknown) => {
    const found = placed(hash);
    return found?.kept.raw[found.index];
  };
  return {
    eth_getBlockByNumber: (number, full) => shown(numbered(number), full),
    eth_getBlockByHash: (hash, full) => shown(hashed(hash), full),
    eth_getBlockTransactionCountByNumber: (number) => count(numbered(number)),
    eth_getBlockTransactionCountByHash: (hash) => count(hashed(hash)),
    eth_getBlockReceipts: (block) => (numbered(block) ?? hashed(block))?.receipts,
    eth_getTransactionByHash: (hash) => {
      const found = placed(hash);
      return found?.kept.block.transactions[found.index];
    },
    eth_getTransactionByBlockNumberAndIndex: (number, index) => nth(numbered(number)?.block.transactions, index),
    eth_getTransactionByBlockHashAndIndex: (hash, index) => nth(hashed(hash)?.block.transactions, index),
    eth_getRawTransactionByHash: raw,
    debug_getRawTransaction: raw,
    eth_getRawTransactionByBlockNumberAndIndex: (number, index) => nth(numbered(number)?.raw, index),
    eth_getRawTransactionByBlockHashAndIndex: (hash, index) => nth(hashed(hash)?.raw, index),
    eth_getTransactionReceipt: (hash) => {
      const found = placed(hash);
      return found?.kept.receipts[found.index];
    },
  };
}

function logsOf({ block, receipts }: KeptBlock, { fromBlock, toBlock, blockHash, address, topics = [] }: LogFilter) {
  const number = Number(block.number);
  const isIn =
    blockHash === undefined ? numberOf(fromBlock) <= number && number <= numberOf(toBlock) : blockHash === block.hash;
  if (!isIn) return [];
  const fits = (wanted: string | string[] | null | undefined, found: string | undefined) =>
    wanted == null || [wanted].flat().some((one) => one.toLowerCase() === found);
  const logs = receipts.flatMap((receipt) => receipt.logs);
  return logs.filter((log) => fits(address, log.address) && topics.every((topic, i) => fits(topic, log.topics[i])));
}

/** Of a block that a filter names. A tag names one of the blocks since the start, and so does a bound that is absent. */
function numberOf(block: string | undefined): number {
  if (block === "earliest") return 0;
  return block?.startsWith("0x") ? Number(block) : Number.POSITIVE_INFINITY;
}

/**
 * Keeps every block of anvil that has transactions beside deposits, and notes the number of the last one, until disposal;
 * then once more.
 *
 * @param from number of the first block to look at
 */
export function keepBlocks(anvil: RpcCall, archive: NetworkArchive, from: number, everyMs: number): AsyncDisposable {
  let next = from;
  const look = async () => {
    const head = Number(await anvil("eth_blockNumber", []));
    for (; next <= head; next++) {
      const number = numberToHex(next);
      const block = (await anvil("eth_getBlockByNumber", [number, true])) as BlockJson;
      if (block.transactions.every(isDeposit)) archive.note(next);
      else archive.add(next, new TextEncoder().encode(JSON.stringify(await withAnswers(anvil, block))));
    }
  };
  // One look at a time; a failed one is repeated by the next.
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look).catch(() => undefined);
  }, everyMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
      await look().catch(() => undefined);
    },
  };
}

const isDeposit = ({ type }: TransactionJson) => type === "0x7e";

async function withAnswers(anvil: RpcCall, block: BlockJson): Promise<KeptBlock> {
  const raw = block.transactions.map((one) =>
    isDeposit(one) ? depositBytes(one) : (anvil("eth_getRawTransactionByHash", [one.hash]) as Promise<Hex>),
  );
  const receipts = anvil("eth_getBlockReceipts", [block.number]) as Promise<ReceiptJson[]>;
  return { block, raw: await Promise.all(raw), receipts: await receipts };
}

/** The bytes of a deposit, which anvil does not give: it aborts when asked. */
function depositBytes(transaction: object): Hex {
  const { sourceHash, from, to, input: data, ...others } = transaction as DepositJson;
  const amounts = { mint: hexToBigInt(others.mint), value: hexToBigInt(others.value), gas: hexToBigInt(others.gas) };
  return serializeTransaction({ type: "deposit", sourceHash, from, to, data, ...amounts });
}
