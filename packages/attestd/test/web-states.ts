import { testBaseBlock, testBlockBundle, testBundle, testHistory, testInclusionBundle } from "@attestd/proof/testing";
import type { KeyHistory } from "@attestd/proof/trust";
import { pointerUrl } from "@attestd/web";
import type { BrowserContext, Page, Route } from "playwright-core";
import type { Hex } from "viem";
import { usdcTransfer } from "../../web/example.ts";
import { choose, openPage, paste } from "./browser.ts";
import { injectWallet } from "./browser-wallet.ts";
import {
  attestor,
  bundle,
  current,
  file,
  judge,
  ROUND,
  retired,
  revoked,
  stranger,
  successor,
  tampered,
  type Visits,
} from "./web-visits.ts";
import { post } from "./world.ts";

/** A state that the page is in, until the walk goes on. */
export type Stop = { state: string; page: Page };

/** Every state of the page, reached as a reader reaches it. */
export const WALKS: Readonly<Record<string, (visits: Visits) => AsyncGenerator<Stop>>> = {
  "what is said of a file": files,
  "what comes before and after a file": around,
  "a key list": keys,
  "a purchase": purchase,
  "a purchase that does not go well": unluckyPurchase,
};

async function* files({ judged }: Visits): AsyncGenerator<Stop> {
  const included = testBundle({ chain: "base", txnBytes: usdcTransfer(), round: ROUND, level: "included" });
  yield { state: "verified", page: await judged(file(bundle)) };
  yield { state: "verified, a block", page: await judged(file(testBlockBundle({ round: ROUND }))) };
  const inclusion = testInclusionBundle({ block: testBaseBlock(3), round: ROUND });
  yield { state: "verified, an inclusion", page: await judged(file(inclusion)) };
  yield { state: "verified, by a retired key", page: await judged(file(bundle), retired) };
  yield { state: "verified, with a warning", page: await judged(file(included)) };
  yield { state: "signer unknown", page: await judged(file(testBundle({ attestor: stranger }))) };
  yield { state: "revoked", page: await judged(file(bundle), revoked) };
  yield { state: "failed", page: await judged(file(tampered)) };
  yield { state: "failed, of another form", page: await judged(file({ ...bundle, extra: 1 })) };
  yield { state: "unreadable", page: await judged(file({ hello: "world" })) };
}

async function* around({ visitor, visit, world }: Visits): AsyncGenerator<Stop> {
  const slow = await visitor();
  // Without the key list nothing can be judged; it does not come.
  await slow.route("**/.well-known/attestor-keys.json", () => undefined);
  const waiting = await openPage(slow, world.url);
  await choose(waiting, file(bundle));
  await waiting.getByRole("heading", { name: "Reading…" }).waitFor();
  yield { state: "reading", page: waiting };

  const fragment = new URL(pointerUrl(world.url, bundle)).hash;
  const named = await visit(current, fragment);
  await named.getByText("This certificate names one attestation").waitFor();
  yield { state: "asked for what a certificate names", page: named };

  const page = await visit(current);
  yield { state: "empty", page };
  await press(page, "Example");
  await page.waitForSelector("[data-state]");
  yield { state: "example", page };
  await judge(page, file(bundle));
  await page.context().route("**/verify?chain=1", (route) => route.fulfill({ status: 503, json: { detail: "Busy." } }));
  await press(page, "Check on the ledger");
  await page.getByText("Couldn't ask the ledger").waitFor();
  yield { state: "the ledger was not asked", page };
  await page.context().setOffline(true);
  await page.locator("#offline").waitFor();
  yield { state: "offline", page };
  await page.context().setOffline(false);
  await page.context().route("**/verify?chain=1", async (route) => {
    const checks = { chainSource: "pass", chainAttest: "pass" };
    await route.fulfill({ json: { checks, failures: [], recordedAt: "2026-03-04T05:06:07.000Z" } });
  });
  await press(page, "Try again");
  await page.getByText("Compared with the ledger by").waitFor();
  yield { state: "compared with the ledger", page };
}

