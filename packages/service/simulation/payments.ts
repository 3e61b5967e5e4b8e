import type { RailName } from "../src/payment/rails/rail.ts";
import type { Faults } from "./faults.ts";
import type { SimulatedLedger } from "./ledger.ts";
import type { Scheduler } from "./scheduler.ts";

/** Who is paid, and how much for each call. */
export const PAY_TO = "PAYEE";
export const PRICE = 1_000n;

/** Who pays; on every chain from the same purse. */
export type Account = { name: string; balance: bigint };

/** A signed permission to move money once, on one chain. */
export type Authorization = {
  /** The payment key (docs/format.md, P), which is also the id of the transaction that spends it. */
  readonly key: string;
  readonly rail: RailName;
  readonly account: Account;
  readonly payTo: string;
  readonly amount: bigint;
  /** Who pays the fee of its transaction, where the payer must sign for that: only its facilitator can settle it. */
  readonly feePayer?: string;
  /** Rounds of the ledger on `algorand`, Unix ms elsewhere: from the first to the last at which it can be spent. */
  readonly validFrom: number;
  readonly validUntil: number;
};

/** What a payer signs for. */
export type Transfer = Pick<Authorization, "account" | "payTo" | "amount" | "feePayer">;

export type Spending = { at: number; height: number };

export type PaymentChainOptions = {
  scheduler: Scheduler;
  faults: Faults;
  /** Called with every payment, in the step in which it is made. */
  spent(authorization: Authorization): void;
  /** Called with every payment that a reorganisation undoes. */
  undone(authorization: Authorization): void;
};

/** A chain on which authorizations are spent, once each. */
export interface PaymentChain {
  readonly rail: RailName;
  readonly network: string;
  readonly asset: string;
  /** Signs for so many ms. */
  authorize(transfer: Transfer, ms: number): Authorization;
  spending(authorization: Authorization): Spending | undefined;
  /** When it was cancelled, if it was. */
  cancellation(authorization: Authorization): number | undefined;
  /** Whether no block can spend it any more, whatever happens. */
  hasExpired(authorization: Authorization): boolean;
  /** Whether the next block could spend it. */
  isSpendable(authorization: Authorization): boolean;
  /** Submits the transaction. @param included called with the outcome, unless the chain forgets it */
  broadcast(authorization: Authorization, included: (success: boolean) => void): void;
  /** The payer makes it worthless, where the chain lets it. */
  cancel(authorization: Authorization): void;
}

abstract class Chain {
  abstract readonly rail: RailName;
  protected readonly options: PaymentChainOptions;
  readonly #spent = new Map<string, Spending>();
  readonly #cancelled = new Map<string, number>();
  #signed = 0;

  constructor(options: PaymentChainOptions) {
    this.options = options;
  }

  spending({ key }: Authorization): Spending | undefined {
    return this.#spent.get(key);
  }

  cancellation({ key }: Authorization): number | undefined {
    return this.#cancelled.get(key);
  }

  cancel(authorization: Authorization): void {
    const { key } = authorization;
    if (!this.#spent.has(key) && !this.#cancelled.has(key)) this.#cancelled.set(key, this.options.scheduler.now);
  }

  protected sign(transfer: Transfer, validFrom: number, validUntil: number): Authorization {
    const key = `${this.rail}/${this.#signed++}`;
    return { ...transfer, key, rail: this.rail, validFrom, validUntil };
  }

  protected isGood({ key, account, amount }: Authorization): boolean {
    return !this.#spent.has(key) && !this.#cancelled.has(key) && account.balance >= amount;
  }

  protected spend(authorization: Authorization, height: number): void {
    authorization.account.balance -= authorization.amount;
    this.#spent.set(authorization.key, { at: this.options.scheduler.now, height });
    this.options.spent(authorization);
  }

  protected unspend(authorization: Authorization): void {
    authorization.account.balance += authorization.amount;
    this.#spent.delete(authorization.key);
    this.options.undone(authorization);
  }
}

export type TokenChainOptions = PaymentChainOptions & {
  rail: RailName;
  network: string;
  asset: string;
  blockMs: number;
};

/** After this long nothing in a token's chain is changed any more, in ms. */
export const FINALITY_MS = 5_000;

/** A chain with a token whose authorizations expire by the clock (EIP-3009), or much like it. */
export class TokenChain extends Chain implements PaymentChain {
  readonly rail: RailName;
  readonly network: string;
  readonly asset: string;
  readonly #blockMs: number;

