import { createHash } from "node:crypto";
import { DecodeError, equalBytes, fromBase64 } from "@attestd/proof/encoding";
import type { Address, CompiledTransactionMessage, CompiledTransactionMessageWithLifetime } from "@solana/kit";
import { isOnCurve, solanaAddress, solanaAddressBytes } from "../../../config/solana-address.ts";
import { PaymentRefused } from "../rail.ts";
import { solanaKit } from "./kit.ts";

/** USDC on MainNet; the sandbox's has the same address. */
export const SOLANA_USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
export const USDC_DECIMALS = 6;

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const COMPUTE_BUDGET_PROGRAM = "ComputeBudget111111111111111111111111111111";
const MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";

/** The longest transaction that fits a packet. */
const MOST_BYTES = 1_232;
/** An instruction's first byte, and its length in bytes. */
type Form = { tag: number; length: number };
const SET_COMPUTE_UNIT_LIMIT: Form = { tag: 2, length: 5 };
const SET_COMPUTE_UNIT_PRICE: Form = { tag: 3, length: 9 };
const TRANSFER_CHECKED: Form = { tag: 12, length: 10 };
/** The stock client's bound. */
const MOST_MEMO_BYTES = 256;

const SIGNATURE_BYTES = 64;
/** A wire form that begins with the version has this bit set; others begin with the number of signatures. */
const VERSIONED = 0x80;
const VERSION_1 = 0x81;
/**
 * Where the addresses begin in a message of version 1: after the version, 3 header bytes, 4 of the configuration mask, the
 * blockhash and the numbers of instructions and of addresses (SIMD-0385).
 */
const VERSION_1_ADDRESSES = 1 + 3 + 4 + 32 + 1 + 1;

const ADDRESS_TABLE = "the transaction takes accounts from an address table";

/** What a payment may make its fee payer pay beside the fee of two signatures, which is 10,000 lamports. */
export type SolanaLimits = {
  /** Compute units that a payment may ask for. The stock client asks for 20,000. */
  computeUnits: number;
  /** micro-lamports that it may offer for each of them. The stock client offers 1. */
  microLamports: number;
};

type Message = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime;

type Instruction = { program: Address; accounts: readonly Address[]; data: Uint8Array };

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

/** A Solana transaction taken apart, and the token transfer in it. */
export type TransferTransaction = {
  /** What is signed, and what makes two transactions the same whatever their signatures. */
  messageBytes: Uint8Array;
  message: Message;
  /** By account, 64 bytes; absent while the account has not signed. */
  signatures: ReadonlyMap<string, Uint8Array>;
  instructions: readonly Instruction[];
  transfer: Transfer;
};

/**
 * Reads `{transaction}` of scheme `exact` on Solana.
 *
 * @param payload base64 of a transaction, as far as it is signed
 * @throws PaymentRefused when it is of another shape, not canonical, or moves no token
 */
export function readTransaction(payload: Record<string, unknown>): TransferTransaction {
  const strange = Object.keys(payload).find((member) => member !== "transaction");
  if (strange !== undefined) throw new PaymentRefused(`payload has the member ${strange}, which scheme exact has not`);
  const { messageBytes, message, signatures } = decode(payload.transaction);
  const instructions = message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
    program: accountAt(message, programAddressIndex),
    accounts: accountIndices.map((index) => accountAt(message, index)),
    data: new Uint8Array(data ?? []),
  }));
  const transfer = instructions.map(readTransfer).find((found) => found !== undefined);
  if (!transfer) throw new PaymentRefused("the transaction has no TransferChecked of the token program");
  return { messageBytes, message, signatures, instructions, transfer };
}

function decode(text: unknown): Pick<TransferTransaction, "messageBytes" | "message" | "signatures"> {
  const kit = solanaKit();
  try {
    const wire = fromBase64(text as string);
    if (wire.length > MOST_BYTES) throw new DecodeError("too long");
    const { messageBytes, signatures } = kit.getTransactionDecoder().decode(wire);
    const message = kit.getCompiledTransactionMessageDecoder().decode(messageBytes);
    // The decoders pass over trailing bytes, and numbers in more bytes than they need.
    const encoded = kit.getTransactionEncoder().encode({ messageBytes, signatures });
    const encodedMessage = kit.getCompiledTransactionMessageEncoder().encode(message);
    if (
      !equalBytes(new Uint8Array(encoded), wire) ||
      !equalBytes(new Uint8Array(encodedMessage), new Uint8Array(messageBytes))
    )
      throw new DecodeError("not canonical");
    const signed = Object.entries(signatures).flatMap(([account, signature]) =>
      signature ? [[account, new Uint8Array(signature)] as const] : [],
    );
    return { messageBytes: new Uint8Array(messageBytes), message, signatures: new Map(signed) };
  } catch {
    throw new PaymentRefused(`payload.transaction is not base64 of a canonical Solana transaction`);
  }
}

