import { paymentRefused } from "../rail.ts";
import { TOKEN_PROGRAM } from "./token-account.ts";
import {
  ADDRESS_TABLE,
  type Form,
  hasForm,
  type Instruction,
  TRANSFER_CHECKED,
  type TransferTransaction,
  versionRefused,
  viewOf,
} from "./transaction.ts";

const COMPUTE_BUDGET_PROGRAM = "ComputeBudget111111111111111111111111111111";
const MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const SET_COMPUTE_UNIT_LIMIT: Form = { tag: 2, length: 5 };
const SET_COMPUTE_UNIT_PRICE: Form = { tag: 3, length: 9 };
/** The stock client's limit. */
const MAX_MEMO_BYTES = 256;
/** Instructions after the transfer: as many as stock facilitators accept (@x402/svm: 3 to 7 instructions in all). */
const MAX_AFTER_TRANSFER = 4;
const LIGHTHOUSE_PROGRAM = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95";
/**
 * The allowed instructions of Lighthouse, by their first byte (lighthouse-sdk 2.1.0). Phantom and Solflare append them
 * to protect the payer. Each compares an account or the clock with expected values, and fails the transaction if they
 * differ: it can write nothing and move nothing.
 *
 * Others are refused, although stock facilitators accept them: MemoryWrite (0) and MemoryClose (1) move lamports of a
 * signer, which may be the fee payer; AssertMerkleTreeAccount (16) calls another program.
 */
const LIGHTHOUSE_ASSERTIONS: ReadonlySet<number | undefined> = new Set([
  ...[2, 3, 4, 5, 6], // of accounts' data, and of their lamports, owner and length
  ...[7, 8, 9, 10], // of mints and token accounts
  ...[11, 12, 13, 14], // of stake accounts and of upgradeable programs
  15, // of the clock
  17, // of the configuration of a Bubblegum tree
]);

/** The limit of a payment's cost to its fee payer, besides the fee of two signatures, 10,000 lamports. */
export type SolanaLimits = {
  /** The limit of requested compute units. The stock client requests 20,000. */
  computeUnits: number;
  /** The limit of the price per compute unit, in micro-lamports. The stock client offers 1. */
  microLamports: number;
};

/**
 * Accepts only what stock clients and wallets send: version 0, two signers; the limit and the price of compute units,
 * the transfer, then at most one memo and assertions of Lighthouse, in any order. Anything else could spend the fee
 * payer's money, or outlive the blockhash with a durable nonce.
 * @throws payment_refused
 */
export function checkLayout({ message, signatures, instructions, transfer }: TransferTransaction): void {
  if (message.version !== 0) throw versionRefused(message.version);
  if (message.addressTableLookups?.length) throw paymentRefused(ADDRESS_TABLE);
  const [limit, price, move, ...others] = instructions;
  checkComputeBudget(limit, price);
  if (move?.program !== TOKEN_PROGRAM || !hasForm(TRANSFER_CHECKED, move.data) || move.accounts.length !== 4)
    throw paymentRefused("the third instruction is not a TransferChecked with one authority");
  checkAfterTransfer(others);

  const [first, second] = message.staticAccounts;
  if (transfer.authority === first) throw paymentRefused("the fee payer is the payer");
  if (signatures.has(String(first))) throw paymentRefused("the fee payer has signed already");
  if (message.header.numSignerAccounts !== 2 || second !== transfer.authority)
    throw paymentRefused("other accounts than the fee payer and the payer must sign");
  const used = new Set([first, ...instructions.flatMap(({ program, accounts }) => [program, ...accounts])]);
  if (used.size !== message.staticAccounts.length)
    throw paymentRefused("the transaction names accounts that no instruction uses");
}

/**
 * Checks the first account, which pays the fee. @param feePayer the offered one. @throws payment_refused when it is
 * another one
 */
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

function checkAfterTransfer(instructions: readonly Instruction[]): void {
  if (instructions.length > MAX_AFTER_TRANSFER)
    throw paymentRefused(`more than ${MAX_AFTER_TRANSFER} instructions follow the transfer`);
  if (instructions.some((instruction) => !isMemo(instruction) && !isAssertion(instruction)))
    throw paymentRefused(
      `after the transfer comes an instruction that is neither a memo of at most ${MAX_MEMO_BYTES} bytes nor an assertion of Lighthouse`,
    );
  if (instructions.filter(isMemo).length > 1) throw paymentRefused("the transaction has several memos");
}

function isMemo({ program, accounts, data }: Instruction): boolean {
  return program === MEMO_PROGRAM && accounts.length === 0 && data.length <= MAX_MEMO_BYTES;
}

function isAssertion({ program, data }: Instruction): boolean {
  return program === LIGHTHOUSE_PROGRAM && LIGHTHOUSE_ASSERTIONS.has(data[0]);
}

/** Returns the text of the transaction's memo; undefined when it has none. */
export function memoOf({ instructions }: TransferTransaction): string | undefined {
  const memo = instructions.find(({ program }) => program === MEMO_PROGRAM);
  return memo && Buffer.from(memo.data).toString();
}
