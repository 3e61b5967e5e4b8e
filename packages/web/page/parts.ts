import { type CheckRow, difference } from "../src/checks.ts";
import type { Fact } from "../src/facts.ts";
import type { Field } from "../src/fields.ts";
import { halves, printable } from "../src/printable.ts";
import type { KeyList } from "../src/trust-basis.ts";
import { RESULTS } from "../src/words.ts";
import { button, download, h } from "./dom.ts";
import { icon } from "./icons.ts";

/** An id that breaks into two equal halves, and these, where not even one of them fits, into two again. */
export function idValue(id: string): HTMLElement {
  const inHalves = (part: string) => halves(part).map((half) => h("span", { class: "half" }, half));
  const whole = inHalves(printable(id));
  for (const half of whole) half.replaceChildren(...inHalves(half.textContent));
  return h("span", { class: "id" }, ...whole);
}

/** What it says of itself is seen and heard; it offers itself again once the reader has turned from it. */
export function copyButton(value: string, what: string): HTMLButtonElement {
  const say = (word: string) => {
    copy.textContent = word;
    copy.setAttribute("aria-label", `${word} ${what.toLowerCase()}`);
  };
  const copy = button(
    "Copy",
    async () => {
      // There is no clipboard where the page was not served over HTTPS.
      const isCopied = await navigator.clipboard?.writeText(value).then(
        () => true,
        () => false,
      );
      say(isCopied ? "Copied" : "Can't copy");
    },
    { class: "copy", onblur: () => say("Copy") },
  );
  say("Copy");
  return copy;
}

export function factList(facts: readonly Fact[]): HTMLElement {
  return h("dl", { class: "facts" }, ...facts.map(factRow));
}

function factRow({ label, text, id, link }: Fact): HTMLElement {
  const elsewhere = { class: "see", target: "_blank", rel: "noopener noreferrer" };
  const see = link && h("a", { ...elsewhere, href: link.url }, `See on ${link.text}`);
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
            h("dd", { class: "id" }, ...markedHalves(stated, computed)),
            h("dt", {}, "Computed"),
            h("dd", { class: "id" }, ...markedHalves(computed, stated)),
          ),
        ),
      ),
    ),
  );
}

/** A value in two halves, as ids are shown, with what differs in it marked. */
function markedHalves(value: string, other: string): HTMLElement[] {
  const { start, fromEnd } = difference(value, other);
  const end = value.length - fromEnd;
  const [first, second] = halves(value);
  return [marked(first, start, end), marked(second, start - first.length, end - first.length)];
}

/** @param start of what is marked; it may begin before this part of a value, or end after it */
function marked(part: string, start: number, end: number): HTMLElement {
  const [from, to] = [start, end].map((place) => Math.min(Math.max(place, 0), part.length));
  const difference = part.slice(from, to);
  return h(
    "span",
    { class: "half" },
    printable(part.slice(0, from)),
    difference !== "" && h("mark", {}, printable(difference)),
    printable(part.slice(to)),
  );
}

export function disclosure(summary: string, ...children: (Node | string)[]): HTMLElement {
  return h("details", {}, h("summary", {}, summary), ...children);
}

/** Saves the keys that a file was judged by, as `--keys` takes them; without a network, too. */
export function saveKeysButton({ history }: KeyList): HTMLButtonElement {
  return button("Save the key list", () => download("keys.json", "application/json", JSON.stringify(history)));
}

/**
 * The page's one heading. It can be focused, so that a result is read out from its beginning.
 * @param describedBy id of what is read out with it
 */
export function heading(text: string, sign = "", describedBy?: string): HTMLElement {
  const properties = { tabindex: "-1", "aria-describedby": describedBy };
  return h("h1", properties, sign !== "" && icon(sign), h("span", {}, text));
}
