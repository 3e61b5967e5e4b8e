import { type BatchHead, type Bundle, bundleId, signedPart } from "@attestd/proof";
import { withoutTrailing } from "@attestd/proof/text";

/**
 * The two ids in a certificate's QR code. `S`, the id of the bundle or the batch's head, commits to its bytes. `T`, the
 * attestation transaction, can be looked up in any explorer.
 */
export type Pointer = { id: string; txnId: string };

const FORM = /^#?c1\.([A-Za-z0-9_-]{43})\.([A-Z2-7]{52})$/;

/**
 * Returns the QR code's URL: `{origin}/#c1.{S}.{T}`. A browser does not send the fragment (RFC 9110, 4.2.5). The page
 * then requests `/bundles/{S}` from its own origin, which thereby learns which bundle is looked at.
 */
export function pointerUrl(origin: string, bundle: Bundle | BatchHead): string {
  return `${withoutTrailing(origin, "/")}/#c1.${bundleId(bundle)}.${signedPart(bundle).attest.txnId}`;
}

/** @param fragment of a URL, with or without `#`. @returns undefined when it is not a pointer */
export function parsePointer(fragment: string): Pointer | undefined {
  const [, id, txnId] = FORM.exec(fragment) ?? [];
  return id !== undefined && txnId !== undefined ? { id, txnId } : undefined;
}

/** Whether a pointer identifies this bundle, or its batch. */
export function isBundleOf(pointer: Pointer, bundle: Bundle): boolean {
  const signed = signedPart(bundle);
  return signed.attest.txnId === pointer.txnId && [bundle, signed].some((one) => bundleId(one) === pointer.id);
}
