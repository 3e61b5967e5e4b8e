import { formatUsdc, railOf, type StoredPayment } from "@attestd/client";
import type { PaymentRequirements } from "@x402/core/types";
import { tokenDomain } from "../../src/authorization.ts";
import { formatMicro } from "../../src/display.ts";
import { printable } from "../../src/printable.ts";
import { BUY, purchaseSteps, type Step, type StepName } from "../../src/purchase-words.ts";
import { receiptFile, receiptFileName } from "../../src/receipt-file.ts";
import { actions, button, type Child, download, h } from "../dom.ts";
import { icon } from "../icons.ts";
import { heading, idValue, type Row, rowList } from "../parts.ts";
import { bundleFileName } from "../site.ts";
import type { PayingWallet } from "./paying-wallet.ts";
import type { Quote, SavedBundle } from "./purchase.ts";

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
  /** What the wallet has to do first; `other`: it is of no use here. */
  needs?: "switch" | "add" | "other" | undefined;
  trouble?: string | undefined;
  nowMs: number;
};

/** The state of the view. */
export type State =
  | { name: "ask"; txid: string; trouble?: string; saved?: readonly SavedBundle[] }
  | { name: "choose"; quote: Quote; wallets: readonly PayingWallet[] }
  | { name: "review"; review: Review }
  | { name: "working"; txid: string; now: StepName; startedAt: number; note: string | undefined }
  | { name: "done"; saved: SavedBundle; verified: boolean; transaction: string | undefined }
  /** `kept` may still be sent: a new payment may be signed only when it is absent. */
  | { name: "stopped"; title: string; why: string; txid: string; kept?: StoredPayment };
type Shown<Name> = Extract<State, { name: Name }>;

export type Actions = {
  quote(txid: string, pressed: HTMLButtonElement): void;
  open(bundle: Uint8Array): void;
  choose(quote: Quote, wallet: PayingWallet, pressed: HTMLButtonElement): void;
  chooseAnother(quote: Quote): void;
  connect(review: Review): void;
  switchNetwork(review: Review): void;
  addNetwork(review: Review): void;
  sign(review: Review, pressed: HTMLButtonElement): void;
  /** Sends a stored payment again. */
  carryOn(kept: StoredPayment): void;
  startOver(): void;
};

export function buyView(state: State, can: Actions): Child[] {
  switch (state.name) {
    case "ask":
      return askView(state, can);
    case "choose":
      return chooseView(state, can);
    case "review":
      return reviewView(state.review, can);
    case "working":
      return workingView(state);
    case "done":
      return doneView(state, can);
    case "stopped":
      return stoppedView(state, can);
  }
}

/** Asks for the transaction to attest. */
function askView({ txid, trouble, saved = [] }: Shown<"ask">, can: Actions): Child[] {
  const input = h("input", {
    type: "text",
    id: "txid",
    value: txid,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": trouble === undefined ? "txid-hint" : "trouble",
    "aria-invalid": trouble === BUY.notAnId ? "true" : undefined,
  });
  const ask = h("button", { type: "submit", class: "primary" }, "See the price");
  const submit = (event: Event) => {
    event.preventDefault();
    if (ask.getAttribute("aria-disabled") !== "true") can.quote(input.value, ask);
  };
  return [
    heading(BUY.title, "", trouble === undefined ? undefined : "trouble"),
    h("p", { class: "block" }, BUY.intro),
    h(
      "form",
      { onsubmit: submit },
      h("label", { for: "txid" }, BUY.field),
      input,
      h("p", { class: "hint", id: "txid-hint" }, BUY.fieldHint),
      trouble !== undefined && notice(trouble),
      actions(ask),
    ),
    saved.length > 0 && h("h2", {}, BUY.savedTitle),
    saved.length > 0 && savedList(saved, can),
  ];
}

/** An error, or what has to be done first; the heading refers to it with `aria-describedby`. */
function notice(trouble: string): HTMLElement {
  return h("p", { class: "notice", "data-tone": "caution", id: "trouble" }, printable(trouble));
}

function savedList(saved: readonly SavedBundle[], can: Actions): HTMLElement {
  const newestFirst = saved.toSorted((a, b) => b.savedAt - a.savedAt);
  return rowList(
    newestFirst.map((one) => ({
      label: `Round ${one.round}`,
      value: [idValue(one.txid)],
      beside: h(
        "div",
        { class: "pair" },
        button("Show", () => can.open(one.bytes), { "aria-label": `Show the attestation of ${one.txid}` }),
        saveReceipt(one, "Receipt", `Save the receipt of ${one.txid}`),
      ),
    })),
  );
}