/**
 * The message of a transaction as the ledger has it: what follows its signatures, and in version 1 what is before them.
 * Nothing in it is read, so that no transaction of a stranger is an error.
 *
 * @param wire of any version
 * @returns undefined where the signatures cannot be told from the message
 */
export function messageBytesOf(wire: Uint8Array): Uint8Array | undefined {
  const [first = 0, second = 0] = wire;
  const isVersion1 = first === VERSION_1;
  if (!isVersion1 && first >= VERSIONED) return undefined;
  const signatures = SIGNATURE_BYTES * (isVersion1 ? second : first);
  return isVersion1 ? wire.subarray(0, wire.length - signatures) : wire.subarray(1 + signatures);
}

/**
 * The accounts that a landed transaction names itself, not those of address tables.
 *
 * @returns undefined for a form that we do not read
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

/** Hex SHA-256 of the message bytes: the identity of a transaction, whatever its signatures. */
export function messageHash(messageBytes: Uint8Array): string {
  return createHash("sha256").update(messageBytes).digest("hex");
}

/** Indices beyond the message's own accounts are of an address table, which we do not follow. */
function accountAt({ staticAccounts }: Message, index: number): Address {
  const account = staticAccounts[index];
  if (!account) throw new PaymentRefused(ADDRESS_TABLE);
  return account;
}

function readTransfer({ program, accounts, data }: Instruction): Transfer | undefined {
  const [source, mint, destination, authority] = accounts;
  if (program !== TOKEN_PROGRAM || !is(TRANSFER_CHECKED, data)) return undefined;
  if (!source || !mint || !destination || !authority) return undefined;
  const amount = viewOf(data).getBigUint64(1, true);
  return { source, mint, destination, authority, amount, decimals: viewOf(data).getUint8(9) };
}

/**
 * Refuses everything but what the stock client sends: version 0, two signers; the limit and the price of compute units,
 * the transfer, and at most one memo, in this order. What else a transaction may hold could spend the fee payer's money,
 * or (a durable nonce) outlive its blockhash.
 *
 * @throws PaymentRefused
 */
export function checkLayout({ message, signatures, instructions, transfer }: TransferTransaction): void {
  if (message.version !== 0) throw new PaymentRefused("the transaction is not of version 0");
  if (message.addressTableLookups?.length) throw new PaymentRefused(ADDRESS_TABLE);
  const [limit, price, move, memo, ...others] = instructions;
  checkComputeBudget(limit, price);
  if (move?.program !== TOKEN_PROGRAM || !is(TRANSFER_CHECKED, move.data) || move.accounts.length !== 4)
    throw new PaymentRefused("the third instruction is not a TransferChecked with one authority");
  if (memo) checkMemo(memo);
  if (others.length > 0) throw new PaymentRefused("the transaction has an instruction beyond those of scheme exact");

  const [first, second] = message.staticAccounts;
  if (transfer.authority === first) throw new PaymentRefused("the fee payer is the payer");
  if (signatures.has(String(first))) throw new PaymentRefused("the fee payer has signed already");
  if (message.header.numSignerAccounts !== 2 || second !== transfer.authority)
    throw new PaymentRefused("others than the fee payer and the payer have to sign");
  const used = new Set([first, ...instructions.flatMap(({ program, accounts }) => [program, ...accounts])]);
  if (used.size !== message.staticAccounts.length)
    throw new PaymentRefused("the transaction names accounts that no instruction uses");
}

/** @param feePayer the offered one. @throws PaymentRefused when the first account, who pays the fee, is another */
export function checkFeePayer({ message }: TransferTransaction, feePayer: unknown): void {
  if (message.staticAccounts[0] !== feePayer)
    throw new PaymentRefused(`the fee payer is not the offered one, ${String(feePayer)}`);
}

