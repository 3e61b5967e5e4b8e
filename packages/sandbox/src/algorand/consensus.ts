/** The rules in which consensus versions differ here. Source: go-algorand, `config/consensus.go`. */
export interface Consensus {
  /** `proto` of a header. */
  version: string;
  maxNoteBytes: number;
  /** Millionths of the least fee per byte of a note beyond `FREE_NOTE_BYTES`. */
  byteSurcharge: bigint;
  /**
   * Whether `sgnr` may not be the sender, a Falcon-1024 signature (`pqsig`) may sign, and headers state their load
   * (`ld`).
   */
  isSince42: boolean;
  /** `ct` of a header since v42, in millionths; default: 0. It is recorded, and not charged. */
  congestionTax?: number;
}

const SPECIFICATIONS = "https://github.com/algorandfoundation/specs/tree/";

/** The versions that MainNet may run in November 2026. */
export const CONSENSUS = {
  v41: {
    version: `${SPECIFICATIONS}953304de35264fc3ef91bcd05c123242015eeaed`,
    maxNoteBytes: 1024,
    byteSurcharge: 0n,
    isSince42: false,
  },
  v42: {
    version: `${SPECIFICATIONS}268b63433a907455d439995bf916f6b296018f4f`,
    maxNoteBytes: 4096,
    byteSurcharge: 100n,
    isSince42: true,
  },
} as const satisfies Record<string, Consensus>;

export type ConsensusName = keyof typeof CONSENSUS;

/** Bytes of a note that cost nothing. */
export const FREE_NOTE_BYTES = 1024;

/** Millionths of the least fee for a Falcon-1024 signature, in addition to the transaction's own. */
export const FALCON_SURCHARGE = 2_000_000n;

/** A header's `ld` is the used part of this, in millionths. */
export const MAX_TXN_BYTES_PER_BLOCK = 5 * 1024 * 1024;

/** microAlgos. A group pays this times its size; any of its members may pay. */
export const MIN_TXN_FEE = 1000n;

/** Rounds between a transaction's first and last valid round, and rounds for which nodes remember ids. */
export const MAX_TXN_LIFE = 1000;

export const MAX_TX_GROUP_SIZE = 16;

/** microAlgos that an account must keep, and as much again for each asset it holds. */
export const MIN_BALANCE = 100_000n;

export const MAX_ASSET_NAME_BYTES = 32;
export const MAX_ASSET_UNIT_NAME_BYTES = 8;
export const MAX_ASSET_URL_BYTES = 96;
export const MAX_ASSET_DECIMALS = 19n;

/** microAlgos in the header for the proposer. They are not paid here, because the proposer has no account. */
export const PROPOSER_BONUS = 10_000_000;

export const STATE_PROOF_INTERVAL = 256;
export const REWARDS_RATE_REFRESH_INTERVAL = 500_000;

/** Seconds by which a block's time may exceed the previous block's. */
export const MAX_TIMESTAMP_INCREMENT = 25;

export const MAX_UINT64 = 2n ** 64n - 1n;
