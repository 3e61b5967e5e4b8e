import { encodeAddress, type MsgpackMap } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import { MIN_BALANCE } from "./consensus.ts";
import { printMicroAlgos, printZeros } from "./go-print.ts";
import { Rejection } from "./rejection.ts";
import { type Transaction, ZERO_ADDRESS } from "./transaction.ts";

export interface Holding {
  amount: bigint;
  frozen: boolean;
}

/** An account. Immutable: a change puts a new record. */
export interface Account {
  /** microAlgos. */
  readonly balance: bigint;
  /** The address to which it is rekeyed; undefined when its own key signs. */
  readonly authAddress: string | undefined;
  readonly holdings: ReadonlyMap<bigint, Holding>;
}

export interface Asset {
  readonly creator: string;
  /** `apar` of the transaction that created or last configured it. */
  readonly parameters: MsgpackMap;
}

const NO_ACCOUNT: Account = { balance: 0n, authAddress: undefined, holdings: new Map() };

/** The minimum balance of an account, in microAlgos. */
export function minBalance(account: Account): bigint {
  return MIN_BALANCE * BigInt(1 + account.holdings.size);
}

/** Whether the account does not exist; the minimum balance does not apply then. */
export function isEmptyAccount(account: Account): boolean {
  return account.balance === 0n && account.authAddress === undefined && account.holdings.size === 0;
}

/**
 * Balances, assets, and the ids and leases that may not be used again. A child adds its changes to its parent's state;
 * `commit` moves them into the parent, and dropping the child discards them. A parent MUST NOT change while a child is
 * in use.
 */
export class LedgerState {
  readonly #parent: LedgerState | undefined;
  readonly #accounts = new Map<string, Account>();
  /** undefined: destroyed. */
  readonly #assets = new Map<bigint, Asset | undefined>();
  readonly #ids = new Set<string>();
  /** Last round of each lease, by sender and lease. */
  readonly #leases = new Map<string, bigint>();
  /** Number of transactions applied (the header's `tc`), which gives created assets their ids. */
  #counter: number;

  /** @param counter initial value, for a state without a parent */
  constructor(parent: LedgerState | undefined, counter = 0) {
    this.#parent = parent;
    this.#counter = parent?.counter ?? counter;
  }

  get counter(): number {
    return this.#counter;
  }

  child(): LedgerState {
    return new LedgerState(this);
  }

  commit(): void {
    const parent = this.#parent;
    if (parent === undefined) throw new Error("the base state has no parent to commit to");
    for (const [address, account] of this.#accounts) parent.#accounts.set(address, account);
    for (const [id, asset] of this.#assets) parent.#assets.set(id, asset);
    for (const id of this.#ids) parent.#ids.add(id);
    for (const [lease, lastValid] of this.#leases) parent.#leases.set(lease, lastValid);
    parent.#counter = this.#counter;
  }

  account(address: string): Account {
    return this.#accounts.get(address) ?? this.#parent?.account(address) ?? NO_ACCOUNT;
  }

  putAccount(address: string, account: Account): void {
    this.#accounts.set(address, account);
  }

  /** Accounts changed in this state, in order of their first change. */
  changedAccounts(): Iterable<[string, Account]> {
    return this.#accounts;
  }

  asset(id: bigint): Asset | undefined {
    return this.#assets.has(id) ? this.#assets.get(id) : this.#parent?.asset(id);
  }

  /** Existing assets that the account created. Only for a state without a parent. */
  createdAssets(creator: string): [bigint, Asset][] {
    return [...this.#assets].filter((entry): entry is [bigint, Asset] => entry[1]?.creator === creator);
  }

  putAsset(id: bigint, asset: Asset | undefined): void {
    this.#assets.set(id, asset);
  }

  /** @throws Rejection when the account has less. */
  move(from: string, to: string, amount: bigint): void {
    const source = this.account(from);
    if (source.balance < amount) throw new Rejection(overspend(from, source, amount));
    this.putAccount(from, { ...source, balance: source.balance - amount });
    const target = this.account(to);
    this.putAccount(to, { ...target, balance: target.balance + amount });
  }

  /**
   * Checks that the transaction's id and lease are free at a round.
   *
   * The id is checked first in the pool, the lease first in blocks. So a transaction that is sent again is rejected
   * with `already in ledger` while it is in the pool, and with `overlapping lease` when it is in a block, until its
   * lease expires, as on real nodes (go-algorand, `ledger/eval/cow.go`, `ledger/txtail.go`).
   * @throws Rejection
   */
  checkDuplicate(txn: Transaction, round: number): void {
    if (this.#parent === undefined) {
      this.#checkLease(txn, round);
      this.#checkId(txn);
    } else {
      this.#checkId(txn);
      this.#checkLease(txn, round);
      this.#parent.checkDuplicate(txn, round);
    }
  }

  /** Marks the transaction's id and lease as used, and counts it. */
  addTransaction(txn: Transaction): void {
    this.#ids.add(txn.id);
    if (txn.lease !== undefined) this.#leases.set(leaseKey(txn.sender, txn.lease), txn.lastValid);
    this.#counter += 1;
  }

  #checkId(txn: Transaction): void {
    if (this.#ids.has(txn.id)) throw new Rejection(`transaction already in ledger: ${txn.id}`);
  }

  #checkLease(txn: Transaction, round: number): void {
    if (txn.lease === undefined) return;
    const lastValid = this.#leases.get(leaseKey(txn.sender, txn.lease));
    if (lastValid !== undefined && round <= lastValid)
      throw new Rejection(
        `transaction ${txn.id} using an overlapping lease (sender, lease):(${txn.sender}, ${encodeAddress(txn.lease)})`,
      );
  }
}

function leaseKey(sender: string, lease: Uint8Array): string {
  return `${sender} ${toBase64(lease)}`;
}

/** Includes the account's record as Go prints it (`%+v`), because some clients parse it. */
function overspend(address: string, account: Account, amount: bigint): string {
  const record = [
    "Status:Offline",
    `MicroAlgos:${printMicroAlgos(account.balance)}`,
    "RewardsBase:0",
    "RewardedMicroAlgos:0.0A",
    `AuthAddr:${account.authAddress ?? ZERO_ADDRESS}`,
    "IncentiveEligible:false",
    "TotalAppSchema:{NumUint:0 NumByteSlice:0}",
    "TotalExtraAppPages:0 TotalAppParams:0 TotalAppLocalStates:0 TotalAssetParams:0",
    `TotalAssets:${account.holdings.size}`,
    "TotalBoxes:0 TotalBoxBytes:0 LastProposed:0 LastHeartbeat:0",
  ].join(" ");
  const keys = `VoteID:${printZeros(32)} SelectionID:${printZeros(32)} StateProofID:${printZeros(64)}`;
  const voting = `${keys} VoteFirstValid:0 VoteLastValid:0 VoteKeyDilution:0`;
  const data = `{AccountBaseData:{${record}} VotingData:{${voting}}}`;
  return `overspend (account ${address}, data ${data}, tried to spend ${printMicroAlgos(amount)})`;
}
