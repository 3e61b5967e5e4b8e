import { mkdir, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { usdcTransfer } from "../../packages/web/example.ts";
import { testBatch } from "../bundles/batches.ts";
import { testBaseBlock, testBlockBundle, testBundle, testHistory, testInclusionBundle } from "../bundles/bundles.ts";
import { withOrigin } from "../e2e/key-histories.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { dropPaths, openPage, shown } from "./browser.ts";
import { bundle, current, ROUND, type Site, stranger, tampered } from "./site.ts";
import { certificate } from "./states.ts";

const json = (value: unknown) => JSON.stringify(value);
const of = (seed: number) => testBundle({ round: ROUND + seed });

/** A folder such as an auditor gets: twenty files, and what an operating system adds. */
const FOLDER: Readonly<Record<string, { contents: string | Uint8Array; verdict: string; what?: RegExp }>> = {
  "2026/01 payment.json": { contents: json(of(1)), verdict: "Verified", what: /1\.00 ALGO/ },
  "2026/02 payment.json": { contents: json(of(2)), verdict: "Verified" },
  "2026/03 transfer.json": { contents: json(bundle), verdict: "Verified", what: /USDC transfer on Base, 25\.00 USDC/ },
  "2026/04 block.json": { contents: json(testBlockBundle({ round: ROUND })), verdict: "Verified", what: /^Block / },
  "2026/05 inclusion.json": {
    contents: json(testInclusionBundle({ block: testBaseBlock(3), round: ROUND })),
    verdict: "Verified",
  },
  "2026/06 certificate.svg": { contents: certificate(), verdict: "Verified" },
  "2026/07 included.json": {
    contents: json(testBundle({ chain: "base", txnBytes: usdcTransfer(), round: ROUND, level: "included" })),
    verdict: "Verified, with a warning",
  },
  "2026/08 indented.json": { contents: JSON.stringify(of(8), null, 2), verdict: "Verified" },
  "2026/deep/er/09 payment.json": { contents: json(of(9)), verdict: "Verified" },
  "2026/10 stranger.json": {
    contents: json(testBundle({ attestor: stranger })),
    verdict: "Signer unknown",
    what: /Anyone could have made it/,
  },
  "2026/11 tampered.json": { contents: json(tampered), verdict: "Not verified", what: /^Changed after signing/ },
  "2026/12 words.svg": { contents: certificate().replaceAll("25.00 USDC", "95.00 USDC"), verdict: "Not verified" },
  "2026/13 form.json": { contents: json({ ...bundle, extra: 1 }), verdict: "Not verified" },
  "2026/14 notes.txt": { contents: "Dear auditor,\n", verdict: "Can't read this file", what: /^Not JSON \(line 1\)/ },
  "2026/15 empty.json": { contents: "", verdict: "Can't read this file" },
  "2026/16 picture.png": { contents: Uint8Array.of(137, 80, 78, 71, 255), verdict: "Can't read this file" },
  "2026/17 other.json": { contents: json({ hello: "world" }), verdict: "Can't read this file" },
  "2026/18 scan.pdf": { contents: "%PDF-1.7\n%%EOF", verdict: "Can't read this file" },
  '2026/19 <b onclick="x">\u202egpj.json': { contents: json(of(19)), verdict: "Verified" },
  "2026/20 large.json": { contents: "", verdict: "Can't read this file", what: /^10\.0 MB/ },
};

const LARGE = "2026/20 large.json";
const HIDDEN = ["2026/.DS_Store", "2026/Thumbs.db"];

async function writeFolder(root: string): Promise<void> {
  for (const [name, { contents }] of Object.entries(FOLDER)) await write(join(root, name), contents);
  for (const name of HIDDEN) await write(join(root, name), "x");
  await truncate(join(root, LARGE), 10_000_000);
}

async function write(path: string, contents: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents);
}

