import type { ProofBundle } from "@attestd/proof/bundle";
import type { KeyHistory } from "@attestd/proof/trust";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import { usdcTransfer } from "../../packages/web/example.ts";
import { testAttestor, testBundle, testHistory } from "../bundles/bundles.ts";
import { algorandClient, pay, sign, startWorld, type World } from "../e2e/world.ts";
import { drop, freshPage, type GivenFile, openPage } from "./browser.ts";

export const attestor = testAttestor();
export const successor = testAttestor("next");
export const stranger = testAttestor("stranger");
export const ROUND = 46_581_204;
export const bundle = testBundle({ chain: "base", txnBytes: usdcTransfer(), round: ROUND, level: "safe" });
const fingerprint = bundle.source.hashSha256;
export const tampered: ProofBundle = {
  ...bundle,
  source: { ...bundle.source, hashSha256: fingerprint.replace(/.$/, fingerprint.endsWith("0") ? "1" : "0") },
};
export const current = testHistory();
export const retired = testHistory([
  { attestor, fromRound: 1 },
  { attestor: successor, fromRound: ROUND + 1000 },
]);
export const revoked = testHistory([{ attestor, fromRound: 1, revokedRound: ROUND + 1000 }]);

export const file = (value: unknown, name = "bundle.json"): GivenFile => ({ name, contents: JSON.stringify(value) });

/** Visitors of a page that a service serves, on a sandbox of its own. */
export type Visits = AsyncDisposable & {
  world: World;
  /** A visitor without a past. @param history served in the place of the service's own */
  visitor(history?: KeyHistory, options?: { serviceWorkers?: "allow" | "block" }): Promise<BrowserContext>;
  /** The page as such a visitor opens it. @param fragment of the URL */
  visit(history?: KeyHistory, fragment?: string): Promise<Page>;
  /** What the page says of a file, on a page that others use as well: for looking at, not for changing. */
  judged(given: GivenFile, history?: KeyHistory): Promise<Page>;
  /** Of the world's own service. */
  buy(): Promise<ProofBundle>;
  /** What the page did not mean to happen: uncaught errors, and what its content security policy forbids. */
  faults: readonly string[];
};

/** @throws AssertionError when the page had a fault meanwhile */
export async function endVisits(visits?: Visits): Promise<void> {
  await visits?.[Symbol.asyncDispose]();
  expect(visits?.faults).toEqual([]);
}

export async function startVisits(browser: Browser): Promise<Visits> {
  const world = await startWorld({ networks: ["base"] }, {}, { page: await freshPage() });
  const contexts: BrowserContext[] = [];
  const readers = new Map<KeyHistory, Promise<Page>>();
  const faults: string[] = [];
  const visits: Visits = {
    world,
    faults,
    async visitor(history, options) {
      const context = await browser.newContext({ serviceWorkers: "block", ...options });
      contexts.push(context);
      context.on("weberror", (error) => faults.push(String(error.error())));
      context.on("console", (message) => {
        if (message.text().includes("Content Security Policy")) faults.push(message.text());
      });
      if (history)
        await context.route("**/.well-known/attestor-keys.json", (route) => route.fulfill({ json: history }));
      return context;
    },
    async visit(history, fragment = "") {
      return openPage(await visits.visitor(history), `${world.url}/${fragment}`);
    },
    async judged(given, history = current) {
      const opening = readers.get(history) ?? visits.visit(history);
      readers.set(history, opening);
      const page = await opening;
      await judge(page, given);
      return page;
    },
    async buy() {
      const [url, body] = [`${world.url}/attest`, { txid: world.sandbox.sampleTransactions.algorand }];
      return JSON.parse((await pay(url, body, await sign(url, body, algorandClient(world.sandbox)))).text);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(contexts.map((context) => context.close()));
      await world.close();
    },
  };
  return visits;
}

/** Drops a file on a page, and waits for what it says of it. */
export async function judge(page: Page, given: GivenFile): Promise<void> {
  await page.evaluate("document.querySelector('main').replaceChildren()");
  await drop(page, given);
  await page.waitForSelector("[data-state]");
}
