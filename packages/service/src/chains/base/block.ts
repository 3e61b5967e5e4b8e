import { isProofError } from "@attestd/proof";
import { decodeBaseHeader, decodeQuantity, encodeBaseHeader, unknownHeaderFields } from "@attestd/proof/base";
import { equalBytes, toBase64 } from "@attestd/proof/encoding";
import { hasCode, ServiceError } from "../../lib/errors.ts";
import type { EthereumRpc } from "../../providers/ethereum-rpc.ts";
import { unavailable } from "../../providers/provider.ts";
import { agreeOnQuantity } from "../../providers/quantity.ts";
import { agree, ifAny, type QuorumRules, reportConflict } from "../../providers/quorum.ts";
import { type ConfirmationLevel, LEVELS, type ProvedTransaction, type SourceBlock } from "../chain.ts";
import { type BaseReading, foreignChain, readTransactions } from "./bytes.ts";
import { proveReceipt } from "./receipts.ts";

/** A block from one node, with its header's bytes bound to its hash. */
type Seen = { rpc: EthereumRpc; hash: string; header: Uint8Array; transactions: string[]; level: ConfirmationLevel };

/**
 * Reads the block of a number. The nodes agree on its hash (k of n); its level is the highest that as many of them see.
 * @throws SourceError block_not_found; ProviderError
 */
export async function readBaseBlock(number: number, reading: BaseReading, signal: AbortSignal): Promise<SourceBlock> {
  const { nodes, caip2, accepted, work } = reading;
  const about = `block ${number}`;
  const question = ifAny(about, (block: Seen) => block.hash, signal, "none yet");
  const looks = new Map(nodes.rpcs.map((rpc) => [rpc, look(rpc, number, nodes.rules, signal)]));
  const ask = (rpc: EthereumRpc) => looks.get(rpc) as Promise<Seen | undefined>;
  const answers = await agree(nodes.rpcs, ask, question, nodes.rules);
  const seen = answers.filter((answer) => answer !== undefined);
  const [first] = seen;
  if (!first) throw new ServiceError("block_not_found", `Base has no block ${number} yet`);

  const { hash, header } = first;
  const same = async (rpc: EthereumRpc) => ((await ask(rpc))?.hash === hash ? ask(rpc) : undefined);
  const level = await agreeOnLevel(nodes.rpcs, same, { about, signal }, nodes.rules);
  const { transactionsRoot, receiptsRoot } = decodeBaseHeader(header);
  return {
    chain: "base",
    caip2,
    height: number,
    blockHash: hash,
    header,
    level,
    async find(txnId) {
      const holding = seen.filter(({ transactions }) => transactions.includes(txnId));
      return holding.length === 0 ? undefined : { prove: (ends) => prove(txnId, holding, ends) };
    },
  };

  async function prove(txnId: string, holding: readonly Seen[], ends: AbortSignal): Promise<ProvedTransaction> {
    const { index, bytes, path } = await proveByAny(txnId, holding, ends);
    const foreign = foreignChain(txnId, bytes, accepted);
    if (foreign) throw foreign;
    const receipt = await proveReceipt(reading, { number, index, receiptsRoot, transaction: bytes }, ends);
    await requireCanonical(ends);
    const inclusion = { kind: "mpt", index, nodes: path.map(toBase64), ...(receipt && { receipt }) } as const;
    return { bytes, inclusion };
  }

  /**
   * Proves with the first node whose transactions lead to the header. The headers are equal, so all such transactions
   * are, too.
   */
  async function proveByAny(txnId: string, holding: readonly Seen[], ends: AbortSignal) {
    let fault: Error | undefined;
    for (const { rpc, transactions } of holding) {
      const index = transactions.indexOf(txnId);
      const items = await readTransactions(reading, { hash, transactions }, ends).catch((error: unknown) => {
        // This node may have invented a transaction.
        if (!hasCode(error, "source_unreadable")) throw error;
        fault = error;
      });
      if (!items) continue;
      const { root, nodes: path } = await work.proveItem(items, index);
      if (equalBytes(root, transactionsRoot)) return { index, bytes: items[index] as Uint8Array, path };
      const answers = [{ provider: rpc.name, answer: "transactions that do not lead to the header's root" }];
      fault = reportConflict({ about: `block ${number} ${hash}`, answers }, nodes.rules);
    }
    throw fault ?? unavailable(`no node gave the transactions of block ${number}`);
  }

  /** Checks that the block was not replaced while the proof was built, if it is not final. @throws ProviderError */
  async function requireCanonical(ends: AbortSignal): Promise<void> {
    const ask = async (rpc: EthereumRpc, end: AbortSignal) => (await rpc.header(number, end))?.hash;
    const question = ifAny(`the hash of block ${number}`, String, ends);
    const [now = "none"] = await agree(nodes.rpcs, ask, question, nodes.rules);
    if (now !== hash)
      throw unavailable(`block ${number} was replaced while it was read: it was ${hash}, and is ${now}`);
  }
}

