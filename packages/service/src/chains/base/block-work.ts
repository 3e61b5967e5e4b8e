import { baseTxHash, encodeQuantity, encodeRlp, type IndexProof, proveIndex, type RlpItem } from "@attestd/proof/base";
import { concatBytes, fromHex } from "@attestd/proof/encoding";
import { ProofError } from "@attestd/proof/errors";
import type { chainConfig } from "viem/op-stack";
import { z } from "zod";
import { wasmKeccak256 } from "../../lib/crypto/keccak.ts";
import type { RpcTransaction } from "../../providers/ethereum-rpc.ts";
import { hexBytes, hexQuantity } from "../../providers/hex-bytes.ts";

type RpcForm = Parameters<(typeof chainConfig)["formatters"]["transaction"]["format"]>[0];
type Serializable = Parameters<(typeof chainConfig)["serializers"]["transaction"]>[0];
type Signature = Parameters<(typeof chainConfig)["serializers"]["transaction"]>[1];

/**
 * Serialises a transaction's JSON to EIP-2718 bytes. They are a guess until hashed: for an unknown type the serialiser
 * loses fields.
 * @returns undefined for an unknown type (0x79 among them), or JSON that is not a transaction
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
    // A legacy transaction from before EIP-155 has no chain id; the serialiser would add it to the bytes.
    if (legacy) delete fields.chainId;
    const signature = legacy ? { r: fields.r, s: fields.s, v: fields.v } : undefined;
    const hex = serializers.transaction(fields as Serializable, signature as Signature | undefined);
    return Uint8Array.fromHex(hex.slice(2));
  } catch {
    return undefined;
  }
}

/**
 * Serialises a block's transactions.
 * @param hashes in block order
 * @param transactions as JSON, in block order
 * @returns the EIP-2718 bytes of each; undefined if the JSON does not lead to bytes with its hash
 */
export async function serializeTransactions(
  hashes: readonly string[],
  transactions: readonly RpcTransaction[],
): Promise<(Uint8Array | undefined)[]> {
  const keccak256 = await wasmKeccak256();
  return Promise.all(
    hashes.map(async (hash, index) => {
      const transaction = transactions[index];
      const bytes = transaction && (await serializeTransaction(transaction));
      return bytes && baseTxHash(bytes, keccak256) === hash ? bytes : undefined;
    }),
  );
}

/** Returns the root of the trie over a block's transactions or receipts, and the proof of one of them. */
export async function proveItem(items: readonly Uint8Array[], index: number): Promise<IndexProof> {
  return proveIndex(items, index, await wasmKeccak256());
}

const data = hexBytes.transform((text) => fromHex(text.slice(2).toLowerCase()));
const quantity = hexQuantity.transform((text) => encodeQuantity(BigInt(text)));
const Receipt = z.object({
  type: quantity.optional(),
  status: quantity,
  cumulativeGasUsed: quantity,
  logsBloom: data,
  logs: z.array(z.object({ address: data, topics: z.array(data), data })),
  depositNonce: quantity.nullish(),
  depositReceiptVersion: quantity.nullish(),
});

/**
 * Encodes receipts as in consensus (EIP-2718, EIP-658): the type, unless legacy, and RLP of status, gas, bloom and
 * logs. A deposit's receipt (0x7e) also has its nonce and version, since the fork that gave it a version (OP Stack,
 * Canyon). They are a guess until the receipts' root is reproduced: an unknown type may have more fields.
 * @param receipts as JSON, in block order
 * @throws ProofError `malformed` when one is not a receipt
 */
export function encodeReceipts(receipts: readonly unknown[]): Uint8Array[] {
  return receipts.map((json, index) => {
    const { success, data: receipt } = Receipt.safeParse(json);
    if (!success) throw new ProofError("malformed", `receipt ${index} is malformed`);
    const { type, status, cumulativeGasUsed, logsBloom, logs, depositNonce, depositReceiptVersion } = receipt;
    const fields: RlpItem[] = [status, cumulativeGasUsed, logsBloom];
    fields.push(logs.map((log) => [log.address, log.topics, log.data]));
    if (depositNonce && depositReceiptVersion) fields.push(depositNonce, depositReceiptVersion);
    const rlp = encodeRlp(fields);
    return type === undefined || type.length === 0 ? rlp : concatBytes(type, rlp);
  });
}
