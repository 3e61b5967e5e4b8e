import { fileText } from "@attestd/proof/encoding";
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

type Words = { title: string; intro: string; label: string; hint: string };

/**
 * The form that asks the price of what is in its field, under its heading.
 * @param others the buttons beside the one that asks
 */
function askForm(
  field: HTMLInputElement | HTMLTextAreaElement,
  { title, intro, label, hint }: Words,
  trouble: string | undefined,
  quote: Actions["quote"],
  ...others: Child[]
): Child[] {
  const ask = h("button", { type: "submit", class: "primary" }, "See the price");
  const submit = (event: Event) => {
    event.preventDefault();
    if (ask.getAttribute("aria-disabled") !== "true") quote(field.value, ask);
  };
  field.setAttribute("aria-describedby", trouble === undefined ? `${field.id}-hint` : "trouble");
  return [
    heading(title, "", trouble === undefined ? undefined : "trouble"),
    h("p", { class: "block" }, intro),
    h(
      "form",
      { onsubmit: submit },
      h("label", { for: field.id }, label),
      field,
      h("p", { class: "hint", id: `${field.id}-hint` }, hint),
      trouble !== undefined && notice(trouble),
      actions(ask, ...others),
    ),
  ];
}

/** Asks for the transaction to attest. */
export function askView({ text, trouble, saved = [] }: Shown<"ask">, can: Actions): Child[] {
  const invalid = trouble === BUY.notAnId ? "true" : undefined;
  const input = h("input", { type: "text", id: "txid", value: text, ...OF_IDS, "aria-invalid": invalid });
  // A field of one line would join the lines.
  input.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    if (!/\S[\r\n]+\S/.test(pasted)) return;
    event.preventDefault();
    can.ask(true, pasted);
  });
  const words = { title: BUY.title, intro: BUY.intro, label: BUY.field, hint: BUY.fieldHint };
  const list = button(BUY.list, () => can.ask(true), { class: "quiet" });
  return [
    ...askForm(input, words, trouble, can.quote, list),
    saved.length > 0 && h("h2", {}, BUY.savedTitle),
    saved.length > 0 && savedList(saved, can),
  ];
}

/** Asks for a list of transactions. */
export function listView({ text, trouble }: Shown<"ask">, can: Actions): Child[] {
  const invalid = trouble === undefined ? undefined : "true";
  const input = h("textarea", { id: "txids", rows: "8", ...OF_IDS, "aria-invalid": invalid });
  input.value = text;
  const take = async ({ files: [file] }: GivenFiles) => {
    if (file === undefined) return;
    try {
      if (file.blob.size > MAX_LIST_BYTES) throw new RangeError(`it has more than ${MAX_LIST_BYTES} bytes`);
      input.value = fileText(new Uint8Array(await file.blob.arrayBuffer()));
      input.focus();
    } catch (error) {
      can.ask(true, "", BUY.unreadableList((error as Error).message));
    }
  };
  const words = { title: BUY.listTitle, intro: BUY.listIntro, label: BUY.listField, hint: BUY.listHint };
  const choose = chooseButton(BUY.chooseList, (given) => void take(given));
  const single = button(BUY.single, () => can.ask(false), { class: "quiet" });
  return askForm(input, words, trouble, can.quoteList, ...choose, single);
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