/**
 * Reads a node's heads.
 * @returns gives a block's level by its number, if the block is read afterwards and canonical then
 */
export async function readLevels(
  rpc: EthereumRpc,
  signal: AbortSignal,
): Promise<(number: number) => ConfirmationLevel> {
  const [safe, finalized] = await Promise.all([rpc.block("safe", signal), rpc.block("finalized", signal)]);
  return (number) => {
    if (finalized && finalized.number >= number) return "finalized";
    return safe && safe.number >= number ? "safe" : "included";
  };
}

/**
 * Returns the highest level that a quorum of the nodes see: a minority can neither raise nor lower it.
 * @param see what a node shows about the thing that they agreed on; undefined if it shows another one
 * @throws ProviderError
 */
export async function agreeOnLevel<N extends { readonly name: string }>(
  nodes: readonly N[],
  see: (node: N) => Promise<{ level: ConfirmationLevel } | undefined>,
  question: { about: string; signal: AbortSignal },
  rules: QuorumRules,
): Promise<ConfirmationLevel> {
  const rank = async (node: N) => {
    const seen = await see(node);
    if (seen === undefined) throw unavailable(`${node.name} shows something else of ${question.about}`);
    return LEVELS.indexOf(seen.level);
  };
  return LEVELS[await agreeOnQuantity(nodes, rank, question, rules)] as ConfirmationLevel;
}

/** @returns undefined if the node's chain does not reach that far yet */
async function look(
  rpc: EthereumRpc,
  number: number,
  rules: QuorumRules,
  signal: AbortSignal,
): Promise<Seen | undefined> {
  // The heads come before the block: a block that is canonical afterwards was so when a head had passed it.
  const [latest, levelOf] = await Promise.all([rpc.latest(signal), readLevels(rpc, signal)]);
  if (latest.number < number) return undefined;
  const json = await rpc.header(number, signal);
  if (json === undefined) throw unavailable(`${rpc.name} does not keep block ${number}`);
  const { hash, transactions } = json;
  const header = readHeader({ provider: rpc.name, number }, json, rules).bytes;
  return { rpc, hash, header, transactions, level: levelOf(number) };
}

/**
 * Reads the header in a block's JSON. An unreadable one is logged: a fork may have added a field to headers.
 * @returns its bytes, which have the block's hash and number, and its time in Unix s
 * @throws ProviderError when the JSON gives no such header
 */
export function readHeader(
  { provider, number }: { provider: string; number: number },
  json: Record<string, unknown>,
  rules: QuorumRules,
) {
  try {
    const bytes = encodeBaseHeader(json);
    const header = decodeBaseHeader(bytes);
    const time = Number(decodeQuantity(header.fields.get("timestamp") as Uint8Array));
    if (header.number === number && Number.isSafeInteger(time)) return { bytes, time };
  } catch (error) {
    if (!isProofError(error, "malformed")) throw error;
    const unknownFields = unknownHeaderFields(json);
    rules.onUnreadHeader?.({ about: `block ${number}`, provider, reason: error.message, unknownFields });
    throw unavailable(`${provider} gave a header of block ${number} that cannot be read: ${error.message}`, error);
  }
  throw unavailable(`${provider} gave another block than ${number}`);
}
