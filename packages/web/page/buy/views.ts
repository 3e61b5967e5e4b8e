import { RAILS } from "@attestd/proof/rails";
import { printable } from "../../src/printable.ts";
import { BUY, purchaseSteps, type Step } from "../../src/purchase-words.ts";
import { actions, button, type Child, h, verdictSection } from "../dom.ts";
import { icon } from "../icons.ts";
import { heading, idValue } from "../parts.ts";
import { askView, listView } from "./ask-views.ts";
import { bought, commandLine, notice, saveAnswer, saveReceipt } from "./parts.ts";
import type { PayingWallet } from "./paying-wallet.ts";
import { reviewView } from "./review.ts";
import type { Actions, Shown, State } from "./state.ts";

export function buyView(state: State, can: Actions): Child[] {
  switch (state.name) {
    case "ask":
      return state.isList ? listView(state, can) : askView(state, can);
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

/** The wallets that could pay. */
function chooseView({ quote, wallets }: Shown<"choose">, can: Actions): Child[] {
  const isBare = wallets.every(({ isSite }) => isSite);
  const label = (wallet: PayingWallet) => `${printable(wallet.name)} on ${RAILS[wallet.rail].label}`;
  const choose = (wallet: PayingWallet) =>
    button(label(wallet), (pressed) => can.choose(quote, wallet, pressed), wallet.isSite ? {} : { class: "primary" });
  const sites = wallets.filter(({ isSite }) => isSite);
  return [
    heading(BUY.chooseTitle, "", isBare ? "trouble" : undefined),
    isBare && notice(BUY.noWallet),
    isBare && commandLine(quote.txids),
    wallets.length > 0 && h("p", { class: "block" }, BUY.chooseHint),
    ...sites.map(({ name }) => h("p", { class: "hint" }, BUY.siteHint(name))),
    actions(...wallets.map(choose), button("Cancel", can.startOver)),
  ];
}

/** A purchase in progress. It has no buttons, because it continues by itself, also after a reload. */
function workingView({ txids, now, startedAt, note }: Shown<"working">): Child[] {
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
    h("p", { class: "block" }, "Buying ", ...bought(txids)),
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
  const shows = saved.txids.length === 1 ? "Show the attestation" : "Show the attestations";
  return [
    verdictSection(
      { tone: verified ? "passed" : "failed" },
      heading(verified ? BUY.doneTitle : BUY.notVerifiedTitle, verified ? "✓" : "✕"),
      stepList(purchaseSteps(undefined, { round: saved.round, verified, transaction })),
      actions(
        button(shows, () => can.open(saved.bytes), { class: "primary" }),
        saved.txids.length > 1 && button("Save the bundles", () => saveAnswer(saved)),
        saveReceipt(saved),
        button("Buy another", can.startOver),
      ),
    ),
  ];
}

/** The most transactions at fault that are named. */
const MAX_NAMED = 20;

/** A purchase that stopped. If its payment is stored, the only way on is to send it again, or not to make its request. */
function stoppedView(stopped: Shown<"stopped">, can: Actions): Child[] {
  const { title, why, txids, kept, isFailed, atFault = [] } = stopped;
  const again = (pressed: HTMLButtonElement) => (kept ? can.carryOn(kept) : can.quoteAgain(txids, pressed));
  const isMany = txids.length > 1;
  const primary =
    kept && isFailed
      ? button(isMany ? BUY.attestFailures : BUY.attestFailure, () => can.attestFailure(kept), { class: "primary" })
      : button(kept ? "Ask again" : "See the price again", again, { class: "primary" });
  const wrong = new Set(atFault.map(({ txid }) => txid));
  const others = txids.filter((txid) => !wrong.has(txid));
  return [
    verdictSection(
      { tone: "caution" },
      heading(title, "⚠"),
      h("p", {}, printable(why)),
      wrong.size > 0 && h("p", {}, `${BUY.itemsAtFault(wrong.size, txids.length)}:`),
      ...atFault
        .slice(0, MAX_NAMED)
        .map(({ txid, code }) => h("p", { class: "hint" }, idValue(txid), ` ${printable(code)}`)),
      wrong.size > MAX_NAMED && h("p", { class: "hint" }, `and ${wrong.size - MAX_NAMED} more`),
      actions(
        primary,
        kept &&
          wrong.size > 0 &&
          others.length > 0 &&
          button(BUY.buyOthers(others.length), (pressed) => can.buyOthers(kept, others, pressed)),
        button(kept ? "Another transaction" : "Cancel", can.startOver),
      ),
    ),
  ];
}
