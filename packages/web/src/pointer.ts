import { type Bundle, bundleId } from "@attestd/proof";
import { withoutTrailing } from "@attestd/proof/trailing";

/**
 * What a certificate's QR code says of its bundle: where it may be fetched, and which one it is. `S`, the bundle's own
 * id, is a commitment to its bytes; `T`, the attestation transaction, can be looked up in any explorer.
 */
export type Pointer = { id: string; txnId: string };

const FORM = /^#?c1\.([A-Za-z0-9_-]{43})\.([A-Z2-7]{52})$/;

/**
 * The URL in the QR code: `{origin}/#c1.{S}.{T}`. A browser keeps the fragment to itself (RFC 9110, 4.2.5); the page that
 * it opens then asks its own origin for `/bundles/{S}`, so that whoever serves the page learns which one is looked at.
 */
export function pointerUrl(origin: string, bundle: Bundle): string {
  return `${withoutTrailing(origin, "/")}/#c1.${bundleId(bundle)}.${bundle.attest.txnId}`;
}

/** @param fragment of a URL, with or without `#`. @returns undefined where it is no pointer */
export function parsePointer(fragment: string): Pointer | undefined {
  const [, id, txnId] = FORM.exec(fragment) ?? [];
  return id !== undefined && txnId !== undefined ? { id, txnId } : undefined;
}

/** Whether the bundle is the one that a certificate names. */
export function isBundleOf(pointer: Pointer, bundle: Bundle): boolean {
  return bundleId(bundle) === pointer.id && bundle.attest.txnId === pointer.txnId;
}
