import { mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseKeyHistory, verify } from "@attestd/proof";
import type { ProofBundle } from "@attestd/proof/bundle";
import {
  testAttestor,
  testBaseBlock,
  testBundle,
  testHistory,
  testInclusionBundle,
  testPayment,
} from "@attestd/proof/testing";
import type { KeyHistory } from "@attestd/proof/trust";
import { certificateContents, layOut, pointerUrl, subjectOf } from "@attestd/web";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createPublicClient, type Hex, http } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CASES, HISTORIES } from "../../../docs/verify/bundles.ts";
import { usdcTransfer } from "../../web/example.ts";
import { toPdf } from "../src/certificate-pdf.ts";
import {
  choose,
  drop,
  freshPage,
  type GivenFile,
  judgeAll,
  openPage,
  pageWidth,
  paste,
  pressByKeyboard,
  readCode,
  shown,
  startBrowser,
  violations,
} from "./browser.ts";
import { injectWallet } from "./browser-wallet.ts";
import { temporaryFolder } from "./command.ts";
import { BASE_USDC, USDC_ABI } from "./rails.ts";
import { algorandClient, pay, post, sign, startWorld, type World } from "./world.ts";

/** Pictures of the page are written only where they are asked for, so that a test leaves no trace. */
const PICTURES = process.env.ATTESTD_PICTURES;

const browser: Browser | undefined = await startBrowser(PICTURES !== undefined);
afterAll(() => browser?.close());

const attestor = testAttestor();
const successor = testAttestor("next");
const ROUND = 46_581_204;
const bundle = testBundle({ chain: "base", txnBytes: usdcTransfer(), round: ROUND, level: "safe" });
const fingerprint = bundle.source.hashSha256;
const tampered: ProofBundle = {
  ...bundle,
  source: { ...bundle.source, hashSha256: fingerprint.replace(/.$/, fingerprint.endsWith("0") ? "1" : "0") },
};
const current = testHistory();
const retired = testHistory([
  { attestor, fromRound: 1 },
  { attestor: successor, fromRound: ROUND + 1000 },
]);
const revoked = testHistory([{ attestor, fromRound: 1, revokedRound: ROUND + 1000 }]);
const file = (value: unknown, name = "bundle.json"): GivenFile => ({ name, contents: JSON.stringify(value) });

