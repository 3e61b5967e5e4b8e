import { ALGORAND_ID, isAlgorandAddress } from "./algorand/transaction.ts";
import type { ChainFormat } from "./chain-format.ts";
import { chainNamed, inferChain } from "./chains.ts";
import { utf8 } from "./encoding.ts";
import { formatError } from "./errors.ts";
import { base64, constant, hex32Bytes, integer, object, type Reader, string } from "./json/readers.ts";
import { MAX_NOTE_BYTES } from "./note.ts";
import { ML_DSA_65_PUBLIC_KEY_LENGTH, ML_DSA_65_SIGNATURE_LENGTH } from "./signature.ts";

/* A bundle's attested transaction, and the members that several types of bundle share, with their readers. */

export type BundleSource = {
  /** The chain's name. Inferred from `txnId` where absent; never added to what is signed. */
  chain?: string;
  txnId: string;
  /** Lower-case hex SHA-256 of the bytes. */
  hashSha256: string;
  /** The exact bytes whose hash is `txnId`. */
  txnBytesBase64: string;
};

export type BundleAttest = {
  /** Id of the attestation transaction. */
  txnId: string;
  /** The ledger's round in which it was confirmed. */
  round: number;
  /** The text of its note field. */
  note: string;
};

export type BundleAttestor = {
  algorandAddress: string;
  /** Raw ML-DSA-65 public key, 1952 bytes, base64. */
  pqPublicKey: string;
};

export type BundleSignature = {
  alg: "ML-DSA-65";
  /** 3309 bytes, base64. */
  sigBase64: string;
};

/** The attestor's statement about a transaction, in its note or as a batch item: its block, and its outcome there. */
export type Statement = {
  /** `hash` and `height` in the forms that block bundles use; `time` in Unix seconds, by the block's header. */
  block: { hash: string; height: number; time: number };
  /** `not_applicable`: this chain's blocks hold no failed transactions. */
  outcome: "succeeded" | "failed" | "not_applicable";
};

export type Ledger = { version: 1; network: "algorand-mainnet" };

/** The members of everything that an attestor signs and records. */
export type Attested = Ledger & {
  attest: BundleAttest;
  attestor: BundleAttestor;
  signature: BundleSignature;
};

export const algorandAddress = string("an Algorand address", isAlgorandAddress);

export const LEDGER = {
  version: constant(1),
  network: constant("algorand-mainnet"),
} satisfies { [Member in keyof Ledger]: Reader<Ledger[Member]> };

export const ATTESTED = {
  ...LEDGER,
  attest: object({
    txnId: string("an Algorand transaction id", ALGORAND_ID.pattern),
    round: integer(1),
    note: string(`text of at most ${MAX_NOTE_BYTES} bytes`, isNoteText),
  }),
  attestor: object({ algorandAddress, pqPublicKey: base64(ML_DSA_65_PUBLIC_KEY_LENGTH) }),
  signature: object({ alg: constant("ML-DSA-65"), sigBase64: base64(ML_DSA_65_SIGNATURE_LENGTH) }),
} satisfies { [Member in keyof Attested]: Reader<Attested[Member]> };

function isNoteText(text: string): boolean {
  return text.isWellFormed() && utf8(text).length <= MAX_NOTE_BYTES;
}

/** A string of any form. The chain decides which strings are ids: `sourceChain` checks them. */
export const text = string("a string", () => true);
export const SOURCE = { txnId: text, hashSha256: hex32Bytes, txnBytesBase64: base64() };

/**
 * Returns the chain of a source.
 * @param pointer to the source
 * @throws ProofError `format` for an unknown chain, or an id that is not in its format
 */
export function sourceChain(
  { chain: name, txnId }: BundleSource,
  chains: readonly ChainFormat[],
  pointer = "/source",
): ChainFormat {
  const chain = name === undefined ? inferChain(txnId, chains) : namedChain(name, `${pointer}/chain`, chains);
  if (chain?.transactionId.pattern.test(txnId)) return chain;
  throw formatError(`${pointer}/txnId`, `must be a transaction id${chain ? ` of ${chain.name}` : ""}`);
}

/** Returns the chain with this name. @throws ProofError `format` if there is none */
export function namedChain(name: string, pointer: string, chains: readonly ChainFormat[]): ChainFormat {
  const chain = chainNamed(name, chains);
  if (chain) return chain;
  throw formatError(pointer, `must be one of ${chains.map(({ name }) => name).join(", ")}`);
}
