import type { StoredPayment } from "@attestd/client";
import { parsePointer } from "../src/pointer.ts";
import { present } from "../src/present.ts";
import { printable } from "../src/printable.ts";
import type { BuyPage } from "./buy/buy-page.ts";
import { h } from "./dom.ts";
import { markView, servedStatus, showConnection } from "./frame.ts";
import { chosen, dropped, type GivenFiles, unnamed } from "./given-files.ts";
import { startJudging } from "./judging.ts";
import { servedKeys } from "./key-list.ts";
import { openKeysPage } from "./keys-page.ts";
import { openProblemsPage } from "./problems-page.ts";
import type { Site } from "./site.ts";
import { openStatusPage } from "./status-page.ts";
import { openStorage } from "./storage.ts";
import { createVerifyPage } from "./verify-page.ts";

/** Replaced at build time by the worker's URL. */
declare const JUDGE_WORKER_URL: string;

const main = document.getElementById("main") as HTMLElement;
const header = document.querySelector("header") as HTMLElement;
const status = document.getElementById("status") as HTMLElement;

const storage = await openStorage().catch(() => undefined);
const judging = startJudging(JUDGE_WORKER_URL);
const keys: Site["keys"] = { served: undefined, current: undefined };
const site: Site = {
  judging,
  storage,
  keys,
  evidence: new Map(),
  stake: [],
  status: servedStatus(storage),
  keysReady: servedKeys(judging, storage).then(({ keys: served, contradiction }) => {
    keys.served = served;
    keys.current ??= served;
    if (contradiction === undefined) return;
    const sentence = `The key list served now contradicts an earlier one (${printable(contradiction)}). This page still uses the earlier one.`;
    header.append(h("p", { class: "banner", "data-tone": "caution" }, sentence));
  }),
  show(view, focus) {
    // The focus must not be lost: a reader who was in the old view is moved to the new one.
    const wasInside = main.contains(document.activeElement);
    main.replaceChildren(...present<Node | string>(view));
    const heading = main.querySelector("h1");
    document.title = `${heading?.textContent} · attestd`;
    if (focus || wasInside) heading?.focus();
  },
  announce(progress) {
    status.textContent = progress;
  },
  take(given) {
    void takeAll(given);
  },
};
const verifyPage = createVerifyPage(site);

let buying: Promise<BuyPage> | undefined;
/** Loaded on demand: checking does not need it. */
function buyPage(): Promise<BuyPage> {
  buying ??= import("./buy/buy-page.ts").then(({ createBuyPage }) => createBuyPage(site));
  return buying;
}

/** @param focus whether the reader came from another view, so that the focus moves to this one */
function route(focus: boolean): void {
  const { hash, pathname } = location;
  const pointer = parsePointer(hash);
  status.textContent = "";
  routed = pathname;
  const view = pathname === "/" ? (VIEWS.find((one) => one === `/${hash}`) ?? VERIFY) : pathname;
  markView(view);
  if (pathname === "/status") void openStatusPage(site, focus);
  else if (pathname !== "/") void openProblemsPage(site, focus);
  else if (pointer) void verifyPage.follow(pointer);
  else if (view === "/#buy") void buyPage().then((page) => page.open(focus));
  else if (view === "/#keys") void openKeysPage(site, focus);
  else verifyPage.open(focus);
}

const VERIFY = "/#verify";
const VIEWS = ["/#buy", "/#keys"];
/** The path of the view that is shown. */
let routed = location.pathname;

/** Resolves when the verify view is open. */
let verifyIsOpen: Promise<unknown> = Promise.resolve();

/** Checks files that were dropped or pasted anywhere, in the order in which they came. */
async function takeAll(given: GivenFiles | Promise<GivenFiles>): Promise<void> {
  if (location.pathname !== "/") {
    history.pushState(null, "", VERIFY);
    route(false);
  } else if (location.hash === "#buy" || location.hash === "#keys") {
    verifyIsOpen = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    location.hash = "#verify";
  }
  await verifyIsOpen;
  await verifyPage.take(await given);
}

const over = (isOver: boolean) => document.querySelector(".drop")?.classList.toggle("over", isOver);
addEventListener("dragover", (event) => {
  event.preventDefault();
  over(true);
});
addEventListener("dragleave", () => over(false));
addEventListener("drop", (event) => {
  event.preventDefault();
  over(false);
  if (event.dataTransfer) void takeAll(dropped(event.dataTransfer));
});
addEventListener("paste", (event) => {
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
  const { files, leftOut } = chosen(event.clipboardData?.files ?? []);
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (files.length > 0) void takeAll({ files, leftOut });
  else if (text !== "") void takeAll(unnamed(text));
});

showConnection();

// Opens all details while printing: paper cannot be unfolded.
let opened: HTMLDetailsElement[] = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});

addEventListener("hashchange", () => route(true));
addEventListener("popstate", () => {
  if (location.pathname !== routed) route(true);
});
const kept = (await storage?.all<StoredPayment>("payments").catch(() => [])) ?? [];
if (kept.length > 0) {
  void (await buyPage()).resume(kept);
  if (location.pathname !== "/" || location.hash === "#buy") route(false);
  else location.hash = "#buy";
} else route(false);
// Keeps a copy of the page for offline use. Best effort: without it the page works until it is closed.
void navigator.serviceWorker?.register("/sw.js").catch(() => undefined);
// Signals to tests that the page is ready.
document.documentElement.append(h("template", { id: "ready" }));
