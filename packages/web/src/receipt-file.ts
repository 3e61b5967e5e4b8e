import {
  isProofError,
  type KeyEntry,
  type PaymentReceipt,
  parsePaymentReceipt,
  type Trust,
  verifyPaymentReceipt,
} from "@attestd/proof";
import { isObject } from "@attestd/proof/json";

/**
 * `unknown`: no trusted key signed it. `revoked`: its key was revoked, and a receipt has no round to compare with that.
 */
export type ReceiptConclusion = "verified" | "unknown" | "revoked" | "failed";

/** The findings about a receipt. */
export type ReceiptFindings = {
  conclusion: ReceiptConclusion;
  /** The receipt's contents; absent unless a known key signed it. */
  receipt?: PaymentReceipt;
  /** The id of the key that it names. */
  kid?: string;
  /** Why it failed. */
  why?: string;
};

/** A key by its thumbprint. @property pqPublicKey raw, base64 */
type KnownKey = Pick<KeyEntry, "kid" | "pqPublicKey" | "revokedRound">;

/**
 * Returns the content of a receipt file: the receipt in the form of x402's extension `offer-receipt`. @param jws
 * compact
 */
export function receiptFile(jws: string): string {
  return `${JSON.stringify({ format: "jws", signature: jws })}\n`;
}

/** Returns the name of the receipt file for a bundle file: `b.receipt.json` for `b.json`. */
export function receiptFileName(bundleName: string): string {
  return `${bundleName.replace(/\.json$/i, "")}.receipt.json`;
}

/** Finds the receipt in a file's JSON: alone, or in a PAYMENT-RESPONSE. @returns the compact JWS */
export function receiptIn(value: unknown): string | undefined {
  const extension = memberOf(memberOf(value, "extensions"), "offer-receipt");
  const receipt = extension === undefined ? value : memberOf(memberOf(extension, "info"), "receipt");
  const signature = memberOf(receipt, "signature");
  if (!isObject(receipt) || Object.keys(receipt).length !== 2) return undefined;
  return memberOf(receipt, "format") === "jws" && typeof signature === "string" ? signature : undefined;
}

/**
 * Judges a receipt by the trusted keys.
 * @param jws compact
 * @param bundleKey the key of the bundle next to it, because a pinned id is only a key's name
 */
export function judgeReceipt(
  jws: string,
  trust: Trust | undefined,
  bundleKey?: Omit<KnownKey, "revokedRound">,
): ReceiptFindings {
  try {
    const { kid } = parsePaymentReceipt(jws);
    const key = keysOf(trust, bundleKey).find((one) => one.kid === kid);
    if (key === undefined) return { conclusion: "unknown", kid };
    const receipt = verifyPaymentReceipt(jws, [key.pqPublicKey]);
    return { conclusion: key.revokedRound === undefined ? "verified" : "revoked", receipt, kid };
  } catch (error) {
    if (!isProofError(error, "format")) throw error;
    return { conclusion: "failed", why: `${error.pointer.slice(1).replaceAll("/", " ")} ${error.message}`.trim() };
  }
}

function keysOf(trust: Trust | undefined, bundleKey: KnownKey | undefined): readonly KnownKey[] {
  if (trust === undefined) return [];
  if ("keys" in trust) return trust.keys;
  return bundleKey && trust.kids.includes(bundleKey.kid) ? [bundleKey] : [];
}

/** Returns a member of an object; undefined if it has none of its own. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
