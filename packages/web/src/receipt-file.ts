import {
  isProofError,
  type KeyEntry,
  type PaymentReceipt,
  parsePaymentReceipt,
  type Trust,
  verifyPaymentReceipt,
} from "@attestd/proof";
import { isObject } from "@attestd/proof/json";

/** `unknown`: by no trusted key. `revoked`: its key was withdrawn, and a receipt names no round before that. */
export type ReceiptConclusion = "verified" | "unknown" | "revoked" | "failed";

/** The findings about a receipt. */
export type ReceiptFindings = {
  conclusion: ReceiptConclusion;
  /** What it states; absent unless a key that is known here signed it. */
  receipt?: PaymentReceipt;
  /** The key that it names. */
  kid?: string;
  /** Why it failed. */
  why?: string;
};

/** A key by its thumbprint. @property pqPublicKey raw, base64 */
type KnownKey = Pick<KeyEntry, "kid" | "pqPublicKey" | "revokedRound">;

/** The content of a receipt's file: the receipt as x402's extension `offer-receipt` has it. @param jws compact */
export function receiptFile(jws: string): string {
  return `${JSON.stringify({ format: "jws", signature: jws })}\n`;
}

/** The name of the receipt's file beside a bundle's: `b.receipt.json` of `b.json`. */
export function receiptFileName(bundleName: string): string {
  return `${bundleName.replace(/\.json$/i, "")}.receipt.json`;
}

/** The receipt in a file's JSON: alone, or in the PAYMENT-RESPONSE that brought it. @returns the compact JWS */
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
 * @param bundleKey of the bundle beside it: a pinned id is only the name of a key
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

/** A member of its own, if it is an object that has it. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
