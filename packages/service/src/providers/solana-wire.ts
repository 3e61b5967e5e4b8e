import { base58 } from "@scure/base";

const SIGNATURE_BYTES = 64;
/**
 * This bit is set in the first byte of a wire form that begins with the version; others begin with the number of
 * signatures.
 */
const VERSIONED = 0x80;
/** First byte of a transaction of version 1 (SIMD-0385). */
export const VERSION_1 = 0x81;

/** Splits a transaction's wire form. Version 1 has its signatures last, and the older forms have them first. */
function partsOf(wire: Uint8Array): { message: Uint8Array; signatures: Uint8Array } | undefined {
  const [first = 0, second = 0] = wire;
  if (first === VERSION_1) {
    const end = Math.max(0, wire.length - SIGNATURE_BYTES * second);
    return { message: wire.subarray(0, end), signatures: wire.subarray(end) };
  }
  if (first >= VERSIONED) return undefined;
  const end = 1 + SIGNATURE_BYTES * first;
  return { message: wire.subarray(end), signatures: wire.subarray(1, end) };
}

/**
 * Returns the message of a landed transaction: the signed bytes. The message is not parsed, so that a stranger's
 * transaction is never an error.
 * @param wire of any version
 * @returns undefined when the version is unknown
 */
export function messageBytesOf(wire: Uint8Array): Uint8Array | undefined {
  return partsOf(wire)?.message;
}

/**
 * Returns the id of a landed transaction: its first signature, in base58.
 * @param wire of any version
 * @returns undefined when the version is unknown, or there is no signature
 */
export function transactionIdOf(wire: Uint8Array): string | undefined {
  const signature = partsOf(wire)?.signatures.subarray(0, SIGNATURE_BYTES);
  return signature?.length === SIGNATURE_BYTES ? base58.encode(signature) : undefined;
}
