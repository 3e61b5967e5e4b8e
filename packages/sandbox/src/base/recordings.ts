import { type Hex, keccak256 } from "viem";
import { named, readRecordingFiles } from "../recording-files.ts";
import { headerFromRlp } from "./encoding.ts";

/** A recorded block: real bytes, checked against their hashes. */
export interface RecordedBlock {
  /** The chain on which it was recorded. It is served as chain 8453. */
  chainId: number;
  number: number;
  hash: Hex;
  /** The header's members in JSON-RPC's form, read from the bytes that `hash` covers. */
  header: Record<string, unknown>;
  transactions: RecordedTransaction[];
}

export interface RecordedTransaction {
  block: RecordedBlock;
  hash: Hex;
  /** EIP-2718 bytes. */
  raw: Hex;
  index: number;
}

/**
 * Reads `base/blocks/*.json` of a replay directory, each `{chainId, number, hash, header, headerRlp, transactions:
 * [{hash, raw}]}`; an absent folder has no recordings.
 * @returns the blocks by number, ascending
 * @throws {Error} naming the file, when it is not such JSON, when the header's RLP or a transaction's bytes do not have
 *   the recorded keccak-256, when `header` or `number` differs from the RLP, or when another file has that number
 */
export async function readRecordings(replayDir: string | undefined): Promise<RecordedBlock[]> {
  const files = new Map<number, string>();
  const blocks: RecordedBlock[] = [];
  for (const [file, bytes] of await readRecordingFiles(replayDir, "base/blocks", ".json")) {
    const block = named(file, () => parseBlock(JSON.parse(bytes.toString("utf8"))));
    const other = files.get(block.number);
    if (other !== undefined) throw new Error(`${other} and ${file} both claim block ${block.number}`);
    files.set(block.number, file);
    blocks.push(block);
  }
  return blocks.sort((a, b) => a.number - b.number);
}

function parseBlock(recording: Record<string, unknown>): RecordedBlock {
  const { chainId, number, header: stated, transactions } = recording;
  const hash = hex(recording.hash, "hash");
  const headerRlp = hex(recording.headerRlp, "headerRlp");
  if (!Number.isSafeInteger(chainId)) throw new Error("chainId is not an integer");
  if (!Array.isArray(transactions)) throw new Error("transactions is not a list");

  if (keccak256(headerRlp) !== hash) throw new Error(`headerRlp does not have the hash ${hash}`);
  const header = headerFromRlp(headerRlp);
  if (Number(header.number) !== number) throw new Error(`number is ${number}, but headerRlp has ${header.number}`);
  for (const name of new Set([...Object.keys(header), ...Object.keys((stated ?? {}) as object)])) {
    const value = (stated as Record<string, unknown> | undefined)?.[name];
    if (value !== header[name]) throw new Error(`header.${name} is ${value}, but headerRlp has ${header[name]}`);
  }
  const block: RecordedBlock = { chainId: Number(chainId), number: Number(number), hash, header, transactions: [] };
  block.transactions = transactions.map((transaction: Record<string, unknown>, index) => {
    const raw = hex(transaction.raw, `transactions[${index}].raw`);
    const hash = hex(transaction.hash, `transactions[${index}].hash`);
    if (keccak256(raw) !== hash) throw new Error(`transactions[${index}].raw does not have the hash ${hash}`);
    return { block, hash, raw, index };
  });
  return block;
}

function hex(value: unknown, name: string): Hex {
  if (typeof value !== "string" || value.length % 2 !== 0 || !/^0x[0-9a-f]+$/.test(value))
    throw new Error(`${name} is not lower-case hex`);
  return value as Hex;
}
