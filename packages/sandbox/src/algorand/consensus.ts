/**
 * Parameters of consensus v41, as on MainNet, that the sandbox's ledger uses.
 * Source: go-algorand, `config/consensus.go`.
 */
export const CONSENSUS_VERSION =
  "https://github.com/algorandfoundation/specs/tree/953304de35264fc3ef91bcd05c123242015eeaed";

/** microAlgos. A group pays this times its size, by any of its members. */
export const MIN_TXN_FEE = 1000n;

/** Rounds between the first and the last valid round of a transaction, and rounds for which nodes remember ids. */
export const MAX_TXN_LIFE = 1000;

export const MAX_TXN_NOTE_BYTES = 1024;

export const MAX_TX_GROUP_SIZE = 16;

/** microAlgos that an account keeps, and as much again for each asset it holds. */
export const MIN_BALANCE = 100_000n;

export const MAX_ASSET_NAME_BYTES = 32;
export const MAX_ASSET_UNIT_NAME_BYTES = 8;
export const MAX_ASSET_URL_BYTES = 96;
export const MAX_ASSET_DECIMALS = 19n;

/** microAlgos in the header for the proposer. Not paid here, because the proposer has no account. */
export const PROPOSER_BONUS = 10_000_000;

export const STATE_PROOF_INTERVAL = 256;
export const REWARDS_RATE_REFRESH_INTERVAL = 500_000;

/** Seconds by which a block's time may exceed that of the block before. */
export const MAX_TIMESTAMP_INCREMENT = 25;

export const MAX_UINT64 = 2n ** 64n - 1n;
