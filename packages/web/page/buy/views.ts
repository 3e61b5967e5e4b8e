import { formatUsdc } from "@attestd/client";
import { formatUsdcAmount } from "../../src/amount.ts";
import { tokenDomain } from "../../src/authorization.ts";
import { printable } from "../../src/printable.ts";
import { purchaseSteps, type Step } from "../../src/purchase-steps.ts";
import { BUY } from "../../src/purchase-words.ts";
import { button, h } from "../dom.ts";
import { icon } from "../icons.ts";
import { heading, idValue } from "../parts.ts";
import type { Quote, SavedBundle } from "./purchase.ts";
import type { FoundWallet, Provider } from "./wallet.ts";

export type Ask = {
  txid: string;
  trouble?: string;
  /** Whether to show the command that buys instead. */
  command?: boolean;
  saved: readonly SavedBundle[];
  open(bytes: Uint8Array): void;
  submit(txid: string, pressed: HTMLButtonElement): void;
};

/** Asks for the transaction to attest. */
export function askView({ txid, trouble, command, saved, open, submit }: Ask): Node[] {
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
  const form = h(
    "form",
    {},
    h("label", { for: "txid" }, BUY.field),
    input,
    h("p", { class: "hint", id: "txid-hint" }, BUY.fieldHint),
    trouble !== undefined && notice(trouble),
    command === true && commandLine(txid),
    h("div", { class: "actions" }, ask),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (ask.getAttribute("aria-disabled") !== "true") submit(input.value, ask);
  });
  return [
    heading(BUY.title, "", trouble === undefined ? undefined : "trouble"),
    h("p", { class: "block" }, BUY.intro),
    form,
    ...(saved.length === 0 ? [] : [h("h2", {}, BUY.savedTitle), savedList(saved, open)]),
  ];
}

/** An error, or what has to be done first; the heading refers to it with `aria-describedby`. */
function notice(trouble: string): HTMLElement {
  return h("p", { class: "notice", "data-tone": "caution", id: "trouble" }, printable(trouble));
}

function savedList(saved: readonly SavedBundle[], open: (bytes: Uint8Array) => void): HTMLElement {
  const newestFirst = saved.toSorted((a, b) => b.savedAt - a.savedAt);
  return h(
    "dl",
    { class: "facts" },
    ...newestFirst.map(({ txid, round, bytes }) =>
      h(
        "div",
        {},
        h("dt", {}, `Round ${round}`),
        h("dd", {}, idValue(txid)),
        h(
          "dd",
          { class: "beside" },
          button("Show", () => open(bytes), { "aria-label": `Show the attestation of ${txid}` }),
        ),
      ),
    ),
  );
}

function commandLine(txid: string): HTMLElement {
  return h(
    "pre",
    {},
    `npx attestd attest ${printable(txid)} --service ${location.origin} --wallet wallet.json --keys keys.json`,
  );
}

export type Review = {
  quote: Quote;
  wallets: readonly FoundWallet[];
  /** The chosen one. */
  provider?: Provider;
  account?: string;
  /** micro-USDC of the account. */
  balance?: bigint;
  /** What the wallet has to do first. */
  needs?: "switch" | "add";
  trouble?: string;
  nowMs: number;
  host: string;
};

export type ReviewActions = {
  connect(provider: Provider): void;
  switchToBase(): void;
  addBase(): void;
  sign(pressed: HTMLButtonElement): void;
  cancel(): void;
};

