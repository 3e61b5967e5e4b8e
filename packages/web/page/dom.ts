type Child = Node | string | number | false | null | undefined;
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
  element.append(...children.filter((child) => child !== false && child !== null && child !== undefined).map(asNode));
  return element;
}

function asNode(child: Exclude<Child, false | null | undefined>): Node | string {
  return typeof child === "number" ? String(child) : child;
}

/** A button. */
export function button(label: string, onclick: (pressed: HTMLButtonElement) => void, properties: Properties = {}) {
  const element = h("button", { type: "button", ...properties }, label);
  element.addEventListener("click", () => {
    if (element.getAttribute("aria-disabled") !== "true") onclick(element);
  });
  return element;
}

/** Shows a button as busy: it keeps the focus and ignores clicks. */
export function busy(element: HTMLButtonElement, label: string): void {
  element.textContent = label;
  element.setAttribute("aria-disabled", "true");
}

/** Downloads a file. */
export function download(name: string, type: string, contents: string | Uint8Array<ArrayBuffer>): void {
  const url = URL.createObjectURL(new Blob([contents], { type }));
  h("a", { href: url, download: name }).click();
  // The browser has read the file by then.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
