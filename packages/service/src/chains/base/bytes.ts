import { isProofError } from "@attestd/proof";
import { baseTxHash, decodeBaseTransaction, evmCaip2, transactionChainId } from "@attestd/proof/base";
import type { chainConfig } from "viem/op-stack";
import { ServiceError } from "../../errors.ts";
import type { EthereumRpc, Receipt, RpcTransaction } from "../../providers/ethereum-rpc.ts";
import { isProviderError, type ProviderError } from "../../providers/provider.ts";
import { ended, type QuorumRules, reportConflict } from "../../providers/quorum.ts";

type RpcForm = Parameters<(typeof chainConfig)["formatters"]["transaction"]["format"]>[0];
type Serializable = Parameters<(typeof chainConfig)["serializers"]["transaction"]>[0];
type Signature = Parameters<(typeof chainConfig)["serializers"]["transaction"]>[1];

/** Where a transaction is. */
export type TransactionPlace = Pick<Receipt, "transactionHash" | "blockHash" | "transactionIndex">;

/** One way to a transaction's bytes; it gives undefined when it does not lead there. */
type Rung = { name: string; climb(rpc: EthereumRpc, signal: AbortSignal): Promise<Uint8Array | undefined> };

/**
 * Fetches a transaction's EIP-2718 bytes by every way there is, node after node. Several clients have shipped wrong raw
 * bytes: bytes are accepted from any node if they hash to the id, and from none if they do not; wrong ones are reported.
 *
 * @throws SourceError source_unreadable when every node answered and none gave the bytes; ProviderError when a node that
 * may have them could not be asked
 */
export async function fetchBytes(
  rpcs: readonly EthereumRpc[],
  { transactionHash: hash, blockHash, transactionIndex }: TransactionPlace,
  rules: QuorumRules,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const about = `the bytes of transaction ${hash}`;
  let type = "unknown";
  const reserialize = async (rpc: EthereumRpc, ends: AbortSignal) => {
    const transaction = await rpc.transaction(hash, ends);
    type = transaction?.type ?? type;
    return transaction && serializeTransaction(transaction);
  };
  const ladder: Rung[] = [
    raw("eth_getRawTransactionByHash", [hash]),
    raw("eth_getRawTransactionByBlockHashAndIndex", [blockHash, `0x${transactionIndex.toString(16)}`]),
    raw("debug_getRawTransaction", [hash]),
    { name: "eth_getTransactionByHash", climb: reserialize },
  ];
  let unasked: ProviderError | undefined;
  for (const rpc of rpcs) {
    for (const { name, climb } of ladder) {
      const bytes = await climb(rpc, signal).catch((error: unknown) => {
        if (signal.aborted) throw ended(signal, about);
        if (!isProviderError(error)) throw error;
        unasked = error;
        return undefined;
      });
      if (bytes === undefined) continue;
      const actual = baseTxHash(bytes);
      if (actual === hash) return bytes;
      const answers = [{ provider: rpc.name, answer: `${name} leads to bytes of ${actual}` }];
      reportConflict({ about, answers }, rules);
    }
  }
  const message = `no node gives bytes of transaction ${hash}, of type ${type}, that hash to it`;
  throw unasked ?? new ServiceError("source_unreadable", message);
}

function raw(method: string, params: readonly unknown[]): Rung {
  return { name: method, climb: (rpc, signal) => rpc.raw(method, params, signal) };
}

/**
 * EIP-2718 bytes from a transaction's JSON. A guess until they are hashed: JSON of a type that the serialiser does not
 * know loses fields.
 *
 * @returns undefined for an unknown type (0x79 among them), or JSON that makes no transaction
 */
export async function serializeTransaction(json: RpcTransaction): Promise<Uint8Array | undefined> {
  // Rarely needed, and slow to load.
  const { formatters, serializers } = (await import("viem/op-stack")).chainConfig;
  try {
    // anvil prints 0x7E.
    const rpc = { ...json, type: json.type?.toLowerCase() ?? "0x0" } as unknown as RpcForm;
    const fields: Record<string, unknown> = { ...formatters.transaction.format(rpc, "") };
    if (fields.type === undefined) return undefined;
    fields.data = fields.input ?? fields.data;
    const legacy = fields.type === "legacy";
    // A chain id beside the v of a transaction from before EIP-155 would be written into its bytes.
    if (legacy) delete fields.chainId;
    const signature = legacy ? { r: fields.r, s: fields.s, v: fields.v } : undefined;
    const hex = serializers.transaction(fields as Serializable, signature as Signature | undefined);
    return Uint8Array.fromHex(hex.slice(2));
  } catch {
    return undefined;
  }
}

/**
 * Requires that a transaction, where it names a chain, names one of those accepted.
 *
 * @param bytes EIP-2718, of the hash
 * @throws SourceError source_wrong_chain; source_unreadable when the bytes are of no known form
 */
export function requireChain(hash: string, bytes: Uint8Array, accepted: ReadonlySet<string>): void {
  const chainId = readChainId(hash, bytes);
  if (chainId === undefined || accepted.has(evmCaip2(chainId))) return;
  throw new ServiceError(
    "source_wrong_chain",
    `transaction ${hash} belongs to ${evmCaip2(chainId)}, which is not attested`,
  );
}

function readChainId(hash: string, bytes: Uint8Array): bigint | undefined {
  try {
    return transactionChainId(decodeBaseTransaction(bytes));
  } catch (cause) {
    if (!isProofError(cause, "malformed")) throw cause;
    throw new ServiceError("source_unreadable", `the bytes of transaction ${hash} are of no known form`, { cause });
  }
}
