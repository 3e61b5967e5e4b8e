import { buffer } from "node:stream/consumers";
import { itemBundles, parseBatch } from "@attestd/proof";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { failedTransfer } from "../e2e/failed-transfer.ts";
import { baseSources } from "../e2e/many-sources.ts";
import { type Rail, railsOf } from "../e2e/rails.ts";
import { openPage, setClockAhead, shown, stored } from "./browser.ts";
import type { Site } from "./site.ts";
import { walletOf } from "./states.ts";

/** Purchases of several transactions for one payment. */
export function testLists(site: () => Site): void {
  let rail: Rail;
  let ids: string[];
  beforeAll(async () => {
    const { sandbox } = site().deployment;
    rail = (await railsOf(sandbox)).base;
    const { transactionHash: failed } = await failedTransfer(sandbox);
    // These are safe after the failed one.
    ids = [...(await baseSources(sandbox, 2)), failed];
  });

  const press = (page: Page, name: string) => page.getByRole("button", { name }).click();
  const heading = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor();
  const open = async () => {
    const { context, wallet } = await walletOf(site(), "Rabby");
    const page = await openPage(context, `${site().deployment.url}/#buy`);
    await press(page, "A list instead");
    return { page, wallet };
  };

  test("a list with faults is not bought: they are named by line, and stay to be mended", async () => {
    const { page, wallet } = await open();
    const list = `${ids[0]}\nhello\n${ids[0]}`;
    await page.getByLabel("Transactions").fill(list);
    await press(page, "See the price");
    await page
      .getByText('line 2: "hello" is not a transaction id; line 3: the same transaction as in line 1')
      .waitFor();
    expect(await page.getByLabel("Transactions").inputValue()).toBe(list);
    await page
      .getByLabel("Transactions")
      .fill(Array.from({ length: 1001 }, (_, i) => `0x${String(i).padStart(64, "0")}`).join("\n"));
    await press(page, "See the price");
    await page.getByText("These are 1001 transactions, and one payment is for at most 1000.").waitFor();
    expect(wallet.asked).toEqual([]);
  });

  test("a table with a failed transaction: nothing is charged, it is named, and the others are bought when the payment can no longer be taken", async () => {
    const before = await rail.received();
    const { page, wallet } = await open();
    const table = `date,hash\n${ids.map((id, i) => `2026-11-0${i + 1},${id}\n`).join("")}`;
    const file = { name: "transactions.csv", mimeType: "text/csv", buffer: Buffer.from(table) };
    await page.locator("form input[type=file]").setInputFiles(file);
    await page.waitForFunction("document.querySelector('textarea').value.includes('0x')");
    await press(page, "See the price");
    await heading(page, "Review");
    const reviewed = await shown(page.locator("main"));
    expect(reviewed).toContain("0.0013 USDC on Base");
    expect(reviewed).toContain("attestations of 3 transactions");
    await press(page, "Connect Rabby");
    await press(page, "Sign and pay 0.0013 USDC");
    await heading(page, "Not attested");
    const refused = await shown(page.locator("main"));
    expect(refused).toContain("The service says that you were not charged.");
    expect(refused).toContain("1 of the 3 can't be attested:");
    expect(refused.replace(/\s/g, "")).toContain(`${ids[2]}transaction_failed`);
    expect(await rail.received()).toBe(before);

    await press(page, "See the price of the other 2");
    await page.getByText(/^The payment that you signed can be taken until/).waitFor();
    expect(wallet.signatures).toBe(1);
    await setClockAhead(page, 1000);
    await press(page, "See the price of the other 2");
    await press(page, "Sign and pay 0.0012 USDC");
    await heading(page, "Bought and saved");
    expect(await rail.received()).toBe(before + 1200n);
    expect(wallet.signatures).toBe(2);
    expect(await stored(page, "payments")).toEqual([]);

    const saving = page.waitForEvent("download");
    await press(page, "Save the bundles");
    const answer = parseBatch(await buffer(await (await saving).createReadStream()));
    expect(itemBundles(answer).map(({ statement }) => statement.txnId)).toEqual(ids.slice(0, 2));
    await press(page, "Show the attestations");
    await heading(page, "2 of 2 files verified");
    await page.goto(`${site().deployment.url}/#buy`);
    await page.getByRole("button", { name: "Show the attestation of 2 transactions in round" }).waitFor();
  });

  test("a list is bought whole, its failed transaction too, for the payment that was signed, also after a reload", async () => {
    const before = await rail.received();
    const { page, wallet } = await open();
    await press(page, "One transaction instead");
    await heading(page, "Buy an attestation");
    // Several lines that are pasted into the field for one are a list.
    await page.getByLabel("Transaction").focus();
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData("text", ${JSON.stringify(ids.toReversed().join("\n"))});
      const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(paste);
    }`);
    await heading(page, "Buy many attestations");
    await press(page, "See the price");
    await press(page, "Connect Rabby");
    await press(page, "Sign and pay 0.0013 USDC");
    await heading(page, "Not attested");
    await page.reload();
    await heading(page, "Not attested");
    await press(page, "Attest them all");
    await heading(page, "Bought and saved");
    expect(await rail.received()).toBe(before + 1300n);
    expect(wallet.signatures).toBe(1);
    await press(page, "Show the attestations");
    await heading(page, "3 of 3 files verified");
    expect(await shown(page.locator("main"))).toContain("Failed on Base: nothing moved");
  });
}
