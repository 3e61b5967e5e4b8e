import { text } from "node:stream/consumers";
import { decodePaymentResponseHeader } from "@x402/core/http";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createPublicClient, type Hex, http } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post } from "../e2e/deployment.ts";
import { failedTransfer } from "../e2e/failed-transfer.ts";
import { startForeignPage } from "../e2e/foreign-page.ts";
import { BASE_USDC, USDC_ABI } from "../e2e/rails.ts";
import { openPage, pressByKeyboard, setClockAhead, shown, startBrowser, stored, watchFocus } from "./browser.ts";
import type { TypedData } from "./browser-wallet.ts";
import { testLists } from "./buy-list.ts";
import { testOtherRails } from "./buy-other-rails.ts";
import { closeSite, type Site, startSite } from "./site.ts";
import { onPayment, walletOf } from "./states.ts";

const browser: Browser | undefined = await startBrowser();
afterAll(() => browser?.close());

describe.skipIf(!browser)("buying on the page", () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(browser as Browser, ["base", "solana"]);
  });
  afterAll(() => closeSite(site));

  const url = (fragment = "") => `${site.deployment.url}/${fragment}`;
  const txid = () => site.deployment.sandbox.sampleTransactions.base as string;
  const received = () =>
    createPublicClient({ transport: http(site.deployment.sandbox.baseRpcUrl) }).readContract({
      address: BASE_USDC,
      abi: USDC_ABI,
      functionName: "balanceOf",
      args: [site.deployment.sandbox.payTo.base as Hex],
    });
  const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

  async function review(context: BrowserContext): Promise<Page> {
    const page = await openPage(context, url("#buy"));
    await page.getByLabel("Transaction").fill(txid());
    await press(page, "See the price");
    await page.getByRole("heading", { name: "Review" }).waitFor();
    return page;
  }

  test("shows amount, payee and expiry before the wallet opens, pays once, and stores the bundle", async () => {
    const { context, wallet } = await walletOf(site, "Rabby");
    const before = await received();
    const page = await review(context);
    expect(wallet.asked).not.toContain("eth_requestAccounts");
    await press(page, "Connect Rabby");
    await page.getByText(/^[\d,]+\.\d\d USDC$/).waitFor();

    let seen = "";
    let message: Record<string, string> = {};
    wallet.onSign = async (typedData) => {
      seen = await shown(page.locator("main"));
      ({ message } = typedData as TypedData);
    };
    await press(page, "Sign and pay 0.001 USDC");
    await page.getByRole("heading", { name: "Bought and saved" }).waitFor();
    const expiry = await page.evaluate(
      (seconds) =>
        new Date(seconds * 1000).toLocaleTimeString(undefined, {
          hour: "2-digit",
          minute: "2-digit",
          second: "2-digit",
        }),
      Number(message.validBefore),
    );
    expect(seen).toContain("0.001 USDC on Base. No network fee.");
    expect(seen).toContain(`move exactly 0.001 USDC to that address before ${expiry}`);
    expect(seen).toContain("Not charged if it can't be attested.");
    const { payTo } = site.deployment.sandbox;
    expect(seen.replace(/\s/g, "")).toContain(payTo.base);
    expect(seen).toContain("USD Coin (attestd sandbox)");
    expect(message).toMatchObject({ value: "1000", to: payTo.base });
    expect(await received()).toBe(before + 1000n);
    expect(wallet.signatures).toBe(1);

    await press(page, "Show the attestation");
    await page.waitForSelector("[data-state=warning]");
    expect(await shown(page.locator("main"))).toContain("on Base");
    await page.goto(url("#buy"));
    await page.getByRole("heading", { name: "Saved on this device" }).waitFor();
  });

  test("asks again before a failed transaction is bought, also after a reload: one payment, one signature", async () => {
    const { context, wallet } = await walletOf(site, "Rabby");
    const before = await received();
    const { transactionHash, blockNumber } = await failedTransfer(site.deployment.sandbox);
    const page = await openPage(context, url("#buy"));
    await page.getByLabel("Transaction").fill(transactionHash);
    await press(page, "See the price");
    await press(page, "Connect Rabby");
    await press(page, "Sign and pay 0.001 USDC");
    await page.getByRole("heading", { name: "It failed on its chain" }).waitFor();
    expect(await shown(page.locator(".verdict"))).toContain("The service says that you were not charged.");
    await page.reload();
    await page.getByRole("heading", { name: "It failed on its chain" }).waitFor();
    expect(await received()).toBe(before);

    await press(page, "Attest that it failed");
    await page.getByRole("heading", { name: "Bought and saved" }).waitFor();
    expect([await received(), wallet.signatures]).toEqual([before + 1000n, 1]);
    await press(page, "Show the attestation");
    await page.getByRole("heading", { name: "Failed on Base: nothing moved" }).waitFor();
    expect(await shown(page.locator("main"))).toContain(`${blockNumber} of Base`);
  });

  test("works with the keyboard alone, and never loses the focus", async () => {
    const { context, wallet } = await walletOf(site);
    const lost = await watchFocus(context);
    const page = await openPage(context, url());
    const arrived = async (title: string) => {
      await page.locator("h1:focus", { hasText: title }).waitFor();
      expect(await page.title()).toBe(`${title} · attestd`);
    };
    await pressByKeyboard(page, "Buy");
    await arrived("Buy an attestation");
    await pressByKeyboard(page, "Transaction", "End");
    await page.keyboard.type("0x12");
    await page.keyboard.press("Enter");
    await page.getByText("That is not a transaction id").waitFor();
    await arrived("Buy an attestation");
    // The error is read out with the heading.
    expect(await page.locator("h1").getAttribute("aria-describedby")).toBe("trouble");
    await pressByKeyboard(page, "Transaction", "Control+A");
    await page.keyboard.type(txid());
    await pressByKeyboard(page, "See the price", "Space");
    await arrived("Review");
    await pressByKeyboard(page, "Connect wallet", "Space");
    await page.getByRole("button", { name: "Sign and pay" }).waitFor();
    await arrived("Review");
    wallet.declines = true;
    await pressByKeyboard(page, "Sign and pay 0.001 USDC");
    await page.getByText("You declined. Nothing was paid.").waitFor();
    await arrived("Review");
    let focusedWhileSigning: unknown;
    wallet.onSign = async () => {
      focusedWhileSigning = await page.evaluate("document.activeElement.textContent");
    };
    // The page is drawn again while it waits for the service.
    let isDown = true;
    await onPayment(context, async (route) => {
      if (!isDown) return route.continue();
      isDown = false;
      const json = { code: "attestation_pending", retry: { sameHeader: true } };
      await route.fulfill({ status: 503, headers: { "retry-after": "0" }, json });
    });
    await pressByKeyboard(page, "Sign and pay 0.001 USDC");
    await page.getByText("Still working. Don't pay again.").first().waitFor();
    await arrived("Buying");
    await arrived("Bought and saved");
    expect(focusedWhileSigning).toBe("Waiting for wallet…");
    await pressByKeyboard(page, "Show the attestation");
    await arrived("Verified, with a warning");
    expect({ lost, signatures: wallet.signatures }).toEqual({ lost: [], signatures: 1 });
  });

  test("continues a signed payment after a reload: the same bundle, one payment, no button to pay again", async () => {
    const { context, wallet } = await walletOf(site);
    const before = await received();
    let faults = ["no network", "an answer that is lost"];
    // Delays the payment that the reloaded page sends, to look at the page meanwhile.
    const looked = Promise.withResolvers<void>();
    const payments = new Set<string>();
    const keptBefore: unknown[] = [];
    await onPayment(context, async (route) => {
      const payment = route.request().headers()["payment-signature"] as string;
      payments.add(payment);
      keptBefore.push((await stored<{ header: string }>(page, "payments")).map(({ header }) => header === payment));
      const [fault, ...later] = faults;
      if (fault === undefined) return looked.promise.then(() => route.continue());
      faults = later.length > 0 ? later : faults;
      if (fault === "no network") return route.abort("internetdisconnected");
      // The service gets the payment, and its answer is lost.
      await post(url("attest"), { txid: txid() }, { "payment-signature": payment });
      const json = { code: "attestation_pending", retry: { sameHeader: true } };
      return route.fulfill({ status: 503, headers: { "retry-after": "0" }, json });
    });
    const page = await review(context);
    await press(page, "Connect wallet");
    await press(page, "Sign and pay 0.001 USDC");
    await page.getByText("Still working. Don't pay again.").first().waitFor();
    expect(await page.getByRole("button").count()).toBe(0);
    await page.locator("[data-step=now]", { hasText: "Recording" }).waitFor();
    expect(await page.getByRole("button").count()).toBe(0);

    faults = [];
    await page.reload();
    await page.getByText("Continuing your paid call.").first().waitFor();
    expect(await page.getByRole("button").count()).toBe(0);
    looked.resolve();
    await page.getByRole("heading", { name: "Bought and saved" }).waitFor();
    expect({ signed: wallet.signatures, sent: payments.size }).toEqual({ signed: 1, sent: 1 });
    const [savingReceipt] = await Promise.all([page.waitForEvent("download"), press(page, "Save the receipt")]);
    expect(savingReceipt.suggestedFilename()).toMatch(/^attestation-[\w-]{8}-\d+\.receipt\.json$/);
    const receipt = JSON.parse(await text(await savingReceipt.createReadStream()));
    expect(await received()).toBe(before + 1000n);

    // Stored before each sending; removed once the bundle is stored.
    expect(new Set(keptBefore.map(String))).toEqual(new Set(["true"]));
    expect(await stored(page, "payments")).toEqual([]);
    const [payment = ""] = payments;
    const replayed = await post(url("attest"), { txid: txid() }, { "payment-signature": payment });
    const [{ bytes } = { bytes: "nothing" }] = await stored<{ bytes: string }>(page, "bundles");
    expect(Buffer.from(bytes, "base64").toString("utf8")).toBe(replayed.text);
    const settlement = decodePaymentResponseHeader(replayed.headers.get("payment-response") as string);
    expect(settlement.extensions).toMatchObject({ "offer-receipt": { info: { receipt } } });
    await press(page, "Show the attestation");
    const [saving] = await Promise.all([page.waitForEvent("download"), press(page, "Save bundle")]);
    expect(await text(await saving.createReadStream())).toBe(replayed.text);

    await page.goto(url("#buy"));
    await page.reload();
    await page.getByRole("heading", { name: "Buy an attestation" }).waitFor();
    // A receipt that was not saved then can be saved later.
    const later = page.getByRole("button", { name: `Save the receipt of ${txid()}` });
    const [savingLater] = await Promise.all([page.waitForEvent("download"), later.click()]);
    expect(savingLater.suggestedFilename()).toBe(savingReceipt.suggestedFilename());
    expect(JSON.parse(await text(await savingLater.createReadStream()))).toEqual(receipt);
  });

  test("allows a hostile service that answers 404 and then 402 another payment only when the first can no longer be taken", async () => {
    const { context, wallet } = await walletOf(site);
    let answer: object = { status: 404, json: { code: "source_not_found", detail: "No such transaction." } };
    await onPayment(context, (route) => route.fulfill(answer));
    const page = await review(context);
    await press(page, "Connect wallet");
    await press(page, "Sign and pay 0.001 USDC");
    await page.getByRole("heading", { name: "Not attested" }).waitFor();
    const verdict = () => shown(page.locator(".verdict"));
    const held = /The payment that you signed can be taken until .*no other is signed before\./;
    expect(await verdict()).toContain("No such transaction. The service says that you were not charged.");
    expect(await verdict()).toMatch(held);
    expect(await page.getByRole("button").allInnerTexts()).toEqual(["Ask again", "Another transaction"]);
    const unpaid = await post(url("attest"), { txid: txid() });
    const headers = { "payment-required": unpaid.headers.get("payment-required") };
    answer = { status: 402, headers, body: unpaid.text };
    await press(page, "Ask again");
    await page.getByRole("heading", { name: "Not paid" }).waitFor();
    expect(await verdict()).toMatch(held);
    expect(await page.getByRole("button").allInnerTexts()).toEqual(["Ask again", "Another transaction"]);
    await setClockAhead(page, 1000);
    await press(page, "Ask again");
    await press(page, "See the price again");
    await page.getByRole("button", { name: "Sign and pay 0.001 USDC" }).waitFor();
    expect(wallet.signatures).toBe(1);
  });

  test("reports that nothing was paid where no price is named, also without a wallet's library", async () => {
    const { context } = await walletOf(site);
    await context.route(/arc27/, (route) => route.abort());
    const problem = { code: "over_capacity", detail: "Too many calls are under way." };
    await context.route(url("attest"), (route) => route.fulfill({ status: 503, json: problem }));
    const page = await openPage(context, url("#buy"));
    await page.getByLabel("Transaction").fill(txid());
    await press(page, "See the price");
    await page.getByText("Too many calls are under way. Nothing was paid.").waitFor();
  });

  test.each([
    ["slow", -3600, /clock is 3,(599|600|601) s behind the service's/],
    ["fast", 3600, /clock is 3,(599|600|601) s ahead of the service's/],
  ])(
    "buys on a device whose clock is an hour %s, and says by whose clock the payment is dated",
    async (_, seconds, words) => {
      const { context, wallet } = await walletOf(site);
      const page = await openPage(context, url("#buy"));
      await setClockAhead(page, seconds);
      let message: Record<string, string> = {};
      wallet.onSign = async (typedData) => {
        ({ message } = typedData as TypedData);
      };
      await page.getByLabel("Transaction").fill(txid());
      await press(page, "See the price");
      await press(page, "Connect wallet");
      await page.getByText(words).waitFor();
      await press(page, "Sign and pay 0.001 USDC");
      await page.getByRole("heading", { name: "Bought and saved" }).waitFor();
      expect(Number(message.validBefore) - Date.now() / 1000).toBeLessThanOrEqual(605);
    },
  );

  test("offers no signature where the clock is wrong by more than a day, and names the seconds", async () => {
    const { context, wallet } = await walletOf(site);
    const page = await openPage(context, url("#buy"));
    await setClockAhead(page, 90_000);
    await page.getByLabel("Transaction").fill(txid());
    await press(page, "See the price");
    await page.getByText(/clock is (90,000|90,001|89,999) s ahead of the service's, so no payment/).waitFor();
    expect(await page.getByRole("button").allInnerTexts()).toEqual(["Another wallet", "Cancel"]);
    expect(wallet.asked).not.toContain("eth_requestAccounts");
  });

  test("reports what a wallet refuses, without any payment", async () => {
    const { context, wallet } = await walletOf(site);
    const before = await received();
    wallet.chainId = 1;
    wallet.chains.delete(8453);
    const page = await review(context);
    await press(page, "Connect wallet");
    await press(page, "Switch to Base");
    await press(page, "Add Base to the wallet");
    wallet.declines = true;
    await press(page, "Sign and pay 0.001 USDC");
    await page.getByText("You declined. Nothing was paid.").waitFor();
    // Signed after the reader pressed Cancel.
    wallet.onSign = () => press(page, "Cancel");
    await press(page, "Sign and pay 0.001 USDC");
    await page.getByRole("heading", { name: "Buy an attestation" }).waitFor();
    await expect.poll(() => wallet.signatures).toBe(1);
    await page.reload();
    await page.getByRole("heading", { name: "Buy an attestation" }).waitFor();

    wallet.balance = 400n;
    await page.getByLabel("Transaction").fill(txid());
    await press(page, "See the price");
    await page.getByText("You have 0.0004 USDC on Base, and 0.001 is needed.").waitFor();
    expect(await page.getByRole("button", { name: /^Sign/ }).count()).toBe(0);
    expect(await received()).toBe(before);
  });

  test("shows the command when no wallet is found", async () => {
    const page = await openPage(await site.newContext(), url("#buy"));
    await page.getByLabel("Transaction").fill(txid());
    await press(page, "See the price");
    await page.getByText("No wallet was found in this browser.").waitFor();
    expect(await shown(page.locator("pre"))).toContain(`npx attestd attest ${txid()} --service ${site.deployment.url}`);
    // Lute is a site, too, which everybody may have.
    expect(await page.getByRole("button").allInnerTexts()).toEqual(["Lute on Algorand", "Cancel"]);
  });

  describe("with the wallets of the other rails", () => testOtherRails(() => site));

  describe("of a list", () => testLists(() => site));

  test("is off when the browser stores nothing, and gives the reason", async () => {
    const { context, wallet } = await walletOf(site);
    await context.addInitScript("delete IDBFactory.prototype.open");
    const page = await openPage(context, url("#buy"));
    await page.getByLabel("Transaction").fill(txid());
    await press(page, "See the price");
    await page.getByText("A payment could be lost, so buying is off. Nothing was paid.").waitFor();
    expect(wallet.asked).toEqual([]);
  });

  test("works from a page of another origin with stock @x402/fetch, which reads the bundle and the receipt", async () => {
    await using foreign = await startForeignPage();
    const context = await site.newContext();
    const page = await context.newPage();
    await page.goto(foreign.url);
    // With the headers of tracing and of a gateway's own authentication.
    const headers = { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`, tracestate: "a=1", authorization: "A" };
    const purchase = [url("attest"), { txid: txid() }, site.deployment.sandbox.payers.base?.privateKey, headers];
    const bought = await page.evaluate<{ status: number; receipt: string; text: string }>(
      `buy(...${JSON.stringify(purchase)})`,
    );
    expect(bought.status).toBe(200);
    const verified = await post(url("verify"), bought.text);
    expect(verified).toMatchObject({ status: 200, json: { verified: true } });
    expect(JSON.parse(Buffer.from(bought.receipt, "base64").toString())).toMatchObject({ success: true });

    // The answer to a request that Node rejects unread is readable, too.
    const refused = [url("attest"), { "payment-signature": "A".repeat(20_000) }];
    const answer = await page.evaluate(`ask(...${JSON.stringify(refused)})`);
    expect(answer).toEqual({ status: 431, code: "headers_too_large" });
  });
});
