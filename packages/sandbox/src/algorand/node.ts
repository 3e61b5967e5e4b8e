import { encodeMsgpack } from "@attestd/proof/algorand";
import type { Behaviour } from "./behaviour.ts";
import type { StoredBlock } from "./block.ts";
import { apiError } from "./http.ts";
import type { Ledger } from "./ledger.ts";
import { Rejection } from "./rejection.ts";
import type { SignedTransaction } from "./transaction.ts";

const REMEMBER = "TransactionPool.Remember: ";

/** Errors of a refused submission (go-algorand, `data/pools`). */
const REFUSALS = {
  "pool-full": "TransactionPool.checkPendingQueueSize: transaction pool has reached capacity",
  "no-evaluator": `${REMEMBER}TransactionPool.ingest: no pending block evaluator`,
  shutdown: `${REMEMBER}transaction pool is shutting down`,
};

/** One node's view of the ledger. The node may be behind, have lost old blocks, or be unable to submit. */
export class LedgerNode {
  readonly ledger: Ledger;
  readonly behaviour: Readonly<Behaviour>;

  constructor(ledger: Ledger, behaviour: Readonly<Behaviour>) {
    this.ledger = ledger;
    this.behaviour = behaviour;
  }

  /** The node's latest round. */
  get round(): number {
    return Math.max(0, this.ledger.round - this.behaviour.behind);
  }

  /** A block that the node has; undefined when it is in the future, was never recorded, or is no longer kept. */
  block(round: number): StoredBlock | undefined {
    const { keptRounds } = this.behaviour;
    const isKept = round <= this.round && (keptRounds === 0 || round > this.round - keptRounds);
    return isKept ? this.ledger.blocks.block(round) : undefined;
  }

  /** microAlgos per byte that the node suggests. A follower has no pool, so it suggests none. */
  get suggestedFee(): number {
    return this.behaviour.follower ? 0 : this.behaviour.feePerByte;
  }

  /**
   * Submits a group like `POST /v2/transactions`.
   * @throws Rejection
   */
  submit(group: SignedTransaction[]): void {
    const { follower, submit } = this.behaviour;
    if (follower) throw new Rejection("cannot broadcast txns in follower mode");
    this.ledger.submit(group, () => {
      if (submit !== "accepted" && submit !== "queue-full") throw new Rejection(REFUSALS[submit]);
      this.#checkFees(group);
      this.#checkFirstValid(group);
    });
    if (submit === "queue-full") throw new Rejection("broadcast queue full");
  }

  /** @throws HTTPException 503 while the node restores a catchpoint */
  checkAvailable(): void {
    if (this.behaviour.catchup === "catchpoint") throw apiError(503, "operation not available during catchup");
  }

  /** Checks that each member pays for its own bytes, because a congested pool does not pool fees. */
  #checkFees(group: SignedTransaction[]): void {
    const { feePerByte } = this.behaviour;
    for (const { txn, map } of group) {
      const { length } = encodeMsgpack(map);
      const least = BigInt(feePerByte * length);
      // Go prints the fee as a struct.
      if (txn.fee < least)
        throw new Rejection(
          `${REMEMBER}fee {${txn.fee}} below threshold ${least} (${feePerByte} per byte * ${length} bytes)`,
        );
    }
  }

  /** Checks the first valid rounds. A node that is behind evaluates with its own next round. */
  #checkFirstValid(group: SignedTransaction[]): void {
    const next = this.round + 1;
    const early = group.find(({ txn }) => txn.firstValid > next)?.txn;
    if (early !== undefined)
      throw new Rejection(`${REMEMBER}txn dead: round ${next} outside of ${early.firstValid}--${early.lastValid}`);
  }
}
