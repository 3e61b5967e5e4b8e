import type { PaymentRequirements } from "@x402/core/types";
import type { Hex } from "viem";
import { isErc6492Signature } from "viem/utils";
import { type Payment, paymentRefused } from "../rail.ts";
import type { Authorization } from "./authorization.ts";
import { BASE } from "./usdc.ts";

/** The number of seconds that must remain when we settle: for verify, settle and a congested block. */
const MARGIN_SECONDS = 30;
/** The greatest difference between our clock and the chain's, in seconds. */
export const SKEW_SECONDS = 60;

export type BasePayment = Payment & {
  readonly rail: "base";
  readonly authorization: Authorization;
  readonly signature: Hex;
};

/** @throws Problem when no facilitator could settle it */
export async function checkLayout({ authorization: { from, to }, signature }: BasePayment): Promise<void> {
  if (BASE.sameAddress(from, to)) throw paymentRefused("the payer is the payee");
  if (isErc6492Signature(signature))
    throw paymentRefused("the payer's wallet is not deployed yet (ERC-6492): deploy it and sign again");
}

export function checkTransfer({ to, value }: Authorization, { payTo, amount, asset }: PaymentRequirements): void {
  if (!BASE.sameAddress(asset, BASE.asset)) throw paymentRefused(`the payment moves ${BASE.asset}, not ${asset}`);
  if (value !== BigInt(amount)) throw paymentRefused(`the payment moves ${value}, not ${amount}`);
  if (!BASE.sameAddress(to, payTo)) throw paymentRefused(`the payment goes to ${to}, not ${payTo}`);
}

export function checkTimes({ validAfter, validBefore }: Authorization, now: number, maxLifeSeconds: number): void {
  if (validAfter >= now) throw paymentRefused(`the payment is not valid before Unix time ${validAfter}`);
  if (validBefore < now + MARGIN_SECONDS)
    throw paymentRefused(`the payment expires at Unix time ${validBefore}, too soon after ${now}`);
  if (validBefore > now + maxLifeSeconds + SKEW_SECONDS)
    throw paymentRefused(`the payment stays valid for more than ${maxLifeSeconds} s`);
}
