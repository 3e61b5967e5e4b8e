/** Which of the attestor's two keys: `pq` signs bundles, receipts and its successor; `account` signs transactions. */
export type KeyUse = "pq" | "account";

/**
 * Lengths in bytes of raw public keys and of signatures, Falcon's at most: ML-DSA-65 (FIPS 204, table 2), ed25519 (RFC 8032),
 * and Algorand's deterministic Falcon-1024.
 */
export const KEY_FORMS = {
  "ml-dsa-65": { words: "ML-DSA-65", publicKey: 1952, signature: 3309 },
  ed25519: { words: "ed25519", publicKey: 32, signature: 64 },
  "falcon-1024": { words: "Falcon-1024", publicKey: 1793, signature: 1423 },
} as const;
export type Algorithm = keyof typeof KEY_FORMS;
/** The algorithms with which the account may authorise its transactions. */
export type AccountAlgorithm = Exclude<Algorithm, "ml-dsa-65">;

/** The algorithms of each key. */
export const ALGORITHMS = {
  pq: ["ml-dsa-65"],
  account: ["ed25519", "falcon-1024"],
} as const satisfies Record<KeyUse, readonly Algorithm[]>;

/**
 * Data to which a signature of the account's key commits only by a hash. A signer that checks what it signs needs the
 * data itself.
 */
export type SignedContext = {
  /** RFC 8785 of the key entry or revocation whose SHA-256 is the `k` of a key note. */
  keyRecord?: Uint8Array;
};

/** One of the attestor's keys at its place. It is not used directly: `guardKey` checks what it returns. */
export interface Key {
  readonly algorithm: Algorithm;
  /** Raw, of the length in `KEY_FORMS`. MUST stay the same for the life of the object. */
  readonly publicKey: Uint8Array;

  /**
   * Signs these bytes: ML-DSA-65 (FIPS 204) pure and with an empty context, ed25519 pure, Falcon-1024 like
   * `signFalcon`. It is called for many messages concurrently, and repeatedly with the same ones. It need not limit its
   * own time, and SHOULD end when `signal` aborts.
   * @returns the raw signature, of the length in `KEY_FORMS`
   * @throws signer_failed with the reason; any other error counts as `unreachable`
   */
  sign(message: Uint8Array, signal: AbortSignal, context?: SignedContext): Promise<Uint8Array>;
}

/** A place where keys are kept, made by a kind of signer (open.ts). */
export interface KeyPlace {
  /** Names the place in the log and for the operator: "the signer at /run/attestd/signer.sock". Contains no secret. */
  readonly words: string;

  /**
   * Opens a key, and reads its public half.
   *
   * @throws signer_failed when it cannot be reached now; config_invalid when the settings name no such key
   */
  open(use: KeyUse, signal: AbortSignal): Promise<Key>;

  /** How long a signature shows that a key can sign, in ms; default: a minute, because probes may cost money. */
  readonly freshMs?: number;

  /** Ends its connections. */
  close(): Promise<void>;
}

/** The post-quantum half of the attestor's identity. The secret never leaves its place. */
export interface Signer {
  /** Raw ML-DSA-65 public key, 1952 bytes. */
  readonly publicKey: Uint8Array;
  /** The same in standard base64. */
  readonly pqPublicKey: string;
  /** RFC 7638 thumbprint of the AKP JWK. */
  readonly kid: string;
  /** Base64url SHA-256 of the raw public key: the note's `a`. */
  readonly keySha256: string;

  /**
   * Signs a message: ML-DSA-65 (FIPS 204), pure, empty context. Signatures are hedged: the next one of the same message
   * differs, so commit what contains one before sending it.
   * @returns the 3309-byte signature, which was verified
   * @throws signer_failed; the signal's reason
   */
  sign(message: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
}

/**
 * The key of the attestor's account on the ledger, as returned by `guardKey`. It signs "TX" and the canonical msgpack
 * of a transaction; its signatures were verified, and `sign` throws signer_failed or the signal's reason. The secret
 * never leaves its place.
 */
export interface AccountSigner extends Key {
  readonly algorithm: AccountAlgorithm;
}