async function* keys({ visitor, visit, world }: Visits): AsyncGenerator<Stop> {
  const context = await visitor();
  let served = testHistory([
    { attestor, fromRound: 1, revokedRound: ROUND },
    { attestor: stranger, fromRound: ROUND + 500 },
    { attestor: successor, fromRound: ROUND + 1000 },
  ]);
  await context.route("**/.well-known/attestor-keys.json", (route) => route.fulfill({ json: served }));
  const page = await openPage(context, `${world.url}/#keys`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  yield { state: "keys", page };
  served = testHistory([{ attestor: successor, fromRound: 1 }]);
  await page.reload();
  await page.getByText("The key list served here takes back").waitFor();
  await page.getByRole("heading", { level: 1 }).waitFor();
  yield { state: "a key list that is not believed", page };
  await paste(page, JSON.stringify({ ...current, keys: [] }));
  await page.waitForSelector("[data-state]");
  yield { state: "a key list that can't be read", page };

  const without = await visit({} as never, "#keys");
  await without.getByRole("heading", { level: 1 }).waitFor();
  yield { state: "no key list", page: without };
}

async function* purchase(visits: Visits): AsyncGenerator<Stop> {
  const { world } = visits;
  const { context, wallet } = await walletOf(visits);
  const page = await openPage(context, `${world.url}/#buy`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  yield { state: "asked what to buy", page };
  await askPrice(page, world.sandbox.sampleTransactions.base as string);
  yield { state: "review, not connected", page };
  await press(page, "Connect wallet");
  const sign = page.getByRole("button", { name: "Sign and pay" });
  await sign.waitFor();
  yield { state: "review", page };
  const decided = Promise.withResolvers<void>();
  wallet.onSign = () => decided.promise;
  await sign.click();
  await page.getByRole("button", { name: "Waiting for wallet" }).waitFor();
  yield { state: "waiting for the wallet", page };

  let answer = async (route: Route) => {
    const json = { code: "attestation_pending", retry: { sameHeader: true } };
    await route.fulfill({ status: 503, headers: { "retry-after": "1" }, json });
  };
  await onPayment(context, (route) => answer(route));
  decided.resolve();
  await page.getByText("Still working. Don't pay again.").first().waitFor();
  yield { state: "working", page };
  const held = Promise.withResolvers<void>();
  answer = (route) => held.promise.then(() => route.continue());
  await page.reload();
  await page.getByText("Continuing your paid call.").first().waitFor();
  yield { state: "continuing", page };
  held.resolve();
  await page.getByRole("heading", { name: "Bought and saved" }).waitFor();
  yield { state: "bought", page };
  await press(page, "Buy another");
  await page.getByRole("heading", { name: "Saved on this device" }).waitFor();
  yield { state: "asked what to buy, with what is saved", page };
}

async function* unluckyPurchase(visits: Visits): AsyncGenerator<Stop> {
  const { world, visit } = visits;
  const txid = world.sandbox.sampleTransactions.base as string;
  const bare = await visit(current, "#buy");
  await bare.getByLabel("Transaction").fill("0x12");
  await press(bare, "See the price");
  await bare.getByText("That is no transaction id").waitFor();
  yield { state: "no transaction id", page: bare };
  await bare.getByLabel("Transaction").fill(world.sandbox.sampleTransactions.algorand);
  await press(bare, "See the price");
  await bare.getByText("An Algorand transaction is paid with Algorand USDC").waitFor();
  yield { state: "what this page can't buy", page: bare };
  await bare.context().route("**/attest", (route) => route.abort("connectionrefused"), { times: 1 });
  await bare.getByLabel("Transaction").fill(txid);
  await press(bare, "See the price");
  await bare.getByText("The service can't be asked now.").waitFor();
  yield { state: "the service is stopped", page: bare };
  await askPrice(bare, txid);
  yield { state: "review, without a wallet", page: bare };
  await press(bare, "Cancel");
  await announceWallets(bare, ["Wallet One", "Wallet Two"]);
  await askPrice(bare, txid);
  yield { state: "review, with two wallets", page: bare };

  // Whoever believes another signer than this service's cannot verify what it sells.
  const { context, wallet } = await walletOf(visits, current);
  wallet.chainId = 1;
  wallet.chains.delete(8453);
  const page = await openPage(context, `${world.url}/#buy`);
  await askPrice(page, txid);
  await press(page, "Connect wallet");
  await page.getByRole("button", { name: "Switch to Base" }).waitFor();
  yield { state: "review, on another network", page };
  await press(page, "Switch to Base");
  await page.getByRole("button", { name: "Add Base" }).waitFor();
  yield { state: "review, without Base", page };
  await press(page, "Add Base");
  wallet.declines = true;
  await press(page, "Sign and pay");
  await page.getByText("You declined.").waitFor();
  yield { state: "declined", page };
  await press(page, "Cancel");
  wallet.balance = 400n;
  await askPrice(page, txid);
  await page.getByText("You have 0.0004 USDC").waitFor();
  yield { state: "too little", page };

  await press(page, "Cancel");
  wallet.balance = undefined;
  let answer: Parameters<Route["fulfill"]>[0] | undefined = {
    status: 404,
    json: { code: "source_not_found", detail: "No such transaction." },
  };
  await onPayment(context, (route) => (answer ? route.fulfill(answer) : route.continue()));
  await askPrice(page, txid);
  await press(page, "Sign and pay");
  await page.getByRole("heading", { name: "Not attested" }).waitFor();
  yield { state: "refused", page };
  const unpaid = await post(`${world.url}/attest`, { txid });
  const required = unpaid.headers.get("payment-required") as string;
  answer = { status: 402, headers: { "payment-required": required }, body: unpaid.text };
  await press(page, "Ask again");
  await page.getByRole("heading", { name: "Not paid" }).waitFor();
  yield { state: "not paid", page };
  answer = { status: 200, json: { version: 1 } };
  await press(page, "See the price again");
  await press(page, "Sign and pay");
  await page.getByRole("heading", { name: "Paid, not finished" }).waitFor();
  yield { state: "not finished", page };
  answer = undefined;
  await press(page, "Ask again");
  await page.getByRole("heading", { name: "Bought, but not verified" }).waitFor();
  yield { state: "bought, not verified", page };
}

const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

async function askPrice(page: Page, txid: string): Promise<void> {
  await page.getByLabel("Transaction").fill(txid);
  await press(page, "See the price");
  await page.getByRole("heading", { name: "Review" }).waitFor();
}

/** A visitor with a browser wallet, whose key has USDC. */
export async function walletOf({ visitor, world }: Visits, history?: KeyHistory) {
  const context = await visitor(history);
  const { payers, baseRpcUrl } = world.sandbox;
  return { context, wallet: await injectWallet(context, payers.base?.privateKey as Hex, baseRpcUrl as string) };
}

/** Answers in the place of the service whatever carries a payment. */
export async function onPayment(context: BrowserContext, answer: (route: Route) => Promise<void>): Promise<void> {
  await context.route("**/attest", (route) =>
    route.request().headers()["payment-signature"] === undefined
      ? route.continue()
      : answer(route).catch(() => undefined),
  );
}

/** Puts wallets on a page that announce themselves (EIP-6963), and know no account. */
async function announceWallets(page: Page, names: readonly string[]): Promise<void> {
  await page.evaluate(`addEventListener("eip6963:requestProvider", () => {
    for (const name of ${JSON.stringify(names)}) {
      const detail = { info: { name }, provider: { request: async () => [] } };
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    }
  })`);
}
