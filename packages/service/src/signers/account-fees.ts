import type { AccountAlgorithm } from "./signer.ts";

/** microAlgos of an ordinary transaction (go-algorand, `MinTxnFee`). */
const MIN_FEE = 1_000n;
/** Of a transaction that such a key authorises (go-algorand, `PQSchemeFeeContribution`). */
const MINIMUM_FEES = { ed25519: 1n, "falcon-1024": 3n } as const satisfies Record<AccountAlgorithm, bigint>;
const MAX_MINIMUM_FEES = 10n;

/** What the ledger takes for a transaction that a key authorises. */
export type AccountFees = {
  /** How many minimum fees. */
  minimumFees: bigint;
  /** microAlgos, without congestion. */
  minFee: bigint;
  /** microAlgos, ten times as much: a lying node can waste no more. Under worse congestion the transaction waits. */
  maxFee: bigint;
};

export function feesOf(algorithm: AccountAlgorithm): AccountFees {
  const minimumFees = MINIMUM_FEES[algorithm];
  const minFee = minimumFees * MIN_FEE;
  return { minimumFees, minFee, maxFee: MAX_MINIMUM_FEES * minFee };
}