  constructor(options: TokenChainOptions) {
    super(options);
    this.rail = options.rail;
    this.network = options.network;
    this.asset = options.asset;
    this.#blockMs = options.blockMs;
  }

  authorize(transfer: Transfer, ms: number): Authorization {
    const { now } = this.options.scheduler;
    return this.sign(transfer, now - 1, now + ms);
  }

  hasExpired({ validUntil }: Authorization): boolean {
    return validUntil <= this.options.scheduler.now;
  }

  isSpendable(authorization: Authorization): boolean {
    return this.isGood(authorization) && !this.hasExpired(authorization);
  }

  broadcast(authorization: Authorization, included: (success: boolean) => void): void {
    const { scheduler, faults } = this.options;
    const { random } = scheduler;
    const congested = !faults.healed && random.chance(0.05);
    if (congested) faults.count(`${this.rail} congested`);
    const ms = this.#blockMs * random.between(1, 3) + (congested ? random.below(60_000) : 0);
    scheduler.send(undefined, ms, "is included", authorization.key, () => {
      const success = this.isSpendable(authorization);
      if (success) this.spend(authorization, Math.floor(scheduler.now / this.#blockMs));
      if (success && faults.reorganises()) this.#undoLater(authorization);
      included(success);
    });
  }

  /** The block is undone with its transactions, and no other block includes this one. */
  #undoLater(authorization: Authorization): void {
    const { scheduler, faults } = this.options;
    scheduler.send(undefined, scheduler.random.below(FINALITY_MS), "is undone", authorization.key, () => {
      faults.count(`${this.rail} reorganised`);
      this.unspend(authorization);
    });
  }
}

/** Payments on the ledger itself: transactions in its rounds, valid for a window of them. */
export class LedgerPayments extends Chain implements PaymentChain {
  readonly rail = "algorand";
  readonly network: string;
  readonly asset: string;
  readonly #ledger: SimulatedLedger;

  constructor(options: PaymentChainOptions & { ledger: SimulatedLedger; network: string; asset: string }) {
    super(options);
    this.#ledger = options.ledger;
    this.network = options.network;
    this.asset = options.asset;
  }

  authorize(transfer: Transfer, ms: number): Authorization {
    const { round } = this.#ledger;
    return this.sign(transfer, round, round + Math.ceil(ms / 2_800));
  }

  hasExpired({ validUntil }: Authorization): boolean {
    return validUntil <= this.#ledger.round;
  }

  isSpendable(authorization: Authorization): boolean {
    return this.isGood(authorization) && !this.hasExpired(authorization);
  }

  broadcast(authorization: Authorization, included: (success: boolean) => void): void {
    const { key: id, validFrom, validUntil } = authorization;
    const { status } = this.#ledger.submit({
      id,
      firstValid: validFrom,
      lastValid: validUntil,
      unavailableReason: () => (this.isGood(authorization) ? undefined : "overspend"),
      confirm: (round) => this.spend(authorization, round),
    });
    if (status !== "accepted") {
      included(false);
      return;
    }
    const unwatch = this.#ledger.watch(() => {
      if (this.spending(authorization) === undefined && this.#ledger.round < validUntil) return;
      unwatch();
      included(this.spending(authorization) !== undefined);
    });
  }

  /** A transaction cannot be cancelled; its payer can only be without the money. */
  override cancel(): void {}
}
