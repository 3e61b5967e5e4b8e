import { present } from "../src/present.ts";

/** A child of an element; `false` and undefined are none, so that a condition can stand in a list of children. */
export type Child = Node | string | false | undefined;
type Properties = Record<string, string | boolean | undefined | ((event: never) => void)>;

/**
 * Creates an element. Text stays text: nothing here parses markup.
 * @param properties attributes: `true` is an empty one, `false` and undefined none; `on…` are listeners
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...present<Node | string>(children));
  return element;
}

export function button(label: string, onclick: (pressed: HTMLButtonElement) => void, properties: Properties = {}) {
  const element = h("button", { type: "button", ...properties }, label);
  element.addEventListener("click", () => {
    if (element.getAttribute("aria-disabled") !== "true") onclick(element);
  });
  return element;
}

/** A row of buttons. */
export function actions(...buttons: Child[]): HTMLElement {
  return h("div", { class: "actions" }, ...buttons);
}

/** What leads a view: how it stands with what it is about. @param state for styles and tests, where there are several */
export function verdictSection({ tone, state }: { tone: string; state?: string }, ...children: Child[]): HTMLElement {
  return h("section", { class: "verdict", "data-tone": tone, "data-state": state }, ...children);
}

/** Shows a button as busy: it keeps the focus and ignores clicks. */
export function busy(element: HTMLButtonElement, label: string): void {
  element.textContent = label;
  element.setAttribute("aria-disabled", "true");
}

export function download(name: string, type: string, contents: string | Uint8Array<ArrayBuffer>): void {
  const url = URL.createObjectURL(new Blob([contents], { type }));
  h("a", { href: url, download: name }).click();
  // The browser has read the file by then.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