/** Amount, payee and expiry of the payment, before any wallet opens. */
export function reviewView(review: Review, actions: ReviewActions): Node[] {
  const { quote, balance, host, nowMs } = review;
  const { offer, txid } = quote;
  const amount = formatUsdc(BigInt(offer.amount));
  const until = clockTime(nowMs + offer.maxTimeoutSeconds * 1000);
  const [before, after] = BUY.signs(amount, "\u0000").split("\u0000");
  const token = tokenDomain(offer).name;
  const rows: [string, ...(Node | string)[]][] = [
    ["You pay", `${amount} USDC on Base. No network fee.`],
    ["To", idValue(offer.payTo), ` (${host})`],
    ["You get", "one attestation of ", idValue(txid)],
    ["You sign", before ?? "", h("span", { id: "until" }, until), after ?? ""],
    ["Token", `${printable(token)}, `, idValue(offer.asset)],
    ...(balance === undefined ? [] : [["You have", `${formatUsdcAmount(balance)} USDC`] as [string, string]]),
  ];
  const trouble = troubleOf(review, amount);
  return [
    heading(BUY.reviewTitle, "", trouble === undefined ? undefined : "trouble"),
    ...(trouble === undefined ? [] : [notice(trouble)]),
    h(
      "dl",
      { class: "facts block" },
      ...rows.map(([label, ...value]) => h("div", {}, h("dt", {}, label), h("dd", {}, ...value))),
    ),
    h("p", { class: "block" }, BUY.notCharged),
    ...reviewControls(review, amount, actions),
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

function reviewControls(review: Review, amount: string, actions: ReviewActions): Node[] {
  const { wallets, account, needs, balance, quote } = review;
  const cancel = button("Cancel", actions.cancel);
  const row = (...buttons: Node[]) => h("div", { class: "actions" }, ...buttons, cancel);
  if (wallets.length === 0) return [h("p", { class: "notice" }, BUY.noWallet), commandLine(quote.txid), row()];
  if (needs === "add") return [row(button("Add Base to the wallet", actions.addBase, { class: "primary" }))];
  if (account === undefined) {
    const label = (name: string) => (wallets.length === 1 ? "Connect wallet" : `Connect ${printable(name)}`);
    return [
      row(
        ...wallets.map(({ name, provider }) =>
          button(label(name), () => actions.connect(provider), { class: "primary" }),
        ),
      ),
    ];
  }
  if (needs === "switch") return [row(button("Switch to Base", actions.switchToBase, { class: "primary" }))];
  if (isTooLittle(balance, quote)) return [row()];
  return [row(button(`Sign and pay ${amount} USDC`, actions.sign, { class: "primary" }))];
}

export type Working = { txid: string; steps: readonly Step[]; startedAt: number; note?: string };

/** A purchase in progress. It has no buttons, because it continues by itself, also after a reload. */
export function workingView({ txid, steps, startedAt, note }: Working): Node[] {
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
    ...(note === undefined ? [] : [h("p", { class: "notice" }, note)]),
    h("p", { class: "block" }, "One attestation of ", idValue(txid)),
    stepList(steps),
    elapsed,
  ];
}

function stepList(steps: readonly Step[]): HTMLElement {
  const icons = { done: "✓", failed: "✕", now: "›", todo: "·" };
  const words = { done: "done", failed: "not verified", now: "under way", todo: "" };
  return h(
    "ol",
    { class: "steps" },
    ...steps.map(({ label, id, state }) =>
      h(
        "li",
        { "data-step": state, "aria-current": state === "now" ? "step" : undefined },
        icon(icons[state]),
        h("span", {}, printable(label)),
        h("span", { class: "hint" }, words[state]),
        id !== undefined && idValue(id),
      ),
    ),
  );
}

export type Done = { saved: SavedBundle; verified: boolean; transaction?: string };

export function doneView(
  { saved, verified, transaction }: Done,
  actions: { open(bytes: Uint8Array): void; again(): void },
): Node[] {
  const facts = { round: saved.round, verified, ...(transaction !== undefined && { transaction }) };
  return [
    h(
      "section",
      { class: "verdict", "data-tone": verified ? "passed" : "failed" },
      heading(verified ? BUY.doneTitle : BUY.notVerifiedTitle, verified ? "✓" : "✕"),
      stepList(purchaseSteps(undefined, facts)),
      h(
        "div",
        { class: "actions" },
        button("Show the attestation", () => actions.open(saved.bytes), { class: "primary" }),
        button("Buy another", actions.again),
      ),
    ),
  ];
}

export type Stopped = { title: string; why: string; isKept: boolean };

/** A purchase that stopped. If its payment is stored, the only way on is to send it again. */
export function stoppedView(
  { title, why, isKept }: Stopped,
  actions: { again(pressed: HTMLButtonElement): void; startOver(): void },
): Node[] {
  return [
    h(
      "section",
      { class: "verdict", "data-tone": "caution" },
      heading(title, "⚠"),
      h("p", {}, printable(why)),
      h(
        "div",
        { class: "actions" },
        button(isKept ? "Ask again" : "See the price again", actions.again, { class: "primary" }),
        button(isKept ? "Another transaction" : "Cancel", actions.startOver),
      ),
    ),
  ];
}
