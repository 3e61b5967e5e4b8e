import type { KeyHistory, ProofBundle } from "@attestd/proof";
import type { OptionalNetwork } from "@attestd/sandbox";
import { decodePaymentResponseHeader } from "@x402/core/http";
import type { SettleResponse } from "@x402/core/types";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import { usdcTransfer } from "../../packages/web/example.ts";
import { testAttestor, testBundle, testHistory } from "../bundles/bundles.ts";
import { algorandClient, type Deployment, pay, sign, startDeployment } from "../e2e/deployment.ts";
import { drop, freshPage, type GivenFile, openPage } from "./browser.ts";

export const attestor = testAttestor();
export const successor = testAttestor("next");
export const stranger = testAttestor("stranger");
export const ROUND = 61_735_484;
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

/** A service with its own sandbox that serves the page, and browsers that open it. */
export type Site = AsyncDisposable & {
  deployment: Deployment;
  /** A new browser context, with nothing stored. @param history served instead of the service's own */
  newContext(history?: KeyHistory, options?: { serviceWorkers?: "allow" | "block" }): Promise<BrowserContext>;
  /** Opens the page in a new context. @param fragment of the URL */
  open(history?: KeyHistory, fragment?: string): Promise<Page>;
  /** Checks a file on a page that all tests with this history share: a test must leave it as it was. */
  check(given: GivenFile, history?: KeyHistory): Promise<Page>;
  /** Buys an attestation from the site's service. */
  buy(): Promise<ProofBundle>;
  /** The same, with the settlement as a stock client reads it (PAYMENT-RESPONSE). */
  buyWithReceipt(): Promise<{ bought: ProofBundle; settlement: SettleResponse }>;
  /** Uncaught errors of the page, and violations of its content security policy. */
  faults: readonly string[];
};

/** @throws AssertionError when the page had a fault */
export async function closeSite(site?: Site): Promise<void> {
  await site?.[Symbol.asyncDispose]();
  expect(site?.faults).toEqual([]);
}

/** @param networks beside Algorand */
export async function startSite(browser: Browser, networks: OptionalNetwork[] = ["base"]): Promise<Site> {
  // A payment that a busy machine signs late is still valid.
  const settings = { payments: { max_timeout_seconds: 600 } };
  const deployment = await startDeployment({ networks }, settings, { page: await freshPage() });
  const contexts: BrowserContext[] = [];
  const shared = new Map<KeyHistory, Promise<Page>>();
  const faults: string[] = [];
  const site: Site = {
    deployment,
    faults,
    async newContext(history, options) {
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
    async open(history, fragment = "") {
      return openPage(await site.newContext(history), `${deployment.url}/${fragment}`);
    },
    async check(given, history = current) {
      const opening = shared.get(history) ?? site.open(history);
      shared.set(history, opening);
      const page = await opening;
      await checkFile(page, given);
      return page;
    },
    buy: async () => (await site.buyWithReceipt()).bought,
    async buyWithReceipt() {
      const [url, body] = [`${deployment.url}/attest`, { txid: deployment.sandbox.sampleTransactions.algorand }];
      const { text, headers } = await pay(url, body, await sign(url, body, algorandClient(deployment.sandbox)));
      const settlement = decodePaymentResponseHeader(headers.get("payment-response") as string);
      return { bought: JSON.parse(text), settlement };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(contexts.map((context) => context.close()));
      await deployment.close();
    },
  };
  return site;
}

/** Drops a file on a page, and waits for the verdict. */
export async function checkFile(page: Page, given: GivenFile): Promise<void> {
  await page.evaluate("document.querySelector('main').replaceChildren()");
  await drop(page, given);
  await page.waitForSelector("[data-state]");
}
