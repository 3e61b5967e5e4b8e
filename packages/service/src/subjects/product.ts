import type { BundleBlock, BundleSource, Inclusion } from "@attestd/proof";
import type { UnsignedBundle } from "@attestd/proof/attestor";
import type { ChainName, ConfirmationLevel } from "../chains/chain.ts";
import type { Subject } from "./subject.ts";

/** A transaction, as it was fetched. */
export type TransactionEvidence = {
  kind: "transaction";
  chain: ChainName;
  caip2: string;
  level: ConfirmationLevel;
  source: BundleSource;
};

/** A block, as it was fetched. */
export type BlockEvidence = {
  kind: "block";
  chain: ChainName;
  caip2: string;
  level: ConfirmationLevel;
  block: BundleBlock;
};

/** A transaction in its block, as both were fetched, and the way from the one to the other. */
export type InclusionEvidence = {
  kind: "inclusion";
  chain: ChainName;
  caip2: string;
  level: ConfirmationLevel;
  block: BundleBlock;
  source: BundleSource;
  inclusion: Inclusion;
};

/** What was fetched about a subject before anything was charged: all that its note and bundle need of the source. */
export type Evidence = TransactionEvidence | BlockEvidence | InclusionEvidence;

/** What the note says of us and of the payment. */
export type NoteContext = {
  /** Base64url SHA-256 of the raw ML-DSA-65 public key: the note's `a`. */
  keySha256: string;
  /** CAIP-2 of the ledger: the note's `g`. */
  ledger: string;
  paymentKey: string;
};

/** Members of a bundle that are the same for every product. */
export type Attested = Pick<UnsignedBundle, "attest" | "attestor">;

/** One thing that is sold: how its subject is fetched, what its note says, what its bundle holds. */
export interface Product<S extends Subject = Subject, E extends Evidence = Evidence> {
  /**
   * Fetches the subject, to the level that we require.
   *
   * @throws Problem when it is not final, or too large; SourceError; ProviderError
   */
  evidence(subject: S, signal: AbortSignal): Promise<E>;

  /** The note for the ledger (format.md, "Note"). */
  note(evidence: E, context: NoteContext): string;

  /** The bundle but for its signature. */
  bundle(evidence: E, attested: Attested): UnsignedBundle;
}

/** Every product by its subject's kind. Each is given subjects and evidence of its own kind alone. */
export type Products = Readonly<Record<Subject["kind"], Product>>;
