import { hash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type Address,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getAddressEncoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  type LegacyCompiledTransactionMessage,
} from "@solana/kit";

/** The memo programs, old and new. */
const MEMO_PROGRAMS: ReadonlySet<Address> = new Set([
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo" as Address,
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr" as Address,
]);

const MAX_WIRE_BYTES = 1232;
/** SIMD-0385 allows version 1, whose first byte is 0x81, more bytes than fit a packet. */
const MAX_VERSION_1_WIRE_BYTES = 4096;

type CompiledMessage = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime;

/** A message of any version, with its instructions in the form of the older versions. */
export interface Message extends Pick<CompiledMessage, "version" | "header" | "staticAccounts" | "lifetimeToken"> {
  instructions: LegacyCompiledTransactionMessage["instructions"];
}

export type DecodedTransaction = ReturnType<typeof decodeTransaction>;

/**
 * Decodes a transaction of any version: legacy, 0 or 1.
 * @param wire signatures and message as sent
 * @throws {Error} when the bytes are not exactly one transaction, or use address lookup tables, which the sandbox lacks
 */
export function decodeTransaction(wire: Uint8Array) {
  const max = wire[0] === 0x81 ? MAX_VERSION_1_WIRE_BYTES : MAX_WIRE_BYTES;
  if (wire.length > max) throw new Error(`too large: ${wire.length} bytes (max: ${max})`);
  const transaction = getTransactionDecoder().decode(wire);
  const messageBytes = new Uint8Array(transaction.messageBytes);
  const compiled = getCompiledTransactionMessageDecoder().decode(messageBytes);
  // The decoders ignore trailing bytes, so the message is encoded again and compared.
  const read = getCompiledTransactionMessageEncoder().encode(compiled);
  if (!Buffer.from(read).equals(messageBytes)) throw new Error("trailing bytes");
  if ("addressTableLookups" in compiled && (compiled.addressTableLookups?.length ?? 0) > 0)
    throw new Error("address lookup tables are not served here");
  const { version, header, staticAccounts, lifetimeToken } = compiled;
  const [first] = Object.values(transaction.signatures);
  return {
    wire,
    transaction,
    message: { version, header, staticAccounts, lifetimeToken, instructions: instructionsOf(compiled) },
    /** Hex SHA-256 of the message bytes. Transactions with the same message are the same, whatever their signatures. */
    messageHash: hash("sha256", messageBytes),
    /** Base58 of the first signature, the transaction's id; of 64 zeros while the fee payer has not signed. */
    signature: getBase58Decoder().decode(first ?? new Uint8Array(64)),
  };
}

function instructionsOf(message: CompiledMessage): Message["instructions"] {
  if (message.version !== 1) return message.instructions;
  return message.instructionHeaders.map(({ programAccountIndex }, index) => {
    const { instructionAccountIndices = [], instructionData } = message.instructionPayloads[index] ?? {};
    return {
      programAddressIndex: programAccountIndex,
      accountIndices: instructionAccountIndices,
      ...(instructionData && { data: instructionData }),
    };
  });
}

/** Whether every account that has to sign has signed these message bytes (ed25519, RFC 8032). */
export function hasValidSignatures({ transaction }: DecodedTransaction): boolean {
  return Object.entries(transaction.signatures).every(
    ([address, signature]) =>
      signature !== null &&
      ed25519.verify(
        new Uint8Array(signature),
        new Uint8Array(transaction.messageBytes),
        new Uint8Array(getAddressEncoder().encode(address as Address)),
        { zip215: false },
      ),
  );
}

/**
 * Returns a transaction's memos as a validator lists them, each with its length in bytes: `[5] hello; [2] hi`; null
 * without any.
 */
export function memosOf({ message }: DecodedTransaction): string | null {
  const memos = message.instructions
    .filter(({ programAddressIndex }) => MEMO_PROGRAMS.has(message.staticAccounts[programAddressIndex] as Address))
    .map(({ data = new Uint8Array() }) => `[${data.length}] ${Buffer.from(data).toString()}`);
  return memos.length === 0 ? null : memos.join("; ");
}
