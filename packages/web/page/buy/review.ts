import { clockSentence, formatUsdc, railOf, tokenDomain } from "@attestd/client";
import { RAILS, USDC_DECIMALS } from "@attestd/proof/rails";
import { groupedUnits } from "@attestd/proof/text";
import type { PaymentRequirements } from "@x402/core/types";
import { printable } from "../../src/printable.ts";
import { BUY } from "../../src/purchase-words.ts";
import { actions, button, type Child, h } from "../dom.ts";
import { heading, idValue, type Row, rowList } from "../parts.ts";
import { bought, commandLine, notice } from "./parts.ts";
import type { PayingWallet } from "./paying-wallet.ts";
import type { Quote } from "./purchase.ts";

/** What would be paid, by which wallet. */
export type Review = {
  quote: Quote;
  /** The one of the wallet's rail. */
  offer: PaymentRequirements;
  wallet: PayingWallet;
  /** Whether the reader could choose another wallet. */
  hasOthers: boolean;
  account?: string | undefined;
  /** micro-USDC of the account; `none` where it has no account for USDC, undefined where that is not known. */
  balance?: bigint | "none" | undefined;
  /** What the wallet has to do first; `other`: it is of no use here; `clock`: the device's clock must be set. */
  needs?: "switch" | "add" | "other" | "clock" | undefined;
  trouble?: string | undefined;
  /** The time by which the payment is dated, ms since 1970. */
  dateMs: number;
};

export type ReviewActions = {
  chooseAnother(quote: Quote): void;
  /** Asks the wallet for what comes before the payment. */
  prepare(review: Review, step: "connect" | "switchNetwork" | "addNetwork"): void;
  sign(review: Review, pressed: HTMLButtonElement): void;
  startOver(): void;
};

/** Amount, payee and expiry of the payment, before any wallet opens. */
export function reviewView(review: Review, can: ReviewActions): Child[] {
  const { quote, offer, wallet, account, dateMs } = review;
  const amount = formatUsdc(BigInt(offer.amount));
  const [before, after] = BUY.signs[wallet.rail](amount, "\u0000").split("\u0000");
  const until = h("span", { id: "until" }, expiry(offer, dateMs));
  const rows: Row[] = [
    { label: "You pay", value: [`${amount} USDC on ${RAILS[wallet.rail].label}. ${feeOf(review)}`] },
    { label: "To", value: [idValue(offer.payTo), ` (${location.host})`] },
    { label: "You get", value: bought(quote.txids) },
    { label: "You sign", value: [before, until, after] },
    { label: "Token", value: [`${printable(tokenName(review))}, `, idValue(offer.asset)] },
    { label: "You have", value: [balanceText(review)] },
    ...(account === undefined ? [] : [{ label: "From", value: [idValue(account)] }]),
  ];
  const trouble = troubleOf(review, amount);
  return [
    heading(BUY.reviewTitle, "", trouble === undefined ? undefined : "trouble"),
    trouble !== undefined && notice(trouble),
    trouble === BUY.otherLedger && commandLine(quote.txids),
    wallet.rail === "base" &&
      quote.aheadMs !== 0 &&
      h("p", { class: "notice" }, BUY.dated(clockSentence(quote.aheadMs))),
    rowList(rows, "facts block"),
    h("p", { class: "block" }, quote.txids.length === 1 ? BUY.notCharged : BUY.listIntro),
    actions(
      ...reviewControls(review, amount, can),
      review.hasOthers && button("Another wallet", () => can.chooseAnother(quote)),
      button("Cancel", can.startOver),
    ),
  ];
}

/** Who pays the network's fee: on Base the facilitator, elsewhere the fee payer that the offer names, or else the payer. */
function feeOf({ wallet, offer }: Review): string {
  return wallet.rail === "base" || offer.extra?.feePayer !== undefined ? BUY.fees.sponsored : BUY.fees.own;
}

function tokenName({ wallet, offer }: Review): string {
  return wallet.rail === "base" ? tokenDomain(offer).name : "USDC";
}

function balanceText({ balance, account }: Review): string {
  if (account === undefined) return BUY.notConnected;
  if (balance === undefined) return BUY.unknownBalance;
  return `${groupedUnits(balance === "none" ? 0n : balance, USDC_DECIMALS, 2)} USDC`;
}

/** For how long a transaction of Solana can be recorded: 150 blocks of 0.4 s. */
const SOLANA_SECONDS = 60;

/** When a payment that is signed now becomes void: exactly on Base, elsewhere by the mean time of a block. */
export function expiry({ network, maxTimeoutSeconds }: PaymentRequirements, dateMs: number): string {
  const seconds = railOf(network)?.name === "solana" ? Math.min(SOLANA_SECONDS, maxTimeoutSeconds) : maxTimeoutSeconds;
  return timeOfDay(dateMs + seconds * 1000);
}

/** A time as the reader's clock shows it. @param timeMs ms since 1970 */
export function timeOfDay(timeMs: number): string {
  const time = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  return new Date(timeMs).toLocaleTimeString(undefined, time);
}

/** The reason why the reader cannot sign yet. */
function troubleOf(review: Review, amount: string): string | undefined {
  const { trouble, account, needs, balance, wallet } = review;
  if (trouble !== undefined) return trouble;
  if (needs === "other") return BUY.otherLedger;
  if (account === undefined) return undefined;
  if (needs === "switch") return BUY.otherChain;
  if (balance === "none") return BUY.noAccount[wallet.rail];
  return isTooLittle(review) ? BUY.tooLittle(formatUsdc(balance ?? 0n), RAILS[wallet.rail].label, amount) : undefined;
}

function isTooLittle({ balance, offer }: Review): boolean {
  return balance === "none" || (balance !== undefined && balance < BigInt(offer.amount));
}

function reviewControls(review: Review, amount: string, can: ReviewActions): Child[] {
  const { wallet, account, needs } = review;
  const primary = (label: string, press: (pressed: HTMLButtonElement) => void) =>
    button(label, press, { class: "primary" });
  if (needs === "other" || needs === "clock") return [];
  if (needs === "add") return [primary("Add Base to the wallet", () => can.prepare(review, "addNetwork"))];
  if (account === undefined)
    return [primary(`Connect ${printable(wallet.name)}`, () => can.prepare(review, "connect"))];
  if (needs === "switch") return [primary("Switch to Base", () => can.prepare(review, "switchNetwork"))];
  if (isTooLittle(review)) return [];
  return [primary(`Sign and pay ${amount} USDC`, (pressed) => can.sign(review, pressed))];
}
