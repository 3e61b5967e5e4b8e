import { BUY } from "../../src/purchase-words.ts";
import { actions, button, type Child, h } from "../dom.ts";
import type { GivenFiles } from "../given-files.ts";
import { chooseButton, heading, idValue, rowList } from "../parts.ts";
import { notice, saveReceipt } from "./parts.ts";
import type { SavedBundle } from "./purchase.ts";
import type { Actions, Shown } from "./state.ts";

/** Of a list's file: 100,000 ids in a table with other columns. */
const MAX_LIST_BYTES = 16 * 2 ** 20;

/** Of a field for ids, which are no words. */
const OF_IDS = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };

/** What asks the price of what is in a field: the button, and the handler of its form. */
function asking(field: { value: string }, quote: Actions["quote"]) {
  const ask = h("button", { type: "submit", class: "primary" }, "See the price");
  const submit = (event: Event) => {
    event.preventDefault();
    if (ask.getAttribute("aria-disabled") !== "true") quote(field.value, ask);
  };
  return { ask, submit };
}

/** Asks for the transaction to attest. */
export function askView({ text, trouble, saved = [] }: Shown<"ask">, can: Actions): Child[] {
  const input = h("input", {
    type: "text",
    id: "txid",
    value: text,
    ...OF_IDS,
    "aria-describedby": trouble === undefined ? "txid-hint" : "trouble",
    "aria-invalid": trouble === BUY.notAnId ? "true" : undefined,
  });
  const { ask, submit } = asking(input, can.quote);
  // A field of one line would join the lines.
  input.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    if (!/\S[\r\n]+\S/.test(pasted)) return;
    event.preventDefault();
    can.ask(true, pasted);
  });
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
      actions(
        ask,
        button(BUY.list, () => can.ask(true), { class: "quiet" }),
      ),
    ),
    saved.length > 0 && h("h2", {}, BUY.savedTitle),
    saved.length > 0 && savedList(saved, can),
  ];
}

/** Asks for a list of transactions. */
export function listView({ text, trouble }: Shown<"ask">, can: Actions): Child[] {
  const input = h("textarea", {
    id: "txids",
    rows: "8",
    ...OF_IDS,
    "aria-describedby": trouble === undefined ? "txids-hint" : "trouble",
    "aria-invalid": trouble === undefined ? undefined : "true",
  });
  input.value = text;
  const { ask, submit } = asking(input, can.quoteList);
  const take = async ({ files: [file] }: GivenFiles) => {
    input.value =
      (await file?.blob
        .slice(0, MAX_LIST_BYTES)
        .text()
        .catch(() => "")) ?? "";
    input.focus();
  };
  return [
    heading(BUY.listTitle, "", trouble === undefined ? undefined : "trouble"),
    h("p", { class: "block" }, BUY.listIntro),
    h(
      "form",
      { onsubmit: submit },
      h("label", { for: "txids" }, BUY.listField),
      input,
      h("p", { class: "hint", id: "txids-hint" }, BUY.listHint),
      trouble !== undefined && notice(trouble),
      actions(
        ask,
        ...chooseButton(BUY.chooseList, (given) => void take(given)),
        button(BUY.single, () => can.ask(false), { class: "quiet" }),
      ),
    ),
  ];
}

function savedList(saved: readonly SavedBundle[], can: Actions): HTMLElement {
  const newestFirst = saved.toSorted((a, b) => b.savedAt - a.savedAt);
  return rowList(
    newestFirst.map((one) => ({
      label: `Round ${one.round}`,
      value: [one.txids.length === 1 ? idValue(one.txids[0] ?? "") : BUY.many(one.txids.length)],
      beside: h(
        "div",
        { class: "pair" },
        button("Show", () => can.open(one.bytes), { "aria-label": `Show the attestation of ${nameOf(one)}` }),
        saveReceipt(one, "Receipt", `Save the receipt of ${nameOf(one)}`),
      ),
    })),
  );
}

function nameOf({ txids, round }: SavedBundle): string {
  return txids.length === 1 ? (txids[0] ?? "") : `${BUY.many(txids.length)} in round ${round}`;
}