function checkComputeBudget(limit: Instruction | undefined, price: Instruction | undefined): void {
  const isOf = (instruction: Instruction | undefined, form: Form): instruction is Instruction =>
    instruction?.program === COMPUTE_BUDGET_PROGRAM && instruction.accounts.length === 0 && is(form, instruction.data);
  if (!isOf(limit, SET_COMPUTE_UNIT_LIMIT))
    throw new PaymentRefused("the first instruction does not set the limit of compute units");
  if (!isOf(price, SET_COMPUTE_UNIT_PRICE))
    throw new PaymentRefused("the second instruction does not set the price of compute units");
}

/**
 * Refuses a payment that would cost its fee payer more than we let it.
 *
 * @param transaction one that `checkLayout` lets pass
 * @throws PaymentRefused
 */
export function checkPriorityFee({ instructions }: TransferTransaction, limits: SolanaLimits): void {
  const { computeUnits, microLamports } = limits;
  const [limit, price] = instructions as [Instruction, Instruction];
  if (viewOf(limit.data).getUint32(1, true) > computeUnits)
    throw new PaymentRefused(`the limit of compute units is above ${computeUnits}`);
  if (viewOf(price.data).getBigUint64(1, true) > microLamports)
    throw new PaymentRefused(`the price of a compute unit is above ${microLamports} micro-lamports`);
}

function checkMemo({ program, accounts, data }: Instruction): void {
  if (program !== MEMO_PROGRAM || accounts.length > 0 || data.length > MOST_MEMO_BYTES)
    throw new PaymentRefused(`the fourth instruction is not a memo of at most ${MOST_MEMO_BYTES} bytes`);
}

/** The text of the transaction's memo; undefined when it has none. */
export function memoOf({ instructions }: TransferTransaction): string | undefined {
  const memo = instructions.find(({ program }) => program === MEMO_PROGRAM);
  return memo && Buffer.from(memo.data).toString();
}

function is({ tag, length }: Form, data: Uint8Array): boolean {
  return data.length === length && data[0] === tag;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/**
 * The address of an owner's associated USDC account: the first one off the curve that the seeds lead to (SPL Associated
 * Token Account; Solana, program derived addresses).
 *
 * @returns undefined when the owner is no address
 */
export function usdcAccountOf(owner: string): Address | undefined {
  if (!solanaAddressBytes(owner)) return undefined;
  const seeds = [owner, TOKEN_PROGRAM, SOLANA_USDC].map(bytesOf);
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash("sha256");
    for (const seed of seeds) hash.update(seed);
    const derived = hash
      .update(new Uint8Array([bump]))
      .update(bytesOf(ASSOCIATED_TOKEN_PROGRAM))
      .update("ProgramDerivedAddress")
      .digest();
    if (!isOnCurve(derived)) return solanaAddress(derived) as Address;
  }
  return undefined;
}

/** The 32 bytes of an address. @throws TypeError when it is none */
export function bytesOf(address: string): Uint8Array {
  const bytes = solanaAddressBytes(address);
  if (!bytes) throw new TypeError("not a Solana address");
  return bytes;
}

/** What an account of the token program holds a place for (SPL Token, `Account`): 165 bytes, and its state at byte 108. */
const TOKEN_ACCOUNT = { length: 165, owner: 32, state: 108, frozen: 2 };

/**
 * Why an account cannot take USDC for its owner.
 *
 * @param account as the chain has it; undefined where it has none
 * @returns a clause; undefined when it can
 */
export function usdcAccountFault(
  account: { program: string; data: Uint8Array } | undefined,
  owner: string,
): string | undefined {
  const { length, owner: ownerAt, state, frozen } = TOKEN_ACCOUNT;
  const data = account?.data;
  if (account?.program !== TOKEN_PROGRAM || data?.length !== length || data[state] === 0) return "has no USDC account";
  const isUsdc = equalBytes(data.subarray(0, 32), bytesOf(SOLANA_USDC));
  if (!isUsdc || !equalBytes(data.subarray(ownerAt, ownerAt + 32), bytesOf(owner)))
    return "does not own its USDC account any more";
  return data[state] === frozen ? "has a USDC account that is frozen" : undefined;
}