function commandLine(txid: string): HTMLElement {
  return h(
    "pre",
    {},
    `# in a clone of attestd, after npm ci\nnpx attestd attest ${printable(txid)} --service ${location.origin} --wallet wallet.json --keys keys.json`,
  );
}

/** The wallets that could pay. */
function chooseView({ quote, wallets }: Shown<"choose">, can: Actions): Child[] {
  const isBare = wallets.every(({ isSite }) => isSite);
  const label = (wallet: PayingWallet) => `${printable(wallet.name)} on ${railLabel(wallet)}`;
  const choose = (wallet: PayingWallet) =>
    button(label(wallet), (pressed) => can.choose(quote, wallet, pressed), wallet.isSite ? {} : { class: "primary" });
  const sites = wallets.filter(({ isSite }) => isSite);
  return [
    heading(BUY.chooseTitle, "", isBare ? "trouble" : undefined),
    isBare && notice(BUY.noWallet),
    isBare && commandLine(quote.txid),
    wallets.length > 0 && h("p", { class: "block" }, BUY.chooseHint),
    ...sites.map(({ name }) => h("p", { class: "hint" }, BUY.siteHint(name))),
    actions(...wallets.map(choose), button("Cancel", can.startOver)),
  ];
}

function railLabel({ rail }: PayingWallet): string {
  return { algorand: "Algorand", base: "Base", solana: "Solana" }[rail];
}

/** Amount, payee and expiry of the payment, before any wallet opens. */
function reviewView(review: Review, can: Actions): Child[] {
  const { quote, offer, wallet, account, nowMs } = review;
  const amount = formatUsdc(BigInt(offer.amount));
  const [before, after] = BUY.signs[wallet.rail](amount, "\u0000").split("\u0000");
  const until = h("span", { id: "until" }, expiry(offer, nowMs));
  const rows: Row[] = [
    { label: "You pay", value: [`${amount} USDC on ${railLabel(wallet)}. ${feeOf(review)}`] },
    { label: "To", value: [idValue(offer.payTo), ` (${location.host})`] },
    { label: "You get", value: ["one attestation of ", idValue(quote.txid)] },
    { label: "You sign", value: [before, until, after] },
    { label: "Token", value: [`${printable(tokenName(review))}, `, idValue(offer.asset)] },
    { label: "You have", value: [balanceText(review)] },
    ...(account === undefined ? [] : [{ label: "From", value: [idValue(account)] }]),
  ];
  const trouble = troubleOf(review, amount);
  return [
    heading(BUY.reviewTitle, "", trouble === undefined ? undefined : "trouble"),
    trouble !== undefined && notice(trouble),
    trouble === BUY.otherLedger && commandLine(quote.txid),
    rowList(rows, "facts block"),
    h("p", { class: "block" }, BUY.notCharged),
    actions(
      ...reviewControls(review, amount, can),
      review.hasOthers && button("Another wallet", () => can.chooseAnother(quote)),
      button("Cancel", can.startOver),
    ),
  ];
}

/** Who pays the network's fee: on Base the facilitator, elsewhere the fee payer that the offer names, or else the payer. */
function feeOf({ wallet, offer }: Review): string {
  return wallet.rail === "base" || offer.extra.feePayer !== undefined ? BUY.fees.sponsored : BUY.fees.own;
}

function tokenName({ wallet, offer }: Review): string {
  return wallet.rail === "base" ? tokenDomain(offer).name : "USDC";
}

function balanceText({ balance, account }: Review): string {
  if (account === undefined) return BUY.notConnected;
  if (balance === undefined) return BUY.unknownBalance;
  return `${formatMicro(balance === "none" ? 0n : balance)} USDC`;
}

/** For how long a transaction of Solana can be recorded: 150 blocks of 0.4 s. */
const SOLANA_SECONDS = 60;

/** When a payment that is signed now becomes void: exactly on Base, elsewhere by the mean time of a block. */
export function expiry({ network, maxTimeoutSeconds }: PaymentRequirements, nowMs: number): string {
  const seconds = railOf(network)?.name === "solana" ? Math.min(SOLANA_SECONDS, maxTimeoutSeconds) : maxTimeoutSeconds;
  const time = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  return new Date(nowMs + seconds * 1000).toLocaleTimeString(undefined, time);
}

