import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { ProofError } from "@attestd/proof";
import { equalBytes, fromBase64 } from "@attestd/proof/encoding";
import type { Address, CompiledTransactionMessage, CompiledTransactionMessageWithLifetime } from "@solana/kit";
import { hasCode } from "../../../lib/errors.ts";
import { messageBytesOf, VERSION_1 } from "../../../providers/solana-wire.ts";
import { type PaymentRefused, paymentRefused } from "../rail.ts";
import { TOKEN_PROGRAM } from "./token-account.ts";

const require = createRequire(import.meta.url);

/**
 * Loads the library that decodes Solana transactions at the first payment on that rail, because it takes 0.1 s and 30
 * MB, and many services never see such a payment.
 */
function solanaKit(): typeof import("@solana/kit") {
  return require("@solana/kit");
}

/** The longest transaction that fits a packet. */
const MAX_BYTES = 1_232;
/** An instruction's first byte, and its length in bytes. */
export type Form = { tag: number; length: number };
export const TRANSFER_CHECKED: Form = { tag: 12, length: 10 };
/**
 * Offset of the addresses in a message of version 1: after the version, 3 header bytes, 4 of the configuration mask,
 * the blockhash and the numbers of instructions and of addresses (SIMD-0385).
 */
const VERSION_1_ADDRESSES = 1 + 3 + 4 + 32 + 1 + 1;

export const ADDRESS_TABLE = "the transaction takes accounts from an address table";

type Message = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime;

export type Instruction = { program: Address; accounts: readonly Address[]; data: Uint8Array };

/** A `TransferChecked` of the token program. */
export type Transfer = {
  source: Address;
  mint: Address;
  destination: Address;
  authority: Address;
  /** Atomic units. */
  amount: bigint;
  decimals: number;
};

/** A decoded Solana transaction and its token transfer. */
export type TransferTransaction = {
  /** The signed bytes. Two transactions with the same message are the same, whatever their signatures. */
  messageBytes: Uint8Array;
  message: Message;
  /** By account, 64 bytes; absent while the account has not signed. */
  signatures: ReadonlyMap<string, Uint8Array>;
  instructions: readonly Instruction[];
  transfer: Transfer;
};

/**
 * Reads `{transaction}` of scheme `exact` on Solana.
 * @param payload base64 of a transaction, with the signatures so far
 * @throws payment_refused when it has another shape, is not canonical, or moves no token
 */
export function readTransaction(payload: Record<string, unknown>): TransferTransaction {
  const strange = Object.keys(payload).find((member) => member !== "transaction");
  if (strange !== undefined)
    throw paymentRefused(`payload has the member ${strange}, which scheme exact does not have`);
  const { messageBytes, message, signatures } = decode(payload.transaction);
  const instructions = message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
    program: accountAt(message, programAddressIndex),
    accounts: accountIndices.map((index) => accountAt(message, index)),
    data: new Uint8Array(data ?? []),
  }));
  const transfer = instructions.map(readTransfer).find((found) => found !== undefined);
  if (!transfer) throw paymentRefused("the transaction has no TransferChecked of the token program");
  return { messageBytes, message, signatures, instructions, transfer };
}

function decode(text: unknown): Pick<TransferTransaction, "messageBytes" | "message" | "signatures"> {
  const kit = solanaKit();
  try {
    const wire = fromBase64(text as string);
    if (wire[0] === VERSION_1) throw versionRefused(1);
    if (wire.length > MAX_BYTES) throw new ProofError("malformed", "too long");
    const { messageBytes, signatures } = kit.getTransactionDecoder().decode(wire);
    const message = kit.getCompiledTransactionMessageDecoder().decode(messageBytes);
    // The decoders accept trailing bytes and overlong numbers.
    const encoded = kit.getTransactionEncoder().encode({ messageBytes, signatures });
    const encodedMessage = kit.getCompiledTransactionMessageEncoder().encode(message);
    if (
      !equalBytes(new Uint8Array(encoded), wire) ||
      !equalBytes(new Uint8Array(encodedMessage), new Uint8Array(messageBytes))
    )
      throw new ProofError("malformed", "not canonical");
    const signed = Object.entries(signatures).flatMap(([account, signature]) =>
      signature ? [[account, new Uint8Array(signature)] as const] : [],
    );
    return { messageBytes: new Uint8Array(messageBytes), message, signatures: new Map(signed) };
  } catch (error) {
    if (hasCode(error, "payment_refused")) throw error;
    throw paymentRefused(`payload.transaction is not base64 of a canonical Solana transaction`);
  }
}

/**
 * Returns the accounts that a landed transaction itself names, without those of address tables.
 * @returns undefined when it cannot be read
 */
export function accountsOf(wire: Uint8Array): readonly Address[] | undefined {
  const kit = solanaKit();
  try {
    const message = messageBytesOf(wire) as Uint8Array;
    if (wire[0] !== VERSION_1) return kit.getCompiledTransactionMessageDecoder().decode(message).staticAccounts;
    const count = message[VERSION_1_ADDRESSES - 1] ?? 0;
    return Array.from({ length: count }, (_, i) =>
      kit.getAddressDecoder().decode(message, VERSION_1_ADDRESSES + 32 * i),
    );
  } catch {
    return undefined;
  }
}

/** Makes the error for a version that scheme `exact` does not allow. @param version of the transaction */
export function versionRefused(version: 1 | "legacy"): PaymentRefused {
  return paymentRefused(`the transaction is of version ${version}, and scheme exact accepts only version 0`);
}

/** Hex SHA-256 of the message bytes: the identity of a transaction, whatever its signatures. */
export function messageHash(messageBytes: Uint8Array): string {
  return createHash("sha256").update(messageBytes).digest("hex");
}

/**
 * Returns an account by its index. An index beyond the message's own accounts is in an address table, which we do not
 * follow.
 */
function accountAt({ staticAccounts }: Message, index: number): Address {
  const account = staticAccounts[index];
  if (!account) throw paymentRefused(ADDRESS_TABLE);
  return account;
}

function readTransfer({ program, accounts, data }: Instruction): Transfer | undefined {
  const [source, mint, destination, authority] = accounts;
  if (program !== TOKEN_PROGRAM || !hasForm(TRANSFER_CHECKED, data)) return undefined;
  if (!source || !mint || !destination || !authority) return undefined;
  const amount = viewOf(data).getBigUint64(1, true);
  return { source, mint, destination, authority, amount, decimals: viewOf(data).getUint8(9) };
}

/** Whether an instruction has the tag and the length. */
export function hasForm({ tag, length }: Form, data: Uint8Array): boolean {
  return data.length === length && data[0] === tag;
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
