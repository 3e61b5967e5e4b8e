import { bundleId, type PaymentReceipt, type SignedBundle } from "@attestd/proof";
import { receiptSigningInput, signingBytes, type UnsignedBundle } from "@attestd/proof/attestor";
import { toBase64, toBase64Url, utf8 } from "@attestd/proof/encoding";
import type { Signer } from "../signers/signer.ts";

/** A signed bundle. Signatures are hedged, so that its bytes can never be made again. */
export type SealedBundle = {
  /** Base64url SHA-256 of the bundle's RFC 8785 JSON: its name at `GET /bundles/{S}`. */
  id: string;
  /** The JSON as it is delivered, in ASCII; of a batch that of its head, which the answer and each item have. */
  body: string;
  /** The items of a batch, in their order (subjects/batch-answer.ts). */
  items?: readonly SealedItem[];
  /** What it is about, where that stands in a recent block of the ledger's own network. */
  sources?: readonly SealedSource[];
};

/** A source of which evidence can be collected: `id` is the bundle's, or of a batch the item's, whose source it is. */
export type SealedSource = { id: string; round: number; blockHash: string; txnId?: string };

/** An item of a batch: its name at `GET /bundles/{S}`, and its canonical JSON without the head. */
export type SealedItem = { id: string; text: string };

/** The identity that signs bundles, and receipts for them. */
export interface Attestor extends Pick<Signer, "kid" | "keySha256" | "pqPublicKey"> {
  /** Signs a bundle and fixes its bytes. Every member of it MUST have been recomputed by us. */
  seal(unsigned: UnsignedBundle, signal: AbortSignal): Promise<SealedBundle>;

  /** Signs a receipt for a payment that was delivered for. @returns a compact JWS */
  signReceipt(receipt: PaymentReceipt, signal: AbortSignal): Promise<string>;
}

export function createAttestor(signer: Signer): Attestor {
  const { kid, keySha256, pqPublicKey } = signer;
  return {
    kid,
    keySha256,
    pqPublicKey,
    async seal(unsigned, signal) {
      const sigBase64 = toBase64(await signer.sign(signingBytes(unsigned), signal));
      const bundle: SignedBundle = { ...unsigned, signature: { alg: "ML-DSA-65", sigBase64 } };
      return { id: bundleId(bundle), body: JSON.stringify(bundle) };
    },
    async signReceipt(receipt, signal) {
      const input = receiptSigningInput(receipt, kid);
      return `${input}.${toBase64Url(await signer.sign(utf8(input), signal))}`;
    },
  };
}
