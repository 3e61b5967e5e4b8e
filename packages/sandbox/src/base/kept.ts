import { fromUtf8, utf8 } from "@attestd/proof/encoding";
import { type Hex, hexToBigInt, numberToHex } from "viem";
import { serializeTransaction } from "viem/op-stack";
import type { NetworkArchive } from "../archive.ts";
import { inTurn } from "../in-turn.ts";
import type { RpcCall } from "../jsonrpc.ts";
import type { ServedBlock } from "./served.ts";

type BlockJson = { number: Hex; hash: Hex; transactions: TransactionJson[] };
type TransactionJson = { hash: Hex; type: string };
type DepositJson = Record<"sourceHash" | "from" | "to" | "mint" | "value" | "gas" | "input", Hex>;
type LogJson = { address: Hex; topics: Hex[] };
type ReceiptJson = { transactionHash: Hex; logs: LogJson[] };

/** A block of an earlier start that has transactions besides deposits, with anvil's answers about it. */
type KeptBlock = { block: BlockJson; raw: Hex[]; receipts: ReceiptJson[] };

/** The blocks of earlier starts. */
export type Kept = ReturnType<typeof readKept>;

/** The parameter of `eth_getLogs`. */
export type LogFilter = {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  address?: string | string[];
  topics?: (string | string[] | null)[];
};

/** Reads the blocks in an archive. */
export function readKept(archive: NetworkArchive) {
  const blocks = archive.records().map((record): KeptBlock => JSON.parse(fromUtf8(record)));
  return {
    blocks: blocks.map(served),
    /** Answers `eth_getLogs` from these blocks alone, ascending. */
    logs: (filter: LogFilter) => blocks.flatMap((kept) => logsOf(kept, filter)),
  };
}

function served({ block: { transactions, ...json }, raw, receipts }: KeptBlock): ServedBlock {
  return {
    number: Number(json.number),
    hash: json.hash,
    json,
    transactions: transactions.map((transaction, index) => ({
      hash: transaction.hash,
      raw: raw[index] as Hex,
      json: () => transaction,
      receipt: () => receipts[index],
    })),
    receipts: () => receipts,
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

/**
 * Returns the number of a block that a filter names. A tag, like an absent bound, means one of the blocks since the
 * start.
 */
function numberOf(block: string | undefined): number {
  if (block === "earliest") return 0;
  return block?.startsWith("0x") ? Number(block) : Number.POSITIVE_INFINITY;
}

/**
 * Keeps every block of anvil that has transactions besides deposits, and notes the number of the last one, until
 * disposal; then once more.
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
      else archive.add(next, utf8(JSON.stringify(await withAnswers(anvil, block))));
    }
  };
  // The next look repeats a failed one.
  const oneAtATime = inTurn();
  const lookInTurn = () => oneAtATime(look).catch(() => undefined);
  const timer = setInterval(lookInTurn, everyMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await lookInTurn();
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

/** Returns the bytes of a deposit, which anvil does not give: it aborts when asked. */
function depositBytes(transaction: object): Hex {
  const { sourceHash, from, to, input: data, ...others } = transaction as DepositJson;
  const amounts = { mint: hexToBigInt(others.mint), value: hexToBigInt(others.value), gas: hexToBigInt(others.gas) };
  return serializeTransaction({ type: "deposit", sourceHash, from, to, data, ...amounts });
}
