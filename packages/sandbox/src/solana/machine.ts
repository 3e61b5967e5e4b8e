import type { Address, EncodedAccount, Transaction } from "@solana/kit";
import { Clock, type FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from "litesvm";

export type Execution = ReturnType<typeof readOutcome>;

/**
 * The virtual machine under the ledger: litesvm with the SPL programs. Its checks of signatures and blockhashes are
 * off, because it knows only one valid blockhash, not 150. The ledger checks them instead.
 */
export class Machine {
  readonly #svm = new LiteSVM().withSigverify(false).withBlockhashCheck(false);

  account(address: Address): EncodedAccount | undefined {
    const account = this.#svm.getAccount(address);
    return account.exists ? account : undefined;
  }

  setAccount(account: EncodedAccount): void {
    this.#svm.setAccount(account);
  }

  /** Runs the transaction and keeps its effects; `landed` is false when it could not pay its fee. */
  execute(transaction: Transaction): Execution & { landed: boolean } {
    const feePayer = Object.keys(transaction.signatures)[0] as Address;
    const before = this.#svm.getBalance(feePayer);
    const execution = readOutcome(this.#svm.sendTransaction(transaction));
    return { ...execution, landed: execution.err === null || this.#svm.getBalance(feePayer) !== before };
  }

  /** Runs the transaction without keeping its effects. */
  simulate(transaction: Transaction): Execution {
    const outcome = this.#svm.simulateTransaction(transaction);
    return readOutcome("postAccounts" in outcome ? outcome.meta() : outcome);
  }

  /** Sets the clock sysvar of programs. */
  setClock(slot: bigint, unixTimestamp: bigint): void {
    const { epochStartTimestamp, epoch, leaderScheduleEpoch } = this.#svm.getClock();
    this.#svm.setClock(new Clock(slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixTimestamp));
  }

  /** Returns the lamports with which an account with that many bytes of data is exempt from rent. */
  rentExemption(bytes: bigint): bigint {
    return this.#svm.minimumBalanceForRentExemption(bytes);
  }
}

function readOutcome(outcome: TransactionMetadata | FailedTransactionMetadata) {
  const failed = "err" in outcome;
  const meta = failed ? outcome.meta() : outcome;
  return {
    /** Solana's `TransactionError` in the form of RPC answers; null for success. */
    err: failed ? transactionError(/err: (.*), meta: TransactionMetadata/s.exec(outcome.toString())?.[1] ?? "") : null,
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
    /** Lamports taken from the fee payer, priority fee included. */
    fee: BigInt(/fee: (\d+)/.exec(outcome.toString())?.[1] ?? 0),
    /** For each top-level instruction that called others: its index, and the called instructions. */
    innerInstructions: meta
      .innerInstructions()
      .map((calls, index) => ({
        index,
        instructions: calls.map((call) => ({
          programIdIndex: call.instruction().programIdIndex(),
          accounts: [...call.instruction().accounts()],
          data: call.instruction().data(),
          stackHeight: call.stackHeight(),
        })),
      }))
      .filter(({ instructions }) => instructions.length > 0),
  };
}

/**
 * Converts a `TransactionError` from Rust's text to Solana's JSON. Both name the enum's variants; litesvm's JavaScript
 * objects give numbers without names.
 */
export function transactionError(debug: string): unknown {
  const [, name, content] = /^(\w+)(?:\((.*)\)| \{ (?:.*) \})?$/s.exec(debug) ?? [];
  if (name === undefined) return debug;
  const field = /^\w+ \{ (\w+): (\d+) \}$/.exec(debug);
  if (field) return { [name]: { [field[1] as string]: Number(field[2]) } };
  if (content === undefined) return name;
  const [, index, inner] = /^(\d+)(?:, (.*))?$/s.exec(content) ?? [];
  if (index === undefined) return { [name]: content };
  return { [name]: inner === undefined ? Number(index) : [Number(index), transactionError(inner)] };
}
