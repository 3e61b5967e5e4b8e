import { verify } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { fromUtf8, utf8 } from "@attestd/proof/encoding";
import { makeCertificate, makingOf, pointerUrl } from "@attestd/web";
import type { BrowserContext, Page, Route } from "playwright-core";
import type { Hex } from "viem";
import { usdcTransfer } from "../../packages/web/example.ts";
import {
  testBaseBlock,
  testBlockBundle,
  testBundle,
  testHistory,
  testInclusionBundle,
  testReceipt,
} from "../bundles/bundles.ts";
import { post } from "../e2e/deployment.ts";
import { injectAlgorandWallet } from "./algorand-browser-wallet.ts";
import { choose, drop, openPage, setClockAhead } from "./browser.ts";
import { injectWallet } from "./browser-wallet.ts";
import {
  attestor,
  bundle,
  checkFile,
  current,
  file,
  ROUND,
  retired,
  revoked,
  type Site,
  stranger,
  successor,
  tampered,
} from "./site.ts";

/** A state of the page; it lasts until the walk is continued. */
export type Stop = { state: string; page: Page };

/** Walks that reach every state of the page as a reader would, each on one page. */
export const WALKS: Readonly<Record<string, (site: Site) => AsyncGenerator<Stop>>> = {
  "checking a file": checking,
  "a purchase": purchase,
  "a browser without a wallet": noWallet,
  "the service": service,
};

