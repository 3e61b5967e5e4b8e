import type { BundleBlock, BundleSource, Inclusion } from "@attestd/proof";
import type { UnsignedBundle } from "@attestd/proof/attestor";
import type { SealedBundle } from "../attestor/attestor.ts";
import type { ChainName, ConfirmationLevel, SourceTransaction } from "../chains/chain.ts";
import type { Subject } from "./subject.ts";

/** The part of the evidence that every subject has. */
type Fetched = { chain: ChainName; caip2: string; level: ConfirmationLevel };

export type TransactionEvidence = Fetched &
  Pick<SourceTransaction, "block" | "succeeded"> & { kind: "transaction"; source: BundleSource };

export type BlockEvidence = Fetched & { kind: "block"; block: BundleBlock };

/** A transaction, its block, and the proof that leads from the one to the other. */
export type InclusionEvidence = Fetched & {
  kind: "inclusion";
  block: BundleBlock;
  source: BundleSource;
  inclusion: Inclusion;
};

/** One transaction of a batch, with the nonce of its statement: base64 of 16 random bytes. */
export type BatchItemEvidence = Omit<TransactionEvidence, "kind"> & { nonce: string };

/**
 * The transactions of a batch: the root of their statements' tree, hex, and their number. `items`: in the order of the request;
 * absent where they stand apart (calls/apart.ts).
 */
export type BatchEvidence = { kind: "batch"; root: string; size: number; items?: readonly BatchItemEvidence[] };

/** The items of a batch, which are read anew each time they are iterated. */
export type BatchItems = Iterable<BatchItemEvidence> | AsyncIterable<BatchItemEvidence>;

/** Everything that a subject's note and bundle need from its source, fetched before anything is charged. */
export type Evidence = TransactionEvidence | BlockEvidence | InclusionEvidence | BatchEvidence;

/** The members of a note that come from the attestor and the payment. */
export type NoteContext = {
  /** Base64url SHA-256 of the raw ML-DSA-65 public key: the note's `a`. */
  keySha256: string;
  /** CAIP-2 of the ledger: the note's `g`. */
  ledger: string;
  paymentKey: string;
};

/** A bundle's source: a transaction whose block is not in the bundle, or a block. */
export type BundleOf = {
  chain: ChainName;
  /** CAIP-2. */
  caip2: string;
  height: number;
  blockHash: string;
  txnId?: string;
};

/** A product: fetches a subject, and makes its note and its bundle. */
export interface Product<S extends Subject = Subject, E extends Evidence = Evidence> {
  /**
   * Fetches the subject, and requires its level and the requested outcome.
   * @throws Problem when it is not final, has failed, or is too large; SourceError; ProviderError
   */
  evidence(subject: S, signal: AbortSignal): Promise<E>;

  /** Makes the note for the ledger (docs/format.md, "Note"). */
  note(evidence: E, context: NoteContext): string;

  /** Makes the unsigned bundle; for a batch, its head, without the items. */
  bundle(evidence: E, attested: Pick<UnsignedBundle, "attest" | "attestor">): UnsignedBundle;
  /** Lists the bundle's sources: a transaction with its block; for a batch none, which `answer` lists. */
  sources(evidence: E): readonly BundleOf[];
  /**
   * Adds the items to a signed batch; by default the bundle has none. The same arguments give the same bytes.
   * @returns the sources too, each in order
   */
  answer?(evidence: E, sealed: SealedBundle, items: BatchItems): Promise<{ bundle: SealedBundle; sources: BundleOf[] }>;
}

/** Every product by its subject's kind. Each gets only subjects and evidence of its own kind. */
export type Products = Readonly<Record<Subject["kind"], Product>>;
