import { isProofError } from "@attestd/proof";
import { type BaseInclusion, readReceiptStatus } from "@attestd/proof/base";
import { equalBytes, toBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import type { EthereumRpc } from "../../providers/ethereum-rpc.ts";
import { hexBytes } from "../../providers/hex-bytes.ts";
import { isProviderError } from "../../providers/provider.ts";
import type { BaseReading } from "./bytes.ts";

const RawReceipts = z.array(hexBytes.min("0x00".length));

/** A way to the consensus bytes of a block's receipts; undefined where the node does not give them. */
type Way = (rpc: EthereumRpc, number: string, signal: AbortSignal) => Promise<Uint8Array[] | undefined>;

/**
 * The proof of a transaction's receipt, from the first receipts that reproduce the header's root.
 *
 * @returns undefined where none do: clients differ in what they return for new types, and the proof of the transaction is
 *   whole without it
 */
export async function proveReceipt(
  { nodes, work }: BaseReading,
  block: { number: number; index: number; receiptsRoot: Uint8Array; transaction: Uint8Array },
  signal: AbortSignal,
): Promise<BaseInclusion["receipt"]> {
  const encoded: Way = async (rpc, number, ends) => {
    const receipts = z
      .array(z.unknown())
      .safeParse(await rpc.callUnlessRefused("eth_getBlockReceipts", [number], z.unknown(), ends));
    return receipts.data && work.encodeReceipts(receipts.data);
  };
  for (const rpc of nodes.rpcs) {
    for (const way of [raw, encoded]) {
      const receipts = await way(rpc, `0x${block.number.toString(16)}`, signal).catch(unlessDefect);
      const bytes = receipts?.[block.index];
      if (!receipts || !bytes) continue;
      const { root, nodes: path } = await work.proveItem(receipts, block.index);
      if (equalBytes(root, block.receiptsRoot) && isReadable(bytes, block.transaction))
        return { bytesBase64: toBase64(bytes), nodes: path.map(toBase64) };
    }
  }
  return undefined;
}

/** Whether a verifier can read the receipt: one of a newer form is left out. */
function isReadable(receipt: Uint8Array, transaction: Uint8Array): boolean {
  try {
    readReceiptStatus(receipt, transaction);
    return true;
  } catch (error) {
    if (isProofError(error, "malformed")) return false;
    throw error;
  }
}

const raw: Way = async (rpc, number, signal) => {
  const receipts = RawReceipts.safeParse(
    await rpc.callUnlessRefused("debug_getRawReceipts", [number], z.unknown(), signal),
  );
  return receipts.data?.map((hex) => Uint8Array.fromHex(hex.slice(2)));
};

function unlessDefect(error: unknown): undefined {
  if (isProviderError(error) || isProofError(error, "malformed")) return undefined;
  throw error;
}
