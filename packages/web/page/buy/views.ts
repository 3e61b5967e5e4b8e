import type { StoredPayment } from "@attestd/client";
import { printable } from "../../src/printable.ts";
import { BUY, purchaseSteps, type Step, type StepName } from "../../src/purchase-words.ts";
import { receiptFile, receiptFileName } from "../../src/receipt-file.ts";
import { actions, button, type Child, download, h } from "../dom.ts";
import { icon } from "../icons.ts";
import { heading, idValue, rowList } from "../parts.ts";
import { bundleFileName } from "../site.ts";
import { commandLine, notice, railLabel } from "./parts.ts";
import type { PayingWallet } from "./paying-wallet.ts";
import type { Quote, SavedBundle } from "./purchase.ts";
import { type Review, type ReviewActions, reviewView } from "./review.ts";

/** The state of the view. */
export type State =
  | { name: "ask"; txid: string; trouble?: string; saved?: readonly SavedBundle[] }
  | { name: "choose"; quote: Quote; wallets: readonly PayingWallet[] }
  | { name: "review"; review: Review }
  | { name: "working"; txid: string; now: StepName; startedAt: number; note: string | undefined }
  | { name: "done"; saved: SavedBundle; verified: boolean; transaction: string | undefined }
  /** `kept` may still be sent: a new payment may be signed only when it is absent. `isFailed`: the transaction. */
  | { name: "stopped"; title: string; why: string; txid: string; kept?: StoredPayment; isFailed?: true };
type Shown<Name> = Extract<State, { name: Name }>;

export type Actions = ReviewActions & {
  quote(txid: string, pressed: HTMLButtonElement): void;
  open(bundle: Uint8Array): void;
  choose(quote: Quote, wallet: PayingWallet, pressed: HTMLButtonElement): void;
  /** Sends a stored payment again. */
  carryOn(kept: StoredPayment): void;
  /** The same, to buy the attestation that the transaction failed. */
  attestFailure(kept: StoredPayment): void;
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
function stoppedView({ title, why, txid, kept, isFailed }: Shown<"stopped">, can: Actions): Child[] {
  const again = (pressed: HTMLButtonElement) => (kept ? can.carryOn(kept) : can.quote(txid, pressed));
  const primary =
    kept && isFailed
      ? button(BUY.attestFailure, () => can.attestFailure(kept), { class: "primary" })
      : button(kept ? "Ask again" : "See the price again", again, { class: "primary" });
  return [
    h(
      "section",
      { class: "verdict", "data-tone": "caution" },
      heading(title, "⚠"),
      h("p", {}, printable(why)),
      actions(primary, button(kept ? "Another transaction" : "Cancel", can.startOver)),
    ),
  ];
}
