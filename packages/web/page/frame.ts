import { isSandbox, type ServiceStatus } from "../src/service-status.ts";
import { fetchJson } from "./site.ts";
import type { Storage } from "./storage.ts";

/* What every document of the page has around its view. */

/** Marks the view in the navigation. @param view its link */
export function markView(view: string): void {
  for (const link of document.querySelectorAll("nav a"))
    link.ariaCurrent = link.getAttribute("href") === view ? "page" : null;
}

/** Shows whether the browser is offline, now and later. */
export function showConnection(): void {
  const offline = document.getElementById("offline") as HTMLElement;
  const show = () => {
    offline.hidden = navigator.onLine;
  };
  addEventListener("online", show);
  addEventListener("offline", show);
  show();
}

/**
 * Fetches what the service says of itself, and shows at once whether it is a sandbox. Offline it is what was stored at an
 * earlier visit; undefined when there was none.
 */
export async function servedStatus(storage: Storage | undefined): Promise<ServiceStatus | undefined> {
  const fetched = await fetchStatus();
  if (fetched) await storage?.update<ServiceStatus>("keys", "status", () => fetched).catch(() => undefined);
  const status = fetched ?? (await storage?.get<ServiceStatus>("keys", "status").catch(() => undefined));
  const banner = document.getElementById("sandbox") as HTMLElement;
  banner.hidden = status?.sandbox !== true && !isSandbox(status?.ledger.network);
  return status;
}

/** @returns undefined when the service cannot be asked */
export function fetchStatus(): Promise<ServiceStatus | undefined> {
  return fetchJson("/status", { headers: { accept: "application/json" }, cache: "no-cache" });
}
