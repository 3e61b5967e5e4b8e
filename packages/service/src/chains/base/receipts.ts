import { type BaseInclusion, readReceiptStatus } from "@attestd/proof/base";
import { equalBytes, toBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import { ignoring } from "../../lib/errors.ts";
import type { EthereumRpc } from "../../providers/ethereum-rpc.ts";
import { hexBytes } from "../../providers/hex-bytes.ts";
import { isUnusable } from "../../providers/provider.ts";
import { orEnded } from "../../providers/quorum.ts";
import type { BaseReading } from "./bytes.ts";

const RawReceipts = z.array(hexBytes.min("0x00".length).transform((hex) => Uint8Array.fromHex(hex.slice(2))));

/**
 * Proves a transaction's receipt, from the first receipts that reproduce the header's root.
 * @returns undefined if none do, or a verifier could not read the receipt: clients differ in what they return for new
 *   types, and the transaction's proof is complete without it
 */
export async function proveReceipt(
  { nodes, work }: BaseReading,
  {
    number,
    index,
    receiptsRoot,
    transaction,
  }: Record<"number" | "index", number> & Record<"receiptsRoot" | "transaction", Uint8Array>,
  signal: AbortSignal,
): Promise<BaseInclusion["receipt"]> {
  const height = `0x${number.toString(16)}`;
  const readRaw = (rpc: EthereumRpc) => rpc.call("debug_getRawReceipts", [height], RawReceipts, signal);
  const encode = async (rpc: EthereumRpc) => {
    return work.encodeReceipts(await rpc.call("eth_getBlockReceipts", [height], z.array(z.unknown()), signal));
  };
  const prove = async (receipts: Uint8Array[]) => {
    const bytes = receipts[index];
    if (!bytes) return undefined;
    const { root, nodes: path } = await work.proveItem(receipts, index);
    if (!equalBytes(root, receiptsRoot)) return undefined;
    readReceiptStatus(bytes, transaction);
    return { bytesBase64: toBase64(bytes), nodes: path.map(toBase64) };
  };
  const about = `the receipts of block ${number}`;
  for (const rpc of nodes.rpcs) {
    for (const read of [readRaw, encode]) {
      const receipt = await orEnded(read(rpc), about, signal).then(prove).catch(ignoring(isUnusable));
      if (receipt) return receipt;
    }
  }
  return undefined;
}