/** The reason why the reader cannot sign yet. */
function troubleOf(review: Review, amount: string): string | undefined {
  const { trouble, account, needs, balance, wallet } = review;
  if (trouble !== undefined) return trouble;
  if (needs === "other") return BUY.otherLedger;
  if (account === undefined) return undefined;
  if (needs === "switch") return BUY.otherChain;
  if (balance === "none") return BUY.noAccount[wallet.rail];
  return isTooLittle(review) ? BUY.tooLittle(formatUsdc(balance ?? 0n), railLabel(wallet), amount) : undefined;
}

function isTooLittle({ balance, offer }: Review): boolean {
  return balance === "none" || (balance !== undefined && balance < BigInt(offer.amount));
}

function reviewControls(review: Review, amount: string, can: Actions): Child[] {
  const { wallet, account, needs } = review;
  const primary = (label: string, press: (pressed: HTMLButtonElement) => void) =>
    button(label, press, { class: "primary" });
  if (needs === "other") return [];
  if (needs === "add") return [primary("Add Base to the wallet", () => can.addNetwork(review))];
  if (account === undefined) return [primary(`Connect ${printable(wallet.name)}`, () => can.connect(review))];
  if (needs === "switch") return [primary("Switch to Base", () => can.switchNetwork(review))];
  if (isTooLittle(review)) return [];
  return [primary(`Sign and pay ${amount} USDC`, (pressed) => can.sign(review, pressed))];
}

/** A purchase in progress. It has no buttons, because it continues by itself, also after a reload. */
function workingView({ txid, now, startedAt, note }: Shown<"working">): Child[] {
  const elapsed = h("p", { class: "hint" });
  const update = () => {
    elapsed.textContent = `${Math.round((Date.now() - startedAt) / 1000)} s so far`;
  };
  update();
  const ticking = setInterval(() => {
    if (elapsed.isConnected) update();
    else clearInterval(ticking);
  }, 1000);
  return [
    heading(BUY.workingTitle),
    note !== undefined && h("p", { class: "notice" }, note),
    h("p", { class: "block" }, "One attestation of ", idValue(txid)),
    stepList(purchaseSteps(now)),
    elapsed,
  ];
}

function stepList(steps: readonly Step[]): HTMLElement {
  const icons = { done: "✓", failed: "✕", now: "›", todo: "·" };
  const words = { done: "done", failed: "not verified", now: "under way", todo: "" };
  const item = ({ label, id, state }: Step) =>
    h(
      "li",
      { "data-step": state, "aria-current": state === "now" ? "step" : undefined },
      icon(icons[state]),
      h("span", {}, printable(label)),
      h("span", { class: "hint" }, words[state]),
      id !== undefined && idValue(id),
    );
  return h("ol", { class: "steps" }, ...steps.map(item));
}

function doneView({ saved, verified, transaction }: Shown<"done">, can: Actions): Child[] {
  return [
    h(
      "section",
      { class: "verdict", "data-tone": verified ? "passed" : "failed" },
      heading(verified ? BUY.doneTitle : BUY.notVerifiedTitle, verified ? "✓" : "✕"),
      stepList(purchaseSteps(undefined, { round: saved.round, verified, transaction })),
      actions(
        button("Show the attestation", () => can.open(saved.bytes), { class: "primary" }),
        saveReceipt(saved),
        button("Buy another", can.startOver),
      ),
    ),
  ];
}

/** Saves the receipt of what was bought, to stand beside its bundle; nothing where the service signed none. */
function saveReceipt({ receipt, id, round }: SavedBundle, label = "Save the receipt", name = label): Child {
  if (receipt === undefined) return undefined;
  const file = receiptFileName(bundleFileName(id, round));
  const save = () => download(file, "application/json", receiptFile(receipt));
  return button(label, save, { "aria-label": name });
}

/** A purchase that stopped. If its payment is stored, the only way on is to send it again. */
function stoppedView({ title, why, txid, kept }: Shown<"stopped">, can: Actions): Child[] {
  const again = (pressed: HTMLButtonElement) => (kept ? can.carryOn(kept) : can.quote(txid, pressed));
  return [
    h(
      "section",
      { class: "verdict", "data-tone": "caution" },
      heading(title, "⚠"),
      h("p", {}, printable(why)),
      actions(
        button(kept ? "Ask again" : "See the price again", again, { class: "primary" }),
        button(kept ? "Another transaction" : "Cancel", can.startOver),
      ),
    ),
  ];
}