const rowsOf = (page: Page) =>
  page
    .locator(".files tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map(({ textContent }) => textContent)));

const ORDER = ["Not verified", "Can't read this file", "Signer unknown", "Verified, with a warning", "Verified"];

/** The tests of many files at once. @param site of the tests around it */
export function manyFiles(site: () => Site): void {
  test.each<[string, (page: Page, folder: string) => Promise<void>]>([
    ["dropped", (page, folder) => dropPaths(page, join(folder, "2026"))],
    ["chosen", (page, folder) => page.setInputFiles("input[webkitdirectory]", join(folder, "2026"))],
  ])("a folder of twenty mixed files that is %s, in a table whose rows open", async (_, give) => {
    await using folder = await temporaryFolder();
    await writeFolder(folder.path);
    const page = await site().open(current);
    const requests: string[] = [];
    await page.getByText("It signs as the account").waitFor();
    page.on("request", (request) => requests.push(request.url()));
    await give(page, folder.path);
    await page.waitForSelector("[data-state=table]");

    const rows = await rowsOf(page);
    const expected = Object.entries(FOLDER).map(([name, { verdict }]) => [
      name.replace("\u202e", "\\u{202e}"),
      verdict,
    ]);
    expect(rows.map(([name, verdict]) => [name, verdict]).toSorted()).toEqual(expected.toSorted());
    for (const [name, { what }] of Object.entries(FOLDER))
      if (what) expect(rows.find(([one]) => one === name)?.[2], name).toMatch(what);
    // The worst comes first, and only what is proven has a time.
    expect([...new Set(rows.map(([, verdict]) => verdict))]).toEqual(ORDER);
    for (const [, verdict = "", , when = ""] of rows) expect(when !== "").toBe(verdict.startsWith("Verified"));
    expect(await shown(page.locator("h1:focus"))).toBe("10 of 20 files verified");
    expect(await page.locator(".verdict").getAttribute("data-tone")).toBe("failed");
    expect(await shown(page.locator(".verdict"))).toMatch(
      /3 × Not verified, 6 × Can't read this file, 1 × Signer unknown/,
    );
    expect(requests).toEqual([]);

    await page.getByRole("button", { name: "2026/11 tampered.json" }).click();
    await page.waitForSelector("[data-state=failed]");
    expect(await shown(page.locator("main"))).toContain("Fingerprint");
    await page.getByRole("button", { name: "Back to the 20 files" }).click();
    expect(await shown(page.locator("h1:focus"))).toBe("10 of 20 files verified");
  });

  test("many files by the key list among them, wherever it stands, and with caution if it is forged", async () => {
    const strangers = testHistory([{ attestor: stranger, fromRound: 1 }]);
    const files = (keys: object) => [
      { name: "1.json", mimeType: "", buffer: Buffer.from(json(testBundle({ attestor: stranger }))) },
      { name: "2.json", mimeType: "", buffer: Buffer.from(json(testBundle({ attestor: stranger, round: 7 }))) },
      { name: "keys.json", mimeType: "", buffer: Buffer.from(json(keys)) },
    ];
    const page = await site().open(current);
    await page.setInputFiles("input[multiple]", files(withOrigin("https://stranger.example", strangers)));
    await page.getByRole("heading", { name: "2 of 2 files verified" }).waitFor();
    expect((await rowsOf(page)).map(([name, verdict]) => [name, verdict])).toEqual([
      ["1.json", "Verified"],
      ["2.json", "Verified"],
    ]);
    await page.getByRole("button", { name: "Check others" }).click();
    await page.setInputFiles("input[multiple]", files(strangers));
    await page.getByText("contradicts attestd.example's own").waitFor();
    expect((await rowsOf(page)).map(([, verdict]) => verdict)).toEqual(Array(2).fill("Verified, with a warning"));
  });

  test("a batch's answer as the transactions in it, each by itself", async () => {
    const answer = testBatch(undefined, { round: ROUND });
    const given = (value: object) => [{ name: "batch.json", mimeType: "", buffer: Buffer.from(json(value)) }];
    const page = await site().open(current);
    await page.setInputFiles("input[multiple]", given(answer));
    await page.getByRole("heading", { name: "2 of 2 files verified" }).waitFor();
    expect((await rowsOf(page)).map(([name, verdict]) => [name, verdict])).toEqual([
      ["batch.json#/items/0", "Verified"],
      ["batch.json#/items/1", "Verified"],
    ]);
    await page.getByRole("button", { name: "batch.json#/items/1" }).click();
    await page.waitForSelector("[data-state=verified]");
    await page.getByRole("button", { name: "Back to the 2 files" }).click();
    await page.getByRole("button", { name: "Check others" }).click();
    await page.setInputFiles("input[multiple]", given({ ...answer, items: answer.items.slice(1) }));
    await page.waitForSelector("[data-state=unreadable]");
  });

  test("a batch given whole, and makes one certificate of it, which it then takes for the batch", async () => {
    const page = await site().open(current);
    const answer = json(testBatch());
    await page.setInputFiles("input[multiple]", [{ name: "a.json", mimeType: "", buffer: Buffer.from(answer) }]);
    await page.getByRole("heading", { name: "2 of 2 files verified" }).waitFor();
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save certificate of the batch" }).click();
    const saved = await buffer(await (await saving).createReadStream());
    const given = (name: string, bytes: Buffer) => [{ name, mimeType: "", buffer: bytes }];
    const check = async (name: string, bytes: Buffer) => {
      await page.getByRole("button", { name: "Check others" }).click();
      await page.setInputFiles("input[multiple]", given(name, bytes));
      await page.waitForSelector("[data-state=table]");
      return (await rowsOf(page)).map(([file, verdict]) => [file, verdict]);
    };
    expect(await check("whole.pdf", saved)).toEqual([
      ["whole.pdf#/items/0", "Verified"],
      ["whole.pdf#/items/1", "Verified"],
    ]);
    await page.getByRole("button", { name: "whole.pdf#/items/1" }).click();
    await page.getByText("The certificate's text matches its bundle.").waitFor();
    await page.getByRole("button", { name: "Back to the 2 files" }).click();
    const raised = Buffer.from(saved.toString("latin1").replace("on Algorand, 1.00", "on Algorand, 9.00"), "latin1");
    expect((await check("raised.pdf", raised)).map(([, verdict]) => verdict)).toEqual(["Not verified", "Not verified"]);
  });

  test("many files, can be stopped, and says which were not checked", async () => {
    const context = await site().newContext();
    // The key list never arrives, and without it nothing is judged.
    await context.route("**/.well-known/attestor-keys.json", () => undefined);
    const page = await openPage(context, site().deployment.url);
    await using folder = await temporaryFolder();
    const names = ["big.json", "small.json", "third.json"].map((name) => join(folder.path, name));
    for (const name of names) await writeFile(name, json(bundle));
    await truncate(names[0] as string, 26_000_000);
    // The first is not read; the second waits for the key list.
    await page.setInputFiles("input[multiple]", names);
    await page.getByText("1 of 3 files").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Stopped: 1 of 3 files were checked.").waitFor();
    expect((await rowsOf(page)).map(([name]) => name)).toEqual(["big.json"]);
  });
}
