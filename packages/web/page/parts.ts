import type { Field } from "@attestd/proof/description";
import { type CheckRow, difference } from "../src/checks.ts";
import type { Fact } from "../src/file-facts.ts";
import { halves, printable } from "../src/printable.ts";
import type { KeyList } from "../src/trust-basis.ts";
import { button, type Child, download, h } from "./dom.ts";
import { chosen, type GivenFiles } from "./given-files.ts";
import { icon } from "./icons.ts";

/** An id that breaks in two equal halves, and each half in two again if it does not fit. */
export function idValue(id: string): HTMLElement {
  const inHalves = (part: string) => halves(part).map((half) => h("span", { class: "half" }, half));
  const whole = inHalves(printable(id));
  for (const half of whole) half.replaceChildren(...inHalves(half.textContent));
  return h("span", { class: "id" }, ...whole);
}

/** A button that copies. Its label shows the result, until it loses the focus. */
function copyButton(value: string, what: string): HTMLButtonElement {
  const label = (word: string) => {
    copy.textContent = word;
    copy.setAttribute("aria-label", `${word} ${what.toLowerCase()}`);
  };
  const copy = button(
    "Copy",
    async () => {
      try {
        // Pages that were not served over HTTPS have no clipboard.
        await navigator.clipboard.writeText(value);
        label("Copied");
      } catch {
        label("Can't copy");
      }
    },
    { class: "copy", onblur: () => label("Copy") },
  );
  label("Copy");
  return copy;
}

/** A labelled value, and a button beside it. */
export type Row = { label: string; value: readonly Child[]; beside?: Child };

export function rowList(rows: readonly Row[], style = "facts"): HTMLElement {
  const row = ({ label, value, beside }: Row) =>
    h("div", {}, h("dt", {}, printable(label)), h("dd", {}, ...value), beside && h("dd", { class: "beside" }, beside));
  return h("dl", { class: style }, ...rows.map(row));
}

export function factList(facts: readonly Fact[]): HTMLElement {
  const elsewhere = { class: "see", target: "_blank", rel: "noopener noreferrer" };
  return rowList(
    facts.map(({ label, text = "", id, link }) => {
      const see = link && h("p", {}, h("a", { ...elsewhere, href: link.url }, `See on ${link.text}`));
      if (id === undefined) return { label, value: [printable(text), see] };
      return { label, value: [idValue(id), see], beside: copyButton(id, label) };
    }),
  );
}

export function fieldList(fields: readonly Field[]): HTMLElement {
  return rowList(fields.map(({ label, value }) => ({ label, value: [h("span", { class: "id" }, printable(value))] })));
}

const RESULTS = {
  pass: { icon: "✓", word: "Passed" },
  fail: { icon: "✕", word: "Failed" },
  not_checked: { icon: "–", word: "Not checked" },
};

export function checkList(rows: readonly CheckRow[]): HTMLElement {
  return h(
    "ol",
    { class: "checks" },
    ...rows.map(({ check, label, result, sentence, differences }) =>
      h(
        "li",
        { "data-check": check, "data-result": result },
        icon(RESULTS[result].icon),
        h("span", { class: "label" }, label),
        h("span", { class: "word" }, RESULTS[result].word),
        h("p", { class: "what" }, printable(sentence)),
        ...differences.map(({ stated, computed }) =>
          h(
            "dl",
            { class: "values" },
            h("dt", {}, "Stated"),
            h("dd", { class: "id" }, ...markedHalves(stated, computed)),
            h("dt", {}, "Computed"),
            h("dd", { class: "id" }, ...markedHalves(computed, stated)),
          ),
        ),
      ),
    ),
  );
}

/** A value in two halves, like an id, with its difference from another marked. */
function markedHalves(value: string, other: string): HTMLElement[] {
  const { start, fromEnd } = difference(value, other);
  const end = value.length - fromEnd;
  const [first, second] = halves(value);
  return [marked(first, start, end), marked(second, start - first.length, end - first.length)];
}

/** @param start of the marked range, which may start before this part of a value and end after it */
function marked(part: string, start: number, end: number): HTMLElement {
  const [from, to] = [start, end].map((index) => Math.min(Math.max(index, 0), part.length));
  const difference = part.slice(from, to);
  return h(
    "span",
    { class: "half" },
    printable(part.slice(0, from)),
    difference !== "" && h("mark", {}, printable(difference)),
    printable(part.slice(to)),
  );
}

/** The operator's contact as a link. @param contact mailto: or https: URI */
export function contactLink(contact: string | undefined): Child {
  if (contact === undefined || !/^(mailto|https):/.test(contact)) return "none is given";
  return h(
    "a",
    { class: "see", href: contact, rel: "noopener noreferrer" },
    printable(contact.replace(/^mailto:/, "")),
  );
}

/** Children that a reader unfolds. */
export function disclosure(summary: string, ...children: Child[]): HTMLElement {
  return h("details", {}, h("summary", {}, summary), ...children);
}

/** A button with the file chooser that it opens. Phones cannot drop, so it stands wherever a file is asked for. */
export function chooseButton(
  label: string,
  take: (given: GivenFiles) => void,
  properties: Record<string, string> = {},
  kind: "multiple" | "webkitdirectory" = "multiple",
): Child[] {
  const input = h("input", { type: "file", hidden: true, tabindex: "-1", "aria-hidden": "true", [kind]: true });
  input.addEventListener("change", () => {
    take(chosen(input.files ?? []));
    // The same file can be chosen again.
    input.value = "";
  });
  return [button(label, () => input.click(), properties), input];
}

/** The same for a whole folder; nothing where the browser cannot choose one. */
export function folderButton(label: string, take: (given: GivenFiles) => void): Child[] {
  return "webkitdirectory" in HTMLInputElement.prototype ? chooseButton(label, take, {}, "webkitdirectory") : [];
}

/** Saves the key list that a file was judged by, in the format of `--keys`; works offline. */
export function saveKeysButton({ history }: KeyList): HTMLButtonElement {
  return button("Save the key list", () => download("keys.json", "application/json", JSON.stringify(history)));
}

/**
 * The page's only heading. It can be focused, so that a screen reader starts there.
 * @param describedBy id of an element that is read out with it
 */
export function heading(text: string, sign = "", describedBy?: string): HTMLElement {
  const properties = { tabindex: "-1", "aria-describedby": describedBy };
  return h("h1", properties, sign !== "" && icon(sign), h("span", {}, text));
}