async function* checking({ newContext, deployment }: Site): AsyncGenerator<Stop> {
  const context = await newContext();
  let served: object | Promise<object> = {};
  await context.route("**/.well-known/attestor-keys.json", async (route) => {
    await route.fulfill({ json: await served }).catch(() => undefined);
  });
  const page = await openPage(context, `${deployment.url}/#keys`);
  const at = (state: string): Stop => ({ state, page });
  const checked = async (value: object, state: string) => {
    await checkFile(page, file(value));
    return at(state);
  };
  const certified = async (state: string, from = "", to = "") => {
    await checkFile(page, { name: "certificate.svg", contents: certificate().replaceAll(from, to) });
    return at(state);
  };
  const goTo = async (fragment: string) => {
    await page.goto(`${deployment.url}/${fragment}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
  };
  await page.getByRole("heading", { level: 1 }).waitFor();
  yield at("no key list");

  const list = Promise.withResolvers<object>();
  served = list.promise;
  await goTo("");
  await page.reload();
  await page.waitForSelector("#ready", { state: "attached" });
  yield at("empty");
  // The key list never arrives, and without it nothing is judged.
  await choose(page, file(bundle));
  await page.getByRole("heading", { name: "Reading…" }).waitFor();
  yield at("reading");
  list.resolve(current);
  await page.waitForSelector("[data-state]");
  yield at("verified");
  yield await checked(testBlockBundle({ round: ROUND }), "verified, a block");
  yield await checked(testInclusionBundle({ block: testBaseBlock(3), round: ROUND }), "verified, an inclusion");
  const included = testBundle({ chain: "base", txnBytes: usdcTransfer(), round: ROUND, level: "included" });
  yield await checked(included, "verified, with a warning");
  const failed = testBundle({ chain: "base", txnBytes: usdcTransfer(), round: ROUND, statement: { s: 0 } });
  yield await checked(failed, "verified, a transfer that failed");
  yield await checked(testBundle({ attestor: stranger }), "signer unknown");
  await drop(page, file(testHistory([{ attestor: stranger, fromRound: 1 }])));
  await page.getByText("contradicts attestd.example's own").waitFor();
  yield at("verified, by a key list that another contradicts");
  await goTo("#keys");
  yield at("keys, of which others are known");
  // The list is in use once the earlier bundle has been judged by it again.
  await drop(page, file(current));
  await page.waitForSelector("[data-state=unknown]");
  yield await checked(tampered, "failed");
  yield await certified("verified, a certificate");
  yield await certified("failed, a certificate with other words", "25.00 USDC", "95.00 USDC");
  yield await certified("a certificate that can't be compared", "layout&quot;:2", "layout&quot;:3");
  yield await checked({ ...bundle, extra: 1 }, "failed, of another form");
  yield await checked({ ...current, keys: [] }, "a key list that can't be read");
  yield await checked({ hello: "world" }, "unreadable");

  await drop(page, ...[bundle, included, tampered, testBundle({ attestor: stranger }), {}].map((one) => file(one)));
  await page.waitForSelector("[data-state=table]");
  yield at("many files");
  await drop(page, file(testHistory([{ attestor: stranger, fromRound: 1 }])));
  await page.getByText("contradicts attestd.example's own").waitFor();
  yield at("many files, by a forged key list");
  await page.getByRole("button", { name: "bundle.json" }).first().click();
  await page.getByRole("button", { name: "Back to the 5 files" }).waitFor();
  yield at("one of many files");
  await drop(page, file(current));
  await press(page, "Check another");
  yield await checked({ format: "jws", signature: testReceipt(attestor) }, "a receipt");
  yield await checked({ format: "jws", signature: testReceipt(stranger) }, "a receipt, signer unknown");
  await press(page, "Check another");
  await press(page, "Example");
  await page.waitForSelector("[data-state]");
  yield at("example");
  await goTo(new URL(pointerUrl(deployment.url, bundle)).hash);
  await page.getByText("This certificate names one attestation").waitFor();
  yield at("asked for what a certificate names");
  await checkFile(page, file(bundle));
  await page.route("**/verify?chain=1", (route) => route.fulfill({ status: 503, json: { detail: "Busy." } }));
  await press(page, "Check on the ledger");
  await page.getByText("Couldn't ask the ledger").waitFor();
  yield at("the ledger was not asked");
  await context.setOffline(true);
  await page.locator("#offline").waitFor();
  yield at("offline");
  await context.setOffline(false);
  const checks = { chainSource: "pass", chainAttest: "pass" };
  const found = { checks, failures: [], recordedAt: "2026-03-04T05:06:07.000Z" };
  await page.route("**/verify?chain=1", (route) => route.fulfill({ json: found }));
  await press(page, "Try again");
  await page.waitForSelector("[data-state=verified_found]");
  yield at("verified, and found on the ledger");
  await checkFile(page, file(included));
  await press(page, "Check on the ledger");
  await page.waitForSelector("[data-state=warning_found]");
  yield at("found on the ledger, with a warning");
  await checkFile(page, file(bundle));

  await drop(page, file(revoked));
  await page.waitForSelector("[data-state=revoked]");
  yield at("revoked");
  await drop(page, file(retired));
  await page.waitForSelector("[data-state=verified]");
  yield at("verified, by a retired key");
  await goTo("#keys");
  yield at("keys");
  served = testHistory([{ attestor: successor, fromRound: 1 }]);
  await page.reload();
  await page.getByText("The key list served now contradicts an earlier one").waitFor();
  await page.getByRole("heading", { level: 1 }).waitFor();
  yield at("a key list that is rejected");
}

/** A browser without a wallet, in which the purchase is left to the command or to a site. */
async function* noWallet({ open, deployment }: Site): AsyncGenerator<Stop> {
  const page = await open(undefined, "#buy");
  await page.getByLabel("Transaction").fill(deployment.sandbox.sampleTransactions.base as string);
  await press(page, "See the price");
  await page.getByText("No wallet was found").waitFor();
  yield { state: "no wallet", page };
}

/** The views of the service itself. */
async function* service({ newContext, deployment }: Site): AsyncGenerator<Stop> {
  const context = await newContext();
  const status = (await (await fetch(`${deployment.url}/status`)).json()) as { networks: { network: string }[] };
  let served: object | undefined = status;
  const asksJson = (route: Route) => route.request().headers().accept === "application/json";
  await context.route("**/status", (route) => {
    if (!asksJson(route)) return route.continue();
    return served ? route.fulfill({ json: served }) : route.abort("connectionrefused");
  });
  const page = await openPage(context, `${deployment.url}/status`);
  const at = (state: string): Stop => ({ state, page });
  const heading = (name: string) => page.getByRole("heading", { name, exact: true }).waitFor();
  await heading("Selling");
  yield at("selling");
  const obstacle = "its facilitator does not answer";
  const [first = { network: "" }, ...others] = status.networks;
  served = {
    ...status,
    reasons: [`nothing is sold on ${first.network}: ${obstacle}`],
    networks: [{ ...first, obstacle }, ...others],
  };
  await press(page, "Ask again");
  await heading("Selling, with trouble");
  yield at("selling, with trouble");
  served = {
    ...status,
    status: "fail",
    reasons: ["algorand-mainnet is not reachable."],
    contact: "mailto:a@attestd.example",
  };
  await press(page, "Ask again");
  await heading("Nothing is sold now");
  yield at("nothing is sold");
  served = undefined;
  await press(page, "Ask again");
  await heading("Not reachable");
  yield at("the service is not reachable");
  for (const [path, name] of [
    ["/problems", "Problems"],
    ["/problems/source_not_final", "The source is not final yet"],
    ["/problems/no_such_code", "No such problem"],
  ] as const) {
    await page.goto(`${deployment.url}${path}`);
    await heading(name);
    yield at(name);
  }
}

async function* purchase(site: Site): AsyncGenerator<Stop> {
  const { deployment } = site;
  const { algorand, base: txid = "" } = deployment.sandbox.sampleTransactions;
  const { context, wallet } = await walletOf(site);
  const extension = await injectAlgorandWallet(context, deployment.sandbox);
  const ledgers = extension.ledgers.splice(0);
  const page = await openPage(context, `${deployment.url}/#buy`);
  const at = (state: string): Stop => ({ state, page });
  const heading = (name: string) => page.getByRole("heading", { name }).waitFor();
  const askPrice = async (id: string) => {
    await page.getByLabel("Transaction").fill(id);
    await press(page, "See the price");
  };
  await heading("Buy an attestation");
  yield at("asked what to buy");
  await askPrice("0x12");
  await page.getByText("That is not a transaction id").waitFor();
  yield at("no transaction id");
  await press(page, "A list instead");
  await heading("Buy many attestations");
  yield at("asked for a list");
  const list = `${txid}\n0x${"c4".repeat(32)}`;
  const askPriceOfList = async (text: string) => {
    await page.getByLabel("Transactions").fill(text);
    await press(page, "See the price");
  };
  await askPriceOfList(`${list}\nhello`);
  await page.getByText("That list can't be attested").waitFor();
  yield at("a list with a fault");
  await askPriceOfList(list);
  await heading("Review");
  yield at("review of a list");
  await press(page, "Cancel");
  await page.route("**/attest", (route) => route.abort("connectionrefused"), { times: 1 });
  await askPrice(txid);
  await page.getByText("The service can't be reached now.").waitFor();
  yield at("the service is stopped");
  await page.evaluate("delete globalThis.ethereum");
  await announceWallets(page, ["Wallet One", "Wallet Two"]);
  await askPrice(txid);
  await heading("Pay with");
  yield at("asked which wallet");
  await press(page, "Cancel");
  await askPrice(algorand);
  await press(page, "Kibisis on Algorand");
  await page.getByText("This wallet doesn't know the ledger").waitFor();
  yield at("review, of a wallet for another ledger");

  extension.ledgers.push(...ledgers);
  await page.reload();
  await askPrice(algorand);
  await press(page, "Kibisis on Algorand");
  await page.getByRole("button", { name: "Connect Kibisis" }).waitFor();
  yield at("review on Algorand, not connected");
  await press(page, "Connect Kibisis");
  await page.getByRole("button", { name: "Sign and pay" }).waitFor();
  yield at("review on Algorand");
  await press(page, "Cancel");
  await page.route("**/networks/*/balances/*", (route) => route.fulfill({ json: { usdc: null } }), { times: 1 });
  await askPrice(algorand);
  await press(page, "Kibisis on Algorand");
  await page.getByText("This account has not opted in to USDC").waitFor();
  yield at("review on Algorand, without USDC");

  wallet.chainId = 1;
  wallet.chains.delete(8453);
  await page.reload();
  await askPrice(txid);
  await heading("Review");
  yield at("review, not connected");
  await press(page, "Connect wallet");
  await page.getByRole("button", { name: "Switch to Base" }).waitFor();
  yield at("review, on another network");
  await press(page, "Switch to Base");
  await page.getByRole("button", { name: "Add Base" }).waitFor();
  yield at("review, without Base");
  await press(page, "Add Base");
  wallet.declines = true;
  await press(page, "Sign and pay");
  await page.getByText("You declined.").waitFor();
  yield at("declined");
  await press(page, "Cancel");
  wallet.balance = 400n;
  await askPrice(txid);
  await page.getByText("You have 0.0004 USDC").waitFor();
  yield at("too little");
  await press(page, "Cancel");
  wallet.balance = undefined;
  await askPrice(txid);
  await page.getByRole("button", { name: "Sign and pay" }).waitFor();
  yield at("review");

  const [decided, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  wallet.onSign = () => decided.promise;
  const pending = { code: "attestation_pending", retry: { sameHeader: true } };
  let answer = async (route: Route) => route.fulfill({ status: 503, headers: { "retry-after": "0" }, json: pending });
  await onPayment(context, (route) => answer(route));
  await press(page, "Sign and pay");
  await page.getByRole("button", { name: "Waiting for wallet" }).waitFor();
  yield at("waiting for the wallet");
  decided.resolve();
  await page.getByText("Still working. Don't pay again.").first().waitFor();
  yield at("working");
  answer = (route) => held.promise.then(() => route.continue());
  await page.reload();
  await page.getByText("Continuing your paid call.").first().waitFor();
  yield at("continuing");
  held.resolve();
  await heading("Bought and saved");
  yield at("bought");

  const refusal = { code: "source_not_found", detail: "No such transaction." };
  answer = (route) => route.fulfill({ status: 404, json: refusal });
  await press(page, "Buy another");
  await heading("Saved on this device");
  yield at("asked what to buy, with what is saved");
  await askPrice(txid);
  await press(page, "Sign and pay");
  await heading("Not attested");
  yield at("refused");
  answer = (route) => route.fulfill({ status: 409, json: { code: "transaction_failed" } });
  await press(page, "Ask again");
  await heading("It failed on its chain");
  yield at("refused, because the transaction failed");
  const unpaid = await post(`${deployment.url}/attest`, { txid });
  const required = unpaid.headers.get("payment-required") as string;
  answer = (route) => route.fulfill({ status: 402, headers: { "payment-required": required }, body: unpaid.text });
  await press(page, "Attest that it failed");
  await heading("Not paid");
  yield at("not paid, while the payment can be taken");
  await setClockAhead(page, 1000);
  await press(page, "Ask again");
  await page.getByRole("button", { name: "See the price again" }).waitFor();
  yield at("not paid");
  answer = (route) => route.fulfill({ json: { version: 1 } });
  await press(page, "See the price again");
  await press(page, "Sign and pay");
  await heading("Paid, not finished");
  yield at("not finished");
  // With another signer's key list the page cannot verify what this service sells.
  await context.route("**/.well-known/attestor-keys.json", (route) => route.fulfill({ json: current }));
  answer = (route) => route.continue();
  await page.reload();
  await heading("Bought, but not verified");
  yield at("bought, not verified");
}

const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

/** The certificate of `bundle` that the page would save. */
export function certificate(): string {
  const report = verify(bundle, { trust: current });
  const keys = { history: current, basis: { basis: "origin", name: "attestd.example", since: Date.now() } } as const;
  const making = makingOf({ report, bundle, subject: subjectOf(bundle), keys }, new Date(), "a4");
  return fromUtf8(makeCertificate("svg", utf8(JSON.stringify(bundle)), current, making).bytes);
}

/** A new context with a browser wallet whose key has USDC. @param announcedAs as of `injectWallet` */
export async function walletOf({ newContext, deployment }: Site, announcedAs?: string) {
  const context = await newContext();
  const { payers, baseRpcUrl } = deployment.sandbox;
  const wallet = await injectWallet(context, payers.base?.privateKey as Hex, baseRpcUrl as string, announcedAs);
  return { context, wallet };
}

/** Answers every paid request instead of the service. */
export async function onPayment(context: BrowserContext, answer: (route: Route) => Promise<void>): Promise<void> {
  await context.route("**/attest", (route) =>
    route.request().headers()["payment-signature"] === undefined
      ? route.continue()
      : answer(route).catch(() => undefined),
  );
}

/** Adds wallets to a page which announce themselves (EIP-6963) and have no account. */
async function announceWallets(page: Page, names: readonly string[]): Promise<void> {
  await page.evaluate(`addEventListener("eip6963:requestProvider", () => {
    for (const name of ${JSON.stringify(names)}) {
      const detail = { info: { name }, provider: { request: async () => [] } };
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    }
  })`);
}