describe.skipIf(!browser)("the page", () => {
  let world: World;
  /** Bought of the world's own service. */
  let bought: ProofBundle;
  const contexts: BrowserContext[] = [];
  /** What the page did not mean to happen: uncaught errors, and what its content security policy forbids. */
  const faults: string[] = [];

  beforeAll(async () => {
    world = await startWorld({ networks: ["base"] }, {}, { page: await freshPage() });
    const [url, body] = [`${world.url}/attest`, { txid: world.sandbox.sampleTransactions.algorand }];
    bought = JSON.parse((await pay(url, body, await sign(url, body, algorandClient(world.sandbox)))).text);
  });
  afterAll(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    await world?.close();
    expect(faults).toEqual([]);
  });

  /** A visitor without a past. @param history served in the place of the service's own */
  async function visitor(history?: KeyHistory, options: { serviceWorkers?: "allow" | "block" } = {}) {
    const context = await (browser as Browser).newContext({ serviceWorkers: "block", ...options });
    contexts.push(context);
    context.on("weberror", (error) => faults.push(String(error.error())));
    context.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    if (history) await context.route("**/.well-known/attestor-keys.json", (route) => route.fulfill({ json: history }));
    return context;
  }

  async function visit(history?: KeyHistory, fragment = ""): Promise<Page> {
    return openPage(await visitor(history), `${world.url}/${fragment}`);
  }

  /** What the reader is taken to. */
  const focused = (page: Page) => shown(page.locator("h1:focus"));
  const verdict = (page: Page) => shown(page.locator(".verdict"));
  const links = (page: Page) =>
    page.locator("main a[href^=https]").evaluateAll((all) => all.map((a) => a.getAttribute("href")));

  async function judged(given: GivenFile, history = current): Promise<Page> {
    const page = await visit(history);
    await choose(page, given);
    await page.waitForSelector("[data-state]");
    return page;
  }

  test("verifies a bundle without asking anyone, and says no more than the bundle proves", async () => {
    const page = await visit(current);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await drop(page, file(bundle));
    await page.waitForSelector("[data-state=verified]");
    expect(await focused(page)).toBe("Verified");
    expect(await page.title()).toBe("Verified · attestd");
    expect(await verdict(page)).toContain(
      `This file is unchanged, and attestd.example signed it.\n\nIt states that this Base transaction was recorded on Algorand in round ${ROUND}.\n\nNothing was uploaded. Not yet compared with the ledger.`,
    );
    const text = await shown(page.locator("main"));
    expect(text).not.toMatch(/is recorded|\d\d:\d\d/);
    expect(text).toMatch(/USDC transfer on Base, 25\.00 USDC.*about January 2025, estimated from the round/s);
    expect(await page.locator(".checks [data-result=pass]").count()).toBe(6);
    expect(await page.locator(".checks [data-result=not_checked]").count()).toBe(2);
    expect(await links(page)).toEqual([
      `https://basescan.org/tx/${bundle.source.txnId}`,
      `https://allo.info/tx/${bundle.attest.txnId}`,
    ]);
    expect(requests).toEqual([]);
  });

  test("shows what failed first, and nothing that a changed file claims as if it were so", async () => {
    const page = await judged(file(tampered));
    expect(await focused(page)).toBe("Not verified");
    expect(await verdict(page)).toContain("Changed after signing, or another file's signature. Don't rely on it.");
    expect(await shown(page.locator("main > :is(h2, ol, details) ").first())).toBe("What failed");
    expect(await page.locator("main > ol .label").allInnerTexts()).toEqual(["Signature", "Fingerprint"]);
    const values = page.locator("main > ol .values dd");
    expect(await values.allInnerTexts()).toEqual([tampered.source.hashSha256, fingerprint]);
    expect(await values.locator("mark").allInnerTexts()).toEqual([
      tampered.source.hashSha256.at(-1),
      fingerprint.at(-1),
    ]);
    expect(await page.locator("summary").allInnerTexts()).toContain("4 checks passed");
    expect(await links(page)).toEqual([]);
    expect(await shown(page.locator("main"))).not.toMatch(/signed by|certificate/i);
    await page.getByText("4 checks passed").click();
    expect(await shown(page.locator("details .checks").first())).toContain(
      "The file names a key of attestd.example; unconfirmed.",
    );
  });

  test("names a stranger's key for what it is, and takes the stranger's key list when it is given", async () => {
    const stranger = testAttestor("stranger");
    const page = await judged(file(testBundle({ attestor: stranger })));
    expect(await focused(page)).toBe("Signer unknown");
    expect(await page.locator(".verdict").getAttribute("data-tone")).toBe("caution");
    expect(await verdict(page)).toContain("Unchanged, but its key is in no history here. Anyone could have made it.");
    expect(await links(page)).toEqual([]);
    await drop(page, file(testHistory([{ attestor: stranger, fromRound: 1 }]), "keys.json"));
    await page.waitForSelector("[data-state=verified]");
    // Whoever made the bundle may have made the list.
    expect(await verdict(page)).toContain("The signer is known from the key list that you gave, not from this site.");
  });

  test("keeps what a replaced key signed, and says so", async () => {
    const page = await judged(file(bundle), retired);
    expect(await focused(page)).toBe("Verified");
    expect(await page.locator(".verdict").getAttribute("data-tone")).toBe("passed");
    expect(await verdict(page)).toContain(`signed it with a key current in round ${ROUND}, replaced since.`);
    expect(await shown(page.locator(".checks"))).toContain(
      `A key of attestd.example, current in round ${ROUND}, replaced in ${ROUND + 1000}.`,
    );
  });

  test("does not believe a withdrawn key, unless the ledger shows the record", async () => {
    const page = await judged(file(bundle), revoked);
    expect(await focused(page)).toBe("Not verified");
    expect(await verdict(page)).toMatch(
      /Key withdrawn in round \d+; .* can't be believed\.\s+The ledger check can show/,
    );
    const report = { checks: { chainSource: "pass", chainAttest: "pass" }, failures: [] };
    await page.context().route("**/verify?chain=1", (route) => route.fulfill({ json: report }));
    await page.getByRole("button", { name: "Check on the ledger" }).click();
    await page.waitForSelector("[data-state=verified]");
    expect(await verdict(page)).toMatch(
      /key withdrawn in round \d+, after the ledger had recorded it.*is recorded on Algorand/s,
    );
  });

  test.each<[string, GivenFile, string]>([
    ["no JSON", { name: "text.json", contents: '{\n"version": 1,\n oops' }, "Not JSON (line 3)."],
    ["another JSON", file({ hello: "world" }), "Not an attestd bundle."],
    ["a picture", { name: "a.png", contents: Uint8Array.of(137, 80, 78, 71, 255) }, "Not JSON: it isn't text."],
    ["a PDF of someone else", { name: "a.pdf", contents: "%PDF-1.7\n%%EOF" }, "carries no bundle"],
    ["a broken key list", file({ ...retired, keys: retired.keys.slice(0, 1) }), "A key list that can't be believed"],
  ])("can't read %s, and says why", async (_, given, why) => {
    const page = await judged(given);
    expect(await focused(page)).toBe("Can't read this file");
    expect(await verdict(page)).toContain(why);
  });

  test("does not even open what is larger than any bundle", async () => {
    await using folder = await temporaryFolder();
    const big = join(folder.path, "big.json");
    await writeFile(big, "");
    await truncate(big, 5_000_000);
    const page = await visit(current);
    await choose(page, big);
    await page.waitForSelector("[data-state=unreadable]");
    expect(await verdict(page)).toContain("5.0 MB; bundles are smaller.");
  });

  test("reads what is pasted, as a person would paste it", async () => {
    const page = await visit(current);
    await paste(page, JSON.stringify(bundle));
    await page.waitForSelector("[data-state=verified]");
  });

  test("verifies without a network once it was loaded, and after a reload too", async () => {
    const context = await visitor(undefined, { serviceWorkers: "allow" });
    const page = await openPage(context, world.url);
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
    await context.setOffline(true);
    await choose(page, file(bought));
    await page.waitForSelector("[data-state=warning]");
    expect(await shown(page.locator("#offline"))).toBe("Offline. Verification works; the ledger check can't.");
    await page.getByRole("button", { name: "Check on the ledger" }).click();
    await page.getByText("Couldn't ask the ledger; the result stands.").waitFor();

    await page.reload();
    await page.waitForSelector("#ready", { state: "attached" });
    await choose(page, file(bought));
    await page.waitForSelector("[data-state=warning]");
  });

  test("says what it read while a slow file is read, and can be told to stop", async () => {
    const context = await visitor();
    // Without the key list nothing can be judged; it does not come.
    await context.route("**/.well-known/attestor-keys.json", () => undefined);
    const page = await openPage(context, world.url);
    await choose(page, file(bundle));
    await page.getByRole("heading", { name: "Reading…" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await focused(page)).toBe("Check an attestation");
  });

  test("compares with the ledger when asked, by the keyboard alone", async () => {
    const page = await visit();
    const press = (name: string) => pressByKeyboard(page, name);
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), press("Choose file")]);
    await chooser.setFiles({
      name: "b.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(bought)),
    });
    await page.waitForSelector("[data-state=warning]");
    expect(await focused(page)).toBe("Verified, with a warning");
    expect(await verdict(page)).toMatch(/Sandbox, not real\..*states that.*Not yet compared/s);
    await press("Check on the ledger");
    await page.getByText("Compared with the ledger by").waitFor();
    expect(await focused(page)).toBe("Verified, with a warning");
    expect(await verdict(page)).toContain(
      `This Algorand transaction is recorded on the sandbox's ledger in round ${bought.attest.round}, ${today()} `,
    );
    expect(await links(page)).toEqual([]);
    const [saving] = await Promise.all([page.waitForEvent("download"), press("Save certificate")]);
    expect(await read(await saving.createReadStream())).toMatch(/Verified on [\d-]+, compared with the ledger/);
    await press("Decoded transaction");
    expect(await shown(page.locator("details[open]"))).toContain("ALGO");
  });

  test("leaves the verdict when the service is out, and asks again", async () => {
    const page = await judged(file(bundle));
    await page
      .context()
      .route("**/verify?chain=1", (route) =>
        route.fulfill({ status: 503, json: { detail: "The chain cannot be asked now." } }),
      );
    await page.getByRole("button", { name: "Check on the ledger" }).click();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    expect(await focused(page)).toBe("Verified");
    expect(await verdict(page)).toContain("Couldn't ask the ledger; the result stands.");
  });

  test("shows markup and tricks of writing direction as the text that they are", async () => {
    const txnBytes = testPayment('<img src=x onerror="document.title=1">\u202egpj');
    const page = await judged(file(testBundle({ txnBytes })));
    await page.getByText("Decoded transaction").click();
    expect(await shown(page.locator("details[open]"))).toContain('<img src=x onerror="document.title=1">\\u{202e}gpj');
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.title()).toBe("Verified · attestd");
  });

  test("does not believe a key list that takes back what an earlier one said", async () => {
    const context = await visitor();
    let served = retired;
    await context.route("**/.well-known/attestor-keys.json", (route) => route.fulfill({ json: served }));
    const page = await openPage(context, world.url);
    await choose(page, file(bundle));
    await page.waitForSelector("[data-state=verified]");
    served = testHistory([{ attestor: successor, fromRound: 1 }]);
    await page.reload();
    await page.getByText("The key list served here takes back").waitFor();
    await choose(page, file(bundle));
    await page.waitForSelector("[data-state=verified]");
  });

  test.each(Object.entries(HISTORIES))(
    "says of every bundle of the table, by the history %s, what is right",
    async (keys, history) => {
      const page = await visit(history);
      const cases = CASES.filter((one) => one.keys === keys);
      const judgements = await judgeAll(
        page,
        cases.map(({ text }) => text),
      );
      const verdicts = judgements.map(({ state, failed }, index) => ({
        name: cases[index]?.name,
        isVerified: state === "verified" || state === "warning",
        // What is no bundle at all has no checks to show.
        failed: state === "unreadable" ? ["schema"] : failed,
      }));
      expect(verdicts).toEqual(cases.map(({ name, failed }) => ({ name, isVerified: failed.length === 0, failed })));
    },
  );

  const STATES: [string, GivenFile, KeyHistory?][] = [
    ["verified", file(bundle)],
    ["inclusion", file(testInclusionBundle({ block: testBaseBlock(3), round: ROUND }))],
    ["warning", file(testBundle({ chain: "base", txnBytes: usdcTransfer(), round: ROUND, level: "included" }))],
    ["unknown", file(testBundle({ attestor: testAttestor("stranger") }))],
    ["revoked", file(bundle), revoked],
    ["failed", file(tampered)],
    ["schema", file({ ...bundle, extra: 1 })],
    ["unreadable", file({ hello: "world" })],
  ];

  test.each(STATES)("is accessible in both themes and on a phone: %s", async (name, given, history = current) => {
    const page = await judged(given, history);
    for (const details of await page.locator("details").all()) await details.locator("summary").click();
    await expectAccessible(page, name);
  });

  test.each(["#verify", "#keys", "#buy"])("is accessible in both themes and on a phone: %s", async (fragment) => {
    const page = await visit(current, fragment);
    await page.waitForSelector("h1");
    await expectAccessible(page, fragment.slice(1));
  });

  async function expectAccessible(page: Page, name: string): Promise<void> {
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    expect(await violations(page), name).toEqual([]);
    // All that a theme changes are colours.
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await violations(page, ["color-contrast"]), name).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await pageWidth(page)).toBe(320);
    const small = await page
      .locator("button:visible, nav a, summary:visible")
      .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML));
    expect(small, name).toEqual([]);
  }

  test("prints a certificate whose code leads back to a verified page", async () => {
    const page = await visit();
    await choose(page, file(bought));
    const [saving] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save certificate" }).click(),
    ]);
    const svg = await read(await saving.createReadStream());
    expect(svg).toContain("SANDBOX - NOT REAL");

    const url = (await codeOf(svg, await visitor())) ?? "no code";
    expect(url).toMatch(new RegExp(`^${world.url}/#c1\\.[\\w-]{43}\\.${bought.attest.txnId}$`));
    const led = await openPage(await visitor(), url);
    await led.waitForSelector("[data-state=warning]");
    expect(await verdict(led)).toContain("It is the one that the certificate names.");

    await led.evaluate("document.querySelector('main').replaceChildren()");
    await drop(led, { name: "certificate.svg", contents: svg });
    await led.waitForSelector("[data-state=warning]");

    const keys = parseKeyHistory(await (await fetch(`${world.url}/.well-known/attestor-keys.json`)).json());
    const report = verify(bought, { trust: keys });
    const list = { history: keys, since: 0, from: "file" as const };
    const contents = certificateContents(
      { report, bundle: bought, subject: subjectOf(bought), keys: list },
      new Date(),
    );
    const pdf = await toPdf(layOut(contents, "a4"), Buffer.from(JSON.stringify(bought)), contents.title, new Date());
    await led.evaluate("document.querySelector('main').replaceChildren()");
    await drop(led, { name: "certificate.pdf", contents: pdf });
    await led.waitForSelector("[data-state=warning]");

    // In the place of the browser's dialog: what would be on paper.
    await led.emulateMedia({ media: "print" });
    await led.evaluate(`globalThis.print = () => {
      globalThis.onPaper = [...document.body.children].filter((one) => one.checkVisibility()).map((one) => one.className);
      dispatchEvent(new Event("afterprint"));
    }`);
    await led.evaluate(
      "[...document.querySelectorAll('button')].find((one) => one.textContent === 'Print certificate').click()",
    );
    expect(await led.evaluate("onPaper")).toEqual(["certificate"]);
    expect(await led.locator(".certificate").count()).toBe(0);
  });

  test("on paper is without buttons, and with all that was folded away", async () => {
    const page = await judged(file(bundle));
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    expect(await page.locator("button:visible, nav:visible").count()).toBe(0);
    expect(await page.locator("details:not([open])").count()).toBe(0);
    expect(await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")).toBe(
      "rgb(255, 255, 255)",
    );
  });

  test("asks for the file that a certificate names where it cannot be fetched, and takes no other", async () => {
    const fragment = new URL(pointerUrl(world.url, bundle)).hash;
    const page = await visit(current, fragment);
    await page.getByText("This certificate names one attestation").waitFor();
    await choose(page, file(testBundle()));
    await page.getByText("Another attestation than the one on the certificate.").waitFor();
    await page.goto("about:blank");
    await page.goto(`${world.url}/${fragment}`);
    await choose(page, file(bundle));
    await page.waitForSelector("[data-state=verified]");
  });

  describe("buying", () => {
    const txid = () => world.sandbox.sampleTransactions.base as string;
    const wallets = async () => {
      const context = await visitor();
      const { payers, baseRpcUrl } = world.sandbox;
      return { context, wallet: await injectWallet(context, payers.base?.privateKey as Hex, baseRpcUrl as string) };
    };
    const received = () =>
      createPublicClient({ transport: http(world.sandbox.baseRpcUrl) }).readContract({
        address: BASE_USDC,
        abi: USDC_ABI,
        functionName: "balanceOf",
        args: [world.sandbox.payTo.base as Hex],
      });
    const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

    async function review(context: BrowserContext): Promise<Page> {
      const page = await openPage(context, `${world.url}/#buy`);
      await page.getByLabel("Transaction").fill(txid());
      await press(page, "See the price");
      await page.getByRole("heading", { name: "Review" }).waitFor();
      return page;
    }

    test("shows amount, payee and expiry before the wallet opens; then pays once, and keeps the bundle", async () => {
      const { context, wallet } = await wallets();
      const before = await received();
      const page = await review(context);
      expect(wallet.asked).not.toContain("eth_requestAccounts");
      await press(page, "Connect wallet");
      await page.getByText(/^[\d,]+\.\d\d USDC$/).waitFor();
      await expectAccessible(page, "review");

      let seen = "";
      let message: Record<string, string> = {};
      wallet.onSign = async (typedData) => {
        seen = await shown(page.locator("main"));
        ({ message } = typedData);
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
      expect(seen).toContain(`move exactly 0.001 USDC to that address before ${expiry}`);
      expect(seen.replace(/\s/g, "")).toContain(world.sandbox.payTo.base);
      expect(seen).toContain("USD Coin (attestd sandbox)");
      expect(message).toMatchObject({ value: "1000", to: world.sandbox.payTo.base });
      expect(await received()).toBe(before + 1000n);
      expect(wallet.signatures).toBe(1);
      await expectAccessible(page, "done");

      await press(page, "Show the attestation");
      await page.waitForSelector("[data-state=warning]");
      expect(await shown(page.locator("main"))).toContain("on Base");
      await page.goto(`${world.url}/#buy`);
      await page.getByRole("heading", { name: "Saved on this device" }).waitFor();
    });

    test("goes on with a signed payment after a reload: the same bundle, one payment, no button to pay again", async () => {
      const { context, wallet } = await wallets();
      const before = await received();
      let isDown = true;
      // Holds the payment that a reloaded page sends, for what the page shows meanwhile.
      const looked = Promise.withResolvers<void>();
      const payments = new Set<string>();
      await context.route("**/attest", async (route) => {
        const payment = route.request().headers()["payment-signature"];
        if (payment === undefined) return route.continue();
        payments.add(payment);
        if (!isDown) return looked.promise.then(() => route.continue()).catch(() => undefined);
        // The service has it, and its answer is lost.
        await post(`${world.url}/attest`, { txid: txid() }, { "payment-signature": payment });
        const json = { code: "attestation_pending", retry: { sameHeader: true } };
        return route.fulfill({ status: 503, headers: { "retry-after": "1" }, json });
      });
      const page = await review(context);
      await press(page, "Connect wallet");
      await press(page, "Sign and pay 0.001 USDC");
      await page.getByText("Still working. Don't pay again.").first().waitFor();
      expect(await page.getByRole("button").count()).toBe(0);
      expect(await shown(page.locator("[data-step=now]"))).toContain("Recording");
      await expectAccessible(page, "working");

      isDown = false;
      await page.reload();
      await page.getByText("Continuing your paid call.").first().waitFor();
      expect(await page.getByRole("button").count()).toBe(0);
      looked.resolve();
      await page.getByRole("heading", { name: "Bought and saved" }).waitFor();
      expect({ signed: wallet.signatures, sent: payments.size }).toEqual({ signed: 1, sent: 1 });
      expect(await received()).toBe(before + 1000n);
      await page.reload();
      await page.getByRole("heading", { name: "Buy an attestation" }).waitFor();
    });

    test("lets only a 402 unlock another payment", async () => {
      const { context, wallet } = await wallets();
      let answer: object = { status: 404, json: { code: "source_not_found", detail: "No such transaction." } };
      await context.route("**/attest", (route) =>
        route.request().headers()["payment-signature"] === undefined ? route.continue() : route.fulfill(answer),
      );
      const page = await review(context);
      await press(page, "Connect wallet");
      await press(page, "Sign and pay 0.001 USDC");
      await page.getByRole("heading", { name: "Not attested" }).waitFor();
      expect(await page.getByRole("button").allInnerTexts()).toEqual(["Ask again", "Another transaction"]);
      const unpaid = await post(`${world.url}/attest`, { txid: txid() });
      answer = {
        status: 402,
        headers: { "payment-required": unpaid.headers.get("payment-required") },
        body: unpaid.text,
      };
      await press(page, "Ask again");
      await page.getByRole("heading", { name: "Not paid" }).waitFor();
      await press(page, "See the price again");
      await page.getByRole("button", { name: "Sign and pay 0.001 USDC" }).waitFor();
      expect(wallet.signatures).toBe(1);
    });

    test("says what a wallet would not do, before and without any payment", async () => {
      const { context, wallet } = await wallets();
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
      // Signed, but not wanted any more.
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

    test("without a wallet, or for Algorand, names the command", async () => {
      const page = await review(await visitor());
      expect(await shown(page.locator("pre"))).toContain(`npx attestd attest ${txid()} --service ${world.url}`);
      await press(page, "Cancel");
      await page.getByLabel("Transaction").fill(world.sandbox.sampleTransactions.algorand);
      await press(page, "See the price");
      await page.getByText("An Algorand transaction is paid with Algorand USDC").waitFor();
      await page.getByLabel("Transaction").fill("0x12");
      await press(page, "See the price");
      await page.getByText("That is no transaction id").waitFor();
    });
  });

  test("is served so that caches and other sites can do no harm", async () => {
    const answer = await fetch(world.url);
    expect(answer.headers.get("content-security-policy")).toMatch(
      /default-src 'none'.*connect-src 'self'.*frame-ancestors 'none'/,
    );
    const html = await answer.text();
    const etag = answer.headers.get("etag") as string;
    expect((await fetch(world.url, { headers: { "if-none-match": etag } })).status).toBe(304);
    const [script = ""] = /\/assets\/page-\w+\.js/.exec(html) ?? [];
    const asset = await fetch(new URL(script, world.url));
    expect(asset.headers.get("cache-control")).toContain("immutable");
    expect((await fetch(world.url, { method: "POST" })).headers.get("allow")).toBe("GET, HEAD");
  });

  test.skipIf(PICTURES === undefined)("has its picture taken", async () => {
    await mkdir(PICTURES as string, { recursive: true });
    const folder = PICTURES as string;
    const take = async (page: Page, name: string) => writeFile(join(folder, `${name}.png`), await page.screenshot());
    const look = async (page: Page, width: number, height: number, colorScheme: "light" | "dark" = "light") => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
    };
    // As it looks at an address of its own: no address of this machine is in a picture.
    const hideAddress = (page: Page) =>
      page.evaluate(`for (const hint of document.querySelectorAll("#ledger-hint"))
        hint.textContent = hint.textContent.replaceAll(location.host, "attestd.example")`);
    for (const [name, given, history, width, scheme] of [
      ["verified", bundle, current, 800, "light"],
      ["verified-dark", bundle, current, 800, "dark"],
      ["not-verified", tampered, current, 800, "light"],
      ["phone", bundle, current, 390, "light"],
    ] as const) {
      const page = await judged(file(given), history);
      await hideAddress(page);
      await look(page, width, width === 390 ? 844 : 700, scheme);
      await take(page, name);
    }
    const page = await judged(file(bundle));
    const [saving] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save certificate" }).click(),
    ]);
    const svg = await read(await saving.createReadStream());
    const sheet = await page.context().newPage();
    await look(sheet, 794, 1123);
    await sheet.setContent(`<body style="margin:0">${svg}</body>`);
    await take(sheet, "certificate");
  });
});

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** What the code on a certificate says. */
async function codeOf(svg: string, context: BrowserContext): Promise<string | undefined> {
  const page = await context.newPage();
  await page.setViewportSize({ width: 800, height: 400 });
  await page.setContent(`<body style="margin:0">${svg}</body>`);
  return readCode(await page.screenshot());
}

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
