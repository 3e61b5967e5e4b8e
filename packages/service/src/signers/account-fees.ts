import type { AccountAlgorithm } from "./signer.ts";

/** microAlgos of an ordinary transaction (go-algorand, `MinTxnFee`). */
const MIN_FEE = 1_000n;
/** The minimum fees of a transaction, by the key that authorises it (go-algorand, `PQSchemeFeeContribution`). */
const MINIMUM_FEES = { ed25519: 1n, "falcon-1024": 3n } as const satisfies Record<AccountAlgorithm, bigint>;
const MAX_MINIMUM_FEES = 10n;

/** The ledger's fees for a transaction, by the key that authorises it. */
export type AccountFees = {
  /** The number of minimum fees. */
  minimumFees: bigint;
  /** microAlgos, without congestion. */
  minFee: bigint;
  /** microAlgos, ten times as much: a lying node can waste no more. In worse congestion the transaction waits. */
  maxFee: bigint;
};

export function feesOf(algorithm: AccountAlgorithm): AccountFees {
  const minimumFees = MINIMUM_FEES[algorithm];
  const minFee = minimumFees * MIN_FEE;
  return { minimumFees, minFee, maxFee: MAX_MINIMUM_FEES * minFee };
}
