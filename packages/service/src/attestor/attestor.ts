import { bundleId, type PaymentReceipt, type SignedBundle } from "@attestd/proof";
import { receiptSigningInput, signingBytes, type UnsignedBundle } from "@attestd/proof/attestor";
import { toBase64, toBase64Url, utf8 } from "@attestd/proof/encoding";
import type { Signer } from "../signers/signer.ts";

/** A signed bundle. Signatures are hedged, so its bytes cannot be made again. */
export type SealedBundle = {
  /** Base64url SHA-256 of the bundle's RFC 8785 JSON: its name at `GET /bundles/{S}`. */
  id: string;
  /** The JSON as delivered, in ASCII. For a batch, its head, which the answer and each item contain. */
  body: string;
  /** The items of a batch, in order (subjects/batch-answer.ts). */
  items?: readonly SealedItem[];
  /** The bundle's sources, if they are in a recent block of the ledger's own network. */
  sources?: readonly SealedSource[];
};

/** A source for which evidence can be collected. `id`: the bundle's id, or for a batch the item's. */
export type SealedSource = { id: string; round: number; blockHash: string; txnId?: string };

/** An item of a batch: its name at `GET /bundles/{S}`, and its canonical JSON without the head. */
export type SealedItem = { id: string; text: string };

/** The identity that signs bundles and receipts. */
export interface Attestor extends Pick<Signer, "kid" | "keySha256" | "pqPublicKey"> {
  /** Signs a bundle, which fixes its bytes. Every member of it MUST have been recomputed by us. */
  seal(unsigned: UnsignedBundle, signal: AbortSignal): Promise<SealedBundle>;

  /** Signs a receipt for a payment whose purchase was delivered. @returns a compact JWS */
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
