import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type Address,
  getAddressEncoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  type SignatureBytes,
  type Transaction,
  type TransactionMessageBytes,
} from "@solana/kit";
import { decodeVersion1, MAX_VERSION_1_BYTES, type Message, VERSION_1 } from "./version1.ts";

/** The memo programs, old and new. */
const MEMO_PROGRAMS: ReadonlySet<Address> = new Set([
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo" as Address,
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr" as Address,
]);

/** Transactions of older versions must fit a packet. */
const MAX_WIRE_BYTES = 1232;

/** A decoded transaction. */
export interface DecodedTransaction {
  wire: Uint8Array;
  transaction: Transaction;
  message: Message;
  /** Hex SHA-256 of the message bytes: what makes two transactions the same, whatever their signatures. */
  messageHash: string;
  /** Base58 of the first signature, the transaction's id; of 64 zeros while the fee payer has not signed. */
  signature: string;
  accounts: readonly Address[];
}

/**
 * Decodes a transaction of any version: legacy, 0 or 1.
 * @param wire signatures and message as sent
 * @throws {Error} when the bytes are not exactly one transaction, or use address lookup tables, which the sandbox lacks
 */
export function decodeTransaction(wire: Uint8Array): DecodedTransaction {
  const isVersion1 = wire[0] === VERSION_1;
  const max = isVersion1 ? MAX_VERSION_1_BYTES : MAX_WIRE_BYTES;
  if (wire.length > max) throw new Error(`too large: ${wire.length} bytes (max: ${max})`);
  const { transaction, message } = isVersion1 ? decodeNew(wire) : decodeOld(wire);
  const [first] = Object.values(transaction.signatures);
  return {
    wire,
    transaction,
    message,
    messageHash: messageHash(transaction.messageBytes),
    signature: getBase58Decoder().decode(first ?? new Uint8Array(64)),
    accounts: message.staticAccounts,
  };
}

function decodeNew(wire: Uint8Array): Pick<DecodedTransaction, "transaction" | "message"> {
  const { message, messageBytes, signatures } = decodeVersion1(wire);
  const signed = signatures.map((signature, i) => {
    const bytes = signature.some((byte) => byte !== 0) ? (new Uint8Array(signature) as SignatureBytes) : null;
    return [message.staticAccounts[i], bytes] as const;
  });
  const transaction = {
    messageBytes: new Uint8Array(messageBytes) as unknown as TransactionMessageBytes,
    signatures: Object.fromEntries(signed),
  };
  return { message, transaction: transaction as Transaction };
}

function decodeOld(wire: Uint8Array): Pick<DecodedTransaction, "transaction" | "message"> {
  const transaction = getTransactionDecoder().decode(wire);
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  // The decoders ignore trailing bytes, so the message is encoded again and compared.
  const read = getCompiledTransactionMessageEncoder().encode(message);
  if (!Buffer.from(read).equals(new Uint8Array(transaction.messageBytes))) throw new Error("trailing bytes");
  if ("addressTableLookups" in message && (message.addressTableLookups?.length ?? 0) > 0) {
    throw new Error("address lookup tables are not served here");
  }
  return { transaction, message: message as Message };
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

/** A transaction's memos as a validator lists them, each with its length in bytes: `[5] hello; [2] hi`; null without any. */
export function memosOf({ message }: DecodedTransaction): string | null {
  const memos = message.instructions
    .filter(({ programAddressIndex }) => MEMO_PROGRAMS.has(message.staticAccounts[programAddressIndex] as Address))
    .map(({ data = new Uint8Array() }) => `[${data.length}] ${Buffer.from(data).toString()}`);
  return memos.length === 0 ? null : memos.join("; ");
}

function messageHash(bytes: Transaction["messageBytes"]): string {
  return createHash("sha256").update(new Uint8Array(bytes)).digest("hex");
}
