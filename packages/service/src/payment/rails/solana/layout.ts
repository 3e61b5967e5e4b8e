import { paymentRefused } from "../rail.ts";
import { TOKEN_PROGRAM } from "./token-account.ts";
import {
  ADDRESS_TABLE,
  type Form,
  hasForm,
  type Instruction,
  TRANSFER_CHECKED,
  type TransferTransaction,
  viewOf,
} from "./transaction.ts";

const COMPUTE_BUDGET_PROGRAM = "ComputeBudget111111111111111111111111111111";
const MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const SET_COMPUTE_UNIT_LIMIT: Form = { tag: 2, length: 5 };
const SET_COMPUTE_UNIT_PRICE: Form = { tag: 3, length: 9 };
/** The stock client's bound. */
const MAX_MEMO_BYTES = 256;

/** What a payment may cost its fee payer beyond the fee of two signatures, 10,000 lamports. */
export type SolanaLimits = {
  /** Compute units that a payment may ask for. The stock client asks for 20,000. */
  computeUnits: number;
  /** micro-lamports that it may offer for each of them. The stock client offers 1. */
  microLamports: number;
};

/**
 * Accepts only what the stock client sends: version 0, two signers; the limit and the price of compute units, the transfer,
 * and at most one memo, in this order. Anything else could spend the fee payer's money, or outlive the blockhash by a
 * durable nonce.
 *
 * @throws payment_refused
 */
export function checkLayout({ message, signatures, instructions, transfer }: TransferTransaction): void {
  if (message.version !== 0) throw paymentRefused("the transaction is not of version 0");
  if (message.addressTableLookups?.length) throw paymentRefused(ADDRESS_TABLE);
  const [limit, price, move, memo, ...others] = instructions;
  checkComputeBudget(limit, price);
  if (move?.program !== TOKEN_PROGRAM || !hasForm(TRANSFER_CHECKED, move.data) || move.accounts.length !== 4)
    throw paymentRefused("the third instruction is not a TransferChecked with one authority");
  if (memo) checkMemo(memo);
  if (others.length > 0) throw paymentRefused("the transaction has an instruction beyond those of scheme exact");

  const [first, second] = message.staticAccounts;
  if (transfer.authority === first) throw paymentRefused("the fee payer is the payer");
  if (signatures.has(String(first))) throw paymentRefused("the fee payer has signed already");
  if (message.header.numSignerAccounts !== 2 || second !== transfer.authority)
    throw paymentRefused("others than the fee payer and the payer have to sign");
  const used = new Set([first, ...instructions.flatMap(({ program, accounts }) => [program, ...accounts])]);
  if (used.size !== message.staticAccounts.length)
    throw paymentRefused("the transaction names accounts that no instruction uses");
}

/** @param feePayer the offered one. @throws payment_refused when the first account, which pays the fee, is another */
export function checkFeePayer({ message }: TransferTransaction, feePayer: unknown): void {
  if (message.staticAccounts[0] !== feePayer)
    throw paymentRefused(`the fee payer is not the offered one, ${String(feePayer)}`);
}

function checkComputeBudget(limit: Instruction | undefined, price: Instruction | undefined): void {
  const isOf = (instruction: Instruction | undefined, form: Form): instruction is Instruction =>
    instruction?.program === COMPUTE_BUDGET_PROGRAM &&
    instruction.accounts.length === 0 &&
    hasForm(form, instruction.data);
  if (!isOf(limit, SET_COMPUTE_UNIT_LIMIT))
    throw paymentRefused("the first instruction does not set the limit of compute units");
  if (!isOf(price, SET_COMPUTE_UNIT_PRICE))
    throw paymentRefused("the second instruction does not set the price of compute units");
}

/**
 * Refuses a payment that would cost its fee payer more than the limits.
 *
 * @param transaction must have passed `checkLayout`
 * @throws payment_refused
 */
export function checkPriorityFee({ instructions }: TransferTransaction, limits: SolanaLimits): void {
  const { computeUnits, microLamports } = limits;
  const [limit, price] = instructions as [Instruction, Instruction];
  if (viewOf(limit.data).getUint32(1, true) > computeUnits)
    throw paymentRefused(`the limit of compute units is above ${computeUnits}`);
  if (viewOf(price.data).getBigUint64(1, true) > microLamports)
    throw paymentRefused(`the price of a compute unit is above ${microLamports} micro-lamports`);
}

function checkMemo({ program, accounts, data }: Instruction): void {
  if (program !== MEMO_PROGRAM || accounts.length > 0 || data.length > MAX_MEMO_BYTES)
    throw paymentRefused(`the fourth instruction is not a memo of at most ${MAX_MEMO_BYTES} bytes`);
}

/** The text of the transaction's memo; undefined when it has none. */
export function memoOf({ instructions }: TransferTransaction): string | undefined {
  const memo = instructions.find(({ program }) => program === MEMO_PROGRAM);
  return memo && Buffer.from(memo.data).toString();
}
