import { type CheckRow, difference } from "../src/checks.ts";
import type { Field } from "../src/description.ts";
import type { Fact } from "../src/facts.ts";
import { halves, printable } from "../src/printable.ts";
import type { KeyList } from "../src/verdict.ts";
import { RESULTS } from "../src/words.ts";
import { button, download, h } from "./dom.ts";
import { icon } from "./icons.ts";

/** An id in two halves that do not break, with a button that copies the whole of it. */
export function idValue(id: string): HTMLElement {
  const [first, second] = halves(printable(id));
  return h("span", { class: "id" }, h("span", { class: "half" }, first), h("span", { class: "half" }, second));
}

export function copyButton(value: string, what: string): HTMLButtonElement {
  return button(
    "Copy",
    async (pressed) => {
      await navigator.clipboard.writeText(value).then(
        () => {
          pressed.textContent = "Copied";
        },
        () => {
          pressed.textContent = "Can't copy";
        },
      );
    },
    { class: "copy", "aria-label": `Copy ${what.toLowerCase()}` },
  );
}

export function factList(facts: readonly Fact[]): HTMLElement {
  return h("dl", { class: "facts" }, ...facts.map(factRow));
}

function factRow({ label, text, id, link }: Fact): HTMLElement {
  const see = link && h("a", { href: link.url, target: "_blank", rel: "noopener noreferrer" }, `See on ${link.text}`);
  return h(
    "div",
    {},
    h("dt", {}, label),
    h("dd", {}, id === undefined ? printable(text ?? "") : idValue(id), see && h("p", {}, see)),
    id !== undefined && h("dd", { class: "beside" }, copyButton(id, label)),
  );
}

export function fieldList(fields: readonly Field[]): HTMLElement {
  return h(
    "dl",
    { class: "facts" },
    ...fields.map(({ label, value }) =>
      h("div", {}, h("dt", {}, printable(label)), h("dd", { class: "id" }, printable(value))),
    ),
  );
}

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
            h("dd", { class: "id" }, ...marked(stated, computed)),
            h("dt", {}, "Computed"),
            h("dd", { class: "id" }, ...marked(computed, stated)),
          ),
        ),
      ),
    ),
  );
}

/** A value with what differs in it marked. */
function marked(value: string, other: string): (Node | string)[] {
  const { start, fromEnd } = difference(value, other);
  const end = value.length - fromEnd;
  return [
    printable(value.slice(0, start)),
    h("mark", {}, printable(value.slice(start, end))),
    printable(value.slice(end)),
  ];
}

export function disclosure(summary: string, ...children: (Node | string)[]): HTMLElement {
  return h("details", {}, h("summary", {}, summary), ...children);
}

/** Saves the keys that a file was judged by, as `--keys` takes them; without a network, too. */
export function saveKeysButton({ history }: KeyList): HTMLButtonElement {
  return button("Save the key list", () => download("keys.json", "application/json", JSON.stringify(history)));
}

/** The page's one heading. It can be focused, so that a result is read out from its beginning. */
export function heading(text: string, sign = ""): HTMLElement {
  return h("h1", { tabindex: "-1" }, sign !== "" && icon(sign), h("span", {}, text));
}
