import { decodeMsgpackMap, getInteger, getMap } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import { type Rail, railOf } from "@attestd/proof/rails";
import type { PaymentPayload } from "@x402/core/types";
import { AttestError } from "./errors.ts";

/*
 * How long a signed payment can be taken. Until then no other payment is signed for the same thing, whatever the
 * service says: a 402, a 404 or a refund is the word of a service that may be hostile.
 */

/**
 * The difference up to which clocks count as equal, in ms. An attestd service accepts a payer's clock that is 90 s slow
 * or 600 s fast.
 */
const CLOCK_TOLERANCE_MS = 30_000;
/** The largest difference at which a payment gets its date from the service's clock, in ms. */
const MAX_CLOCK_ERROR_MS = 86_400_000;
/** How far a chain's clock may be behind, in ms. */
const MARGIN_MS = 60_000;
/** An upper bound: Algorand's mean round takes 2.8 s. */
const LONG_ROUND_MS = 10_000;
/** An upper bound: a blockhash is valid for 150 blocks, which take 60 s on average. */
const LONG_BLOCKHASH_MS = 300_000;

/** Whether a payment may still be taken, by this device's clock. @param nowMs ms since 1970 */
export function canBeTaken({ until }: { until: number }, nowMs: number): boolean {
  return !(nowMs >= until);
}

/**
 * Returns how far the service's clock is ahead of this device's, in ms: negative if it is behind, 0 if they agree.
 * @param date the HTTP Date header, if there is one
 * @param nowMs when the answer came: ms since 1970, by this device
 */
export function clockError(date: string | null, nowMs: number): number {
  const aheadMs = Date.parse(date ?? "") - nowMs;
  return Math.abs(aheadMs) > CLOCK_TOLERANCE_MS ? aheadMs : 0;
}

/** Describes a difference between clocks: the seconds, and which clock is behind. @param aheadMs from `clockError` */
export function clockSentence(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000).toLocaleString("en");
  return `This device's clock is ${seconds} s ${aheadMs > 0 ? "behind" : "ahead of"} the service's`;
}

/**
 * Returns the date for a payment, in ms since 1970: the service's time if the clocks disagree. An Algorand or Solana
 * payment has no date; the device's time is returned.
 * @param network CAIP-2
 * @param aheadMs from `clockError`
 * @throws AttestError `signing_failed` when the clocks are more than a day apart
 */
export function paymentDate(network: string, nowMs: number, aheadMs: number): number {
  if (railOf(network)?.name !== "base") return nowMs;
  if (Math.abs(aheadMs) <= MAX_CLOCK_ERROR_MS) return nowMs + aheadMs;
  const message = `${clockSentence(aheadMs)}, so no payment can get a valid date. Set the wrong clock.`;
  throw new AttestError("signing_failed", message);
}

/**
 * Returns when a signed payment can no longer be taken, in ms since 1970 by this device's clock. If the service's clock
 * differs, the later of the two times counts, because a hostile service chooses its own. On Algorand and Solana, which
 * count rounds and blocks, each counts as several times its mean duration.
 * @param payload the scheme's part of x402's PaymentPayload
 * @param signedMs when it was signed, by this device
 * @param aheadMs from `clockError`
 * @throws Error when the payload does not say how long it is valid
 */
export function takenUntil(
  network: string,
  payload: PaymentPayload["payload"],
  signedMs: number,
  aheadMs: number,
): number {
  const rail = railOf(network)?.name;
  const until = rail && LIFETIMES[rail](payload, signedMs, aheadMs);
  if (until !== undefined && Number.isFinite(until)) return until + MARGIN_MS;
  throw new Error("What the wallet signed is not a payment on this network.");
}

type Lifetime = (payload: PaymentPayload["payload"], signedMs: number, aheadMs: number) => number;

const LIFETIMES: Record<Rail["name"], Lifetime> = {
  base({ authorization }, _, aheadMs) {
    const { validBefore } = (authorization ?? {}) as { validBefore?: unknown };
    if (typeof validBefore !== "string" || !/^\d{1,12}$/.test(validBefore)) return Number.NaN;
    return Number(validBefore) * 1000 + Math.max(0, -aheadMs);
  },
  algorand({ paymentGroup, paymentIndex }, signedMs) {
    const own = (paymentGroup as readonly string[] | undefined)?.[Number(paymentIndex)];
    const transaction = own === undefined ? undefined : getMap(decodeMsgpackMap(fromBase64(own)), "txn");
    if (transaction === undefined) return Number.NaN;
    const rounds = Number(getInteger(transaction, "lv") - getInteger(transaction, "fv")) + 1;
    return signedMs + rounds * LONG_ROUND_MS;
  },
  solana: ({ transaction }, signedMs) => (typeof transaction === "string" ? signedMs + LONG_BLOCKHASH_MS : Number.NaN),
};
