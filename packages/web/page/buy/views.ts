import { formatUsdc, type StoredPayment } from "@attestd/client";
import { tokenDomain } from "../../src/authorization.ts";
import { formatMicro } from "../../src/display.ts";
import { printable } from "../../src/printable.ts";
import { BUY, purchaseSteps, type Step, type StepName } from "../../src/purchase-words.ts";
import { actions, button, type Child, h } from "../dom.ts";
import { icon } from "../icons.ts";
import { heading, idValue, type Row, rowList } from "../parts.ts";
import type { Quote, SavedBundle } from "./purchase.ts";
import type { FoundWallet, Provider } from "./wallet.ts";

/** What would be paid, by which wallet. */
export type Review = {
  quote: Quote;
  wallets: readonly FoundWallet[];
  /** The chosen one. */
  provider: Provider | undefined;
  account?: string | undefined;
  /** micro-USDC of the account. */
  balance?: bigint | undefined;
  /** What the wallet has to do first. */
  needs?: "switch" | "add" | undefined;
  trouble?: string | undefined;
  nowMs: number;
};

/** The state of the view. */
export type State =
  /** `command`: whether to show the command that buys instead. */
  | { name: "ask"; txid: string; trouble?: string; command?: boolean; saved?: readonly SavedBundle[] }
  | { name: "review"; review: Review }
  | { name: "working"; txid: string; now: StepName; startedAt: number; note: string | undefined }
  | { name: "done"; saved: SavedBundle; verified: boolean; transaction: string | undefined }
  /** `kept` may still be sent: a new payment may be signed only when it is absent. */
  | { name: "stopped"; title: string; why: string; txid: string; kept?: StoredPayment };
type Shown<Name> = Extract<State, { name: Name }>;

export type Actions = {
  quote(txid: string, pressed: HTMLButtonElement): void;
  open(bundle: Uint8Array): void;
  connect(review: Review, provider: Provider): void;
  switchToBase(review: Review): void;
  addBase(review: Review): void;
  sign(review: Review, pressed: HTMLButtonElement): void;
  /** Sends a stored payment again. */
  carryOn(kept: StoredPayment): void;
  startOver(): void;
};

export function buyView(state: State, can: Actions): Child[] {
  switch (state.name) {
    case "ask":
      return askView(state, can);
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
function askView({ txid, trouble, command, saved = [] }: Shown<"ask">, can: Actions): Child[] {
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
      command && commandLine(txid),
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
    newestFirst.map(({ txid, round, bytes }) => ({
      label: `Round ${round}`,
      value: [idValue(txid)],
      beside: button("Show", () => can.open(bytes), { "aria-label": `Show the attestation of ${txid}` }),
    })),
  );
}

function commandLine(txid: string): HTMLElement {
  return h(
    "pre",
    {},
    `npx attestd attest ${printable(txid)} --service ${location.origin} --wallet wallet.json --keys keys.json`,
  );
}

/** Amount, payee and expiry of the payment, before any wallet opens. */
function reviewView(review: Review, can: Actions): Child[] {
  const { quote, balance, nowMs } = review;
  const { offer, txid } = quote;
  const amount = formatUsdc(BigInt(offer.amount));
  const until = clockTime(nowMs + offer.maxTimeoutSeconds * 1000);
  const [before, after] = BUY.signs(amount, "\u0000").split("\u0000");
  const rows: Row[] = [
    { label: "You pay", value: [`${amount} USDC on Base. No network fee.`] },
    { label: "To", value: [idValue(offer.payTo), ` (${location.host})`] },
    { label: "You get", value: ["one attestation of ", idValue(txid)] },
    { label: "You sign", value: [before, h("span", { id: "until" }, until), after] },
    { label: "Token", value: [`${printable(tokenDomain(offer).name)}, `, idValue(offer.asset)] },
    ...(balance === undefined ? [] : [{ label: "You have", value: [`${formatMicro(balance)} USDC`] }]),
  ];
  const trouble = troubleOf(review, amount);
  return [
    heading(BUY.reviewTitle, "", trouble === undefined ? undefined : "trouble"),
    trouble !== undefined && notice(trouble),
    rowList(rows, "facts block"),
    h("p", { class: "block" }, BUY.notCharged),
    ...reviewControls(review, amount, can),
  ];
}

export function clockTime(ms: number): string {
  return new Date(ms).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

/** The reason why the reader cannot sign yet. */
function troubleOf({ trouble, account, needs, balance, quote }: Review, amount: string): string | undefined {
  if (trouble !== undefined || account === undefined) return trouble;
  if (needs === "switch") return BUY.otherChain;
  return isTooLittle(balance, quote) ? BUY.tooLittle(formatUsdc(balance), amount) : undefined;
}

function isTooLittle(balance: bigint | undefined, { offer }: Quote): balance is bigint {
  return balance !== undefined && balance < BigInt(offer.amount);
}

function reviewControls(review: Review, amount: string, can: Actions): Child[] {
  const { wallets, account, needs, balance, quote } = review;
  const row = (...buttons: Child[]) => actions(...buttons, button("Cancel", can.startOver));
  const primary = (label: string, press: (pressed: HTMLButtonElement) => void) =>
    button(label, press, { class: "primary" });
  if (wallets.length === 0) return [h("p", { class: "notice" }, BUY.noWallet), commandLine(quote.txid), row()];
  if (needs === "add") return [row(primary("Add Base to the wallet", () => can.addBase(review)))];
  if (account === undefined) {
    const label = (name: string) => (wallets.length === 1 ? "Connect wallet" : `Connect ${printable(name)}`);
    const connect = ({ name, provider }: FoundWallet) => primary(label(name), () => can.connect(review, provider));
    return [row(...wallets.map(connect))];
  }
  if (needs === "switch") return [row(primary("Switch to Base", () => can.switchToBase(review)))];
  if (isTooLittle(balance, quote)) return [row()];
  return [row(primary(`Sign and pay ${amount} USDC`, (pressed) => can.sign(review, pressed)))];
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
        button("Buy another", can.startOver),
      ),
    ),
  ];
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
