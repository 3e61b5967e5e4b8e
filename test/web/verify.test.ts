import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer as whole } from "node:stream/consumers";
import type { KeyHistory, ProofBundle } from "@attestd/proof";
import { checkpointEntry, checkpointTableHead, proveCheckpoint } from "@attestd/proof/evidence";
import { type BundleInFile, readFileContents } from "@attestd/web/bundle-file";
import type { SettleResponse } from "@x402/core/types";
import type { Browser, Page } from "playwright-core";
import { getAddress, isAddress, recoverTransactionAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CASES, HISTORIES } from "../../docs/verify/bundles.ts";
import { usdcTransfer } from "../../packages/web/example.ts";
import { TEST_STATEMENTS, testBundle, testHistory, testPayment } from "../bundles/bundles.ts";
import { testEvidence } from "../bundles/evidence.ts";
import { withOrigin } from "../e2e/key-histories.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import {
  choose,
  drop,
  dropEach,
  type GivenFile,
  judgeAll,
  openPage,
  paste,
  pressByKeyboard,
  shown,
  startBrowser,
  watchFocus,
} from "./browser.ts";
import { manyFiles } from "./many.ts";
import {
  attestor,
  bundle,
  checkFile,
  closeSite,
  current,
  file,
  ROUND,
  retired,
  revoked,
  type Site,
  startSite,
  stranger,
  successor,
  tampered,
} from "./site.ts";
import { certificate } from "./states.ts";

/** A list with only a stranger's key, in the site's own name. */
const strangers = testHistory([{ attestor: stranger, fromRound: 1 }]);

const browser: Browser | undefined = await startBrowser();
afterAll(() => browser?.close());

describe.skipIf(!browser)("the page checks", () => {
  let site: Site;
  /** Bought from the site's service. */
  let bought: ProofBundle;
  /** The answer's PAYMENT-RESPONSE, in which the service's signed receipt is. */
  let settlement: SettleResponse;
  beforeAll(async () => {
    site = await startSite(browser as Browser);
    ({ bought, settlement } = await site.buyWithReceipt());
  });
  afterAll(() => closeSite(site));
  const checked = (given: GivenFile, history?: KeyHistory) => site.check(given, history);

  /** The heading that has the focus. */
  const focused = (page: Page) => shown(page.locator("h1:focus"));
  const verdict = (page: Page) => shown(page.locator(".verdict"));
  const links = (page: Page) =>
    page.locator("main a[href^=https]").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  /** The outline of the page, from the top. */
  const outline = (page: Page) =>
    page
      .locator("main :is(h1, button.primary, h2, summary, .limits)")
      .evaluateAll((all) => all.map((one) => (one.classList.contains("limits") ? "limits" : one.textContent)));

  test("a bundle without any request, and claims no more than the bundle proves", async () => {
    const page = await checked(file({ hello: "world" }));
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await checkFile(page, file(bundle));
    expect(await focused(page)).toBe("Verified");
    expect(await page.title()).toBe("Verified · attestd");
    expect(await verdict(page)).toContain(
      `This file is unchanged, and attestd.example signed it.\n\nIt states that this Base transaction was recorded on Algorand in round ${ROUND}.\n\nNothing was uploaded. Not yet compared with the ledger.`,
    );
    const visible = await shown(page.locator("main"));
    expect(visible).not.toContain("is recorded");
    // The block's own time, which the note states; the time of the record is not known.
    expect(visible.match(/.*\d\d:\d\d.*/g)).toEqual(["28 May 2026 at 20:26:40 UTC, by its block's clock"]);
    expect(visible).toMatch(/USDC transfer on Base, 25\.00 USDC.*about May 2026, estimated from the round/s);
    expect(await page.locator(".checks [data-result=pass]").count()).toBe(6);
    expect(await page.locator(".checks [data-result=not_checked]").count()).toBe(2);
    expect(await links(page)).toEqual([
      `https://basescan.org/block/${TEST_STATEMENTS.base?.n}`,
      `https://basescan.org/tx/${bundle.source.txnId}`,
      `https://allo.info/tx/${bundle.attest.txnId}`,
    ]);
    expect(await outline(page)).toEqual([
      "Verified",
      "Check on the ledger",
      "What was attested",
      "Checks",
      "Decoded transaction",
      "Note on the ledger",
      "JSON",
      "How to verify without this site",
      "limits",
    ]);
    expect(requests).toEqual([]);
  });

  test("a transfer that failed, and leads with its failure", async () => {
    const failed = testBundle({ chain: "base", txnBytes: usdcTransfer(), round: ROUND, statement: { s: 0 } });
    const page = await checked(file(failed));
    expect(await focused(page)).toBe("Verified, with a warning");
    expect(await verdict(page)).toMatch(/^Verified, with a warning\s+Failed on Base: nothing moved\.\n/);
    const headline = page.locator(".headline[data-tone=failed]");
    expect(await shown(headline)).toBe("Failed on Base: nothing moved\n\nTried: USDC transfer on Base, 25.00 USDC.");
    expect(await headline.locator("h3 .icon path").getAttribute("d")).toBeTruthy();
    // The sender is the account that viem recovers from the signature.
    const serializedTransaction = `0x02${Buffer.from(usdcTransfer().subarray(1)).toString("hex")}` as const;
    const payer = await recoverTransactionAddress({ serializedTransaction });
    const rows = await page.locator("main > .facts > div").allInnerTexts();
    const facts = Object.fromEntries(rows.map((row) => row.split(/\n+/).map((part) => part.trim())));
    expect(facts).toMatchObject({
      From: payer,
      To: getAddress(`0x${Buffer.from("receiver-of-25-usdc!").toString("hex")}`),
      Amount: "25.00 USDC",
      Outcome: "Failed: nothing moved. Its network fee was paid.",
      Block: `${TEST_STATEMENTS.base?.n} of Base`,
    });
    expect(await shown(page.locator("main"))).not.toMatch(/\bsent\b|succeeded/i);
  });

  test("a changed file, shows what failed first, and shows none of its claims as facts", async () => {
    const page = await checked(file(tampered));
    expect(await focused(page)).toBe("Not verified");
    expect(await verdict(page)).toContain("Changed after signing, or another file's signature. Don't rely on it.");
    expect(await outline(page)).toEqual([
      "Not verified",
      "What failed",
      "4 checks passed",
      "2 checks not made",
      "What the file claims. Not proven.",
      "JSON",
      "limits",
    ]);
    expect(await page.locator("details[open]").count()).toBe(0);
    expect(await page.locator("main > ol .label").allInnerTexts()).toEqual(["Signature", "Fingerprint"]);
    const [stated, computed] = [tampered.source.hashSha256, bundle.source.hashSha256];
    const values = page.locator("main > ol .values dd");
    expect(await values.allInnerTexts()).toEqual([stated, computed]);
    expect(await values.locator("mark").allInnerTexts()).toEqual([stated.at(-1), computed.at(-1)]);
    const lines = "[...document.querySelectorAll('mark')].map((one) => getComputedStyle(one).textDecorationLine)";
    expect(await page.evaluate(lines)).toEqual(["underline", "underline"]);
    expect(await links(page)).toEqual([]);
    expect(await shown(page.locator("main"))).not.toMatch(/signed by|certificate/i);
    await page.getByText("4 checks passed").click();
    expect(await shown(page.locator("details .checks").first())).toContain(
      "The file names a key of attestd.example; unconfirmed.",
    );
  });

  test("a bundle of an unknown signer, and accepts the signer's key list when it is dropped", async () => {
    const page = await site.open(current);
    await checkFile(page, file(testBundle({ attestor: stranger })));
    expect(await focused(page)).toBe("Signer unknown");
    expect(await page.locator(".verdict").getAttribute("data-tone")).toBe("caution");
    expect(await verdict(page)).toContain("Unchanged, but its key is in no history here. Anyone could have made it.");
    expect(await links(page)).toEqual([]);
    await drop(page, file(withOrigin("https://stranger.example", strangers), "keys.json"));
    await page.waitForSelector("[data-state=verified]");
    // The author of the bundle may have written the list too.
    expect(await verdict(page)).toContain("The signer is known from the key list that you gave, not from this site.");
    expect(await verdict(page)).toMatch(/Rests on the key list in keys\.json, written on \d{4}-\d\d-\d\d\./);
  });

  test.each(["", "#keys"])("a bundle by a key list that was dropped just before it, at /%s", async (view) => {
    const list = file(withOrigin("https://stranger.example", strangers), "keys.json");
    const given = file(testBundle({ attestor: stranger }));
    const page = await site.open(current, view);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await dropEach(page, [list], [given]);
    await page.waitForSelector("[data-state]");
    expect(await page.locator("[data-state]").getAttribute("data-state")).toBe("verified");
    expect(await focused(page)).toBe("Verified");
    expect(new URL(page.url()).hash).toBe(view && "#verify");
  });

  test.each<[string, KeyHistory, typeof stranger?]>([
    ["another key", strangers],
    ["another key, by another scheme", withOrigin("http://attestd.example", strangers)],
    [
      "a successor, endorsed with a stolen key, of which the site knows nothing",
      testHistory([
        { attestor, fromRound: 1 },
        { attestor: stranger, fromRound: 500 },
      ]),
      // The bundle may claim the attestor's account; only the ledger shows that it never sent the note.
      { ...stranger, algorandAddress: attestor.algorandAddress },
    ],
  ])(
    "a bundle with caution when a dropped key list gives the site's own name %s",
    async (_, forged, signer = stranger) => {
      const page = await site.open(current);
      await drop(page, file(testBundle({ attestor: signer })), file(forged, "keys.json"));
      await page.waitForSelector("[data-state=warning]");
      expect(await page.locator(".verdict").getAttribute("data-tone")).toBe("caution");
      expect(await verdict(page)).toMatch(
        /key list that you gave contradicts attestd\.example's own|own list, of [\d-]+, does not have this key/,
      );
      expect(await links(page)).toEqual([]);
      expect(await page.getByRole("button", { name: /certificate/i }).count()).toBe(0);
      await page.goto(`${site.deployment.url}/#keys`);
      await page.getByText(/contradicts attestd\.example's own|does not have this key/).waitFor();
    },
  );

  test("by the site's own key list when that continues a dropped one", async () => {
    const page = await site.open(revoked);
    // A list from before the key was withdrawn.
    await drop(page, file(current, "keys.json"));
    await checkFile(page, file(bundle));
    expect(await page.locator(".verdict").getAttribute("data-state")).toBe("revoked");
    expect(await verdict(page)).toContain(`Rests on the key list of ${new URL(site.deployment.url).host}, fetched on `);
  });

  test("by a pasted key list as by an old one, because it has no date", async () => {
    const page = await site.open({ ...current, keys: [] } as KeyHistory);
    await paste(page, JSON.stringify(current));
    await page.getByRole("heading", { name: "Trusted keys" }).waitFor();
    await drop(page, file(bundle));
    await page.waitForSelector("[data-state=warning]");
    expect(await verdict(page)).toContain("Key list is from an unknown date; later withdrawals don't show.");
  });

  test("the text of a certificate against its bundle", async () => {
    const svg = (from: string, to: string): GivenFile => ({
      name: "c.svg",
      contents: certificate().replaceAll(from, to),
    });
    const page = await checked(svg("", ""));
    expect(await focused(page)).toBe("Verified");
    expect(await verdict(page)).toContain(
      "The certificate's text matches its bundle. Only its maker states that it was checked on ",
    );

    await checkFile(page, svg("25.00 USDC", "9,999,999.00 USDC"));
    expect(await focused(page)).toBe("Not verified");
    expect(await page.locator(".verdict").getAttribute("data-tone")).toBe("failed");
    expect(await verdict(page)).toContain("The certificate's text does not match its bundle");
    expect(await page.locator("main > ol .label").allInnerTexts()).toEqual(["Certificate"]);
    expect((await page.locator("main > ol .values dd").allInnerTexts()).join(" ")).toContain("9,999,999.00 USDC");
    expect(await links(page)).toEqual([]);
    expect(await page.getByRole("button", { name: /certificate/i }).count()).toBe(0);

    await checkFile(page, svg("layout&quot;:2", "layout&quot;:3"));
    expect(await focused(page)).toBe("Text not compared");
    expect(await page.locator(".verdict").getAttribute("data-tone")).toBe("caution");
    expect(await verdict(page)).toContain("another version of attestd made it. Don't rely on it.");
    expect(await page.getByRole("button", { name: /certificate/i }).count()).toBe(0);
  });

  test("a bundle of a replaced key, which stays verified", async () => {
    const page = await checked(file(bundle), retired);
    expect(await focused(page)).toBe("Verified");
    expect(await page.locator(".verdict").getAttribute("data-tone")).toBe("passed");
    expect(await verdict(page)).toContain(`signed it with a key current in round ${ROUND}, replaced since.`);
    expect(await shown(page.locator(".checks"))).toContain(
      `A key of attestd.example, current in round ${ROUND}, replaced in ${ROUND + 1000}.`,
    );
  });

  test("a bundle of a withdrawn key, which is verified only when the ledger shows the record", async () => {
    const page = await checked(file(bundle), revoked);
    expect(await focused(page)).toBe("Not verified");
    expect(await verdict(page)).toMatch(
      /Key withdrawn in round \d+; .* can't be believed\.\s+The ledger check can show/,
    );
    const report = { checks: { chainSource: "pass", chainAttest: "pass" }, failures: [] };
    await page.route("**/verify?chain=1", (route) => route.fulfill({ json: report }));
    await page.getByRole("button", { name: "Check on the ledger" }).click();
    await page.waitForSelector("[data-state=verified_found]");
    expect(await verdict(page)).toMatch(
      /key withdrawn in round \d+, after the ledger had recorded it.*is recorded on Algorand/s,
    );
  });

  test.each<[string, GivenFile, string]>([
    ["a file that is not JSON", { name: "text.json", contents: '{\n"version": 1,\n oops' }, "Not JSON (line 3)."],
    ["JSON that is not a bundle", file({ hello: "world" }), "No bundle, receipt or key list of attestd."],
    [
      "a picture",
      { name: "a.png", contents: Uint8Array.of(137, 80, 78, 71, 255) },
      "Not JSON: it is not text in UTF-8.",
    ],
    ["another PDF", { name: "a.pdf", contents: "%PDF-1.7\n%%EOF" }, "carries no bundle"],
    ["an invalid key list", file({ ...retired, keys: retired.keys.slice(0, 1) }), "Not a valid key list"],
  ])("%s, and shows why it can't be read", async (_, given, why) => {
    const page = await checked(given);
    expect(await focused(page)).toBe("Can't read this file");
    expect(await verdict(page)).toContain(why);
  });

  test("no file that is larger than any bundle or evidence, and does not read it", async () => {
    await using folder = await temporaryFolder();
    const big = join(folder.path, "big.json");
    await writeFile(big, "");
    await truncate(big, 10_000_000);
    const page = await checked(file({ hello: "world" }));
    await page.getByRole("button", { name: "Check another" }).click();
    await choose(page, big);
    await page.waitForSelector("[data-state=unreadable]");
    expect(await verdict(page)).toContain("10.0 MB; bundles are smaller.");
  });

  test("pasted text, and an example whose key is trusted for the example only", async () => {
    const page = await checked(file({ hello: "world" }));
    await page.getByRole("button", { name: "Check another" }).click();
    await page.getByRole("button", { name: "Example" }).click();
    await page.waitForSelector("[data-state=warning]");
    expect(await verdict(page)).toMatch(/Sandbox, not real\..*It is trusted for this example only\./s);
    await page.getByRole("button", { name: "Check another" }).click();
    await paste(page, JSON.stringify(bundle));
    await page.waitForSelector("[data-state=verified]");
    expect(await verdict(page)).not.toContain("example only");
  });

  test("and copies whole ids, and confirms it", async () => {
    const page = await checked(file(bundle));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const copies = page.getByRole("button", { name: /^Copy / });
    const [count, labels] = [await copies.count(), [] as (string | null)[]];
    const copied: string[] = [];
    for (let index = 0; index < count; index++) {
      await copies.nth(index).focus();
      await page.keyboard.press("Space");
      const confirmation = page.getByRole("button", { name: /^Copied / });
      await confirmation.waitFor();
      labels.push(await confirmation.getAttribute("aria-label"));
      copied.push(await page.evaluate<string>("navigator.clipboard.readText()"));
      await page.locator("h1").focus();
    }
    const { source, attest, attestor } = bundle;
    const { algorandAddress } = attestor;
    const [from, to, ...rest] = copied;
    expect([from, to].every((account) => isAddress(account ?? ""))).toBe(true);
    const ids = [TEST_STATEMENTS.base?.b, source.txnId, source.hashSha256, attest.txnId, current.keys[0]?.kid];
    expect(rest).toEqual([...ids, algorandAddress]);
    const named = ["from", "to", "block hash", "transaction", "fingerprint", "record", "key", "attestor's account"];
    expect(labels).toEqual(named.map((what) => `Copied ${what}`));
  });

  test("without a network once it was loaded, also after a reload", async () => {
    const context = await site.newContext(undefined, { serviceWorkers: "allow" });
    const page = await openPage(context, site.deployment.url);
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
    await context.setOffline(true);
    await choose(page, file(bought));
    await page.waitForSelector("[data-state=warning]");
    expect(await shown(page.locator("#offline"))).toBe(
      "Offline. Files can be checked; the ledger can't be asked, and nothing can be bought.",
    );
    await page.getByRole("button", { name: "Check on the ledger" }).click();
    await page.getByText("Couldn't ask the ledger; the result stands.").waitFor();

    await page.reload();
    await page.waitForSelector("#ready", { state: "attached" });
    await choose(page, file(bought));
    await page.waitForSelector("[data-state=warning]");
  });

  test("the evidence beside a bundle, by the stake that a given checkpoint commits to, without a network", async () => {
    const { bundle: recorded, evidence, checkpoint, inclusion, stateProof } = testEvidence();
    const table = { ...checkpoint, firstRound: checkpoint.round, interval: 16, entries: checkpointEntry(checkpoint) };
    const published = { ...checkpointTableHead(table), last: [checkpoint] };
    const page = await site.open(current);
    await page.context().setOffline(true);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    const stated = "It states that this Algorand transaction was recorded on Algorand in round 1000.";
    const row = (result: string) => page.locator(`.checks [data-result=${result}]`, { hasText: "Evidence" });

    await checkFile(page, file(recorded));
    expect(await verdict(page)).toContain(stated);
    expect(await shown(page.locator(".checks"))).not.toContain("Evidence");
    await checkFile(page, file(evidence, "e.json"));
    expect(await verdict(page)).toContain(`${stated}\n\nIts evidence shows the block, but no stake`);
    await row("not_checked").waitFor();
    await checkFile(page, file(checkpoint, "c.json"));
    expect(await verdict(page)).toContain(
      "This Algorand transaction is recorded on Algorand in round 1000, 2026-05-28 20:27:01 UTC: stake of more than 599,900,000 ALGO signed for its block.\n\nThat rests on the checkpoint of round 992, in c.json, which you gave.\n\nNothing was uploaded.",
    );
    expect(await shown(page.locator(".facts").first())).toContain("round 1000; 2026-05-28 20:27:01 UTC");
    expect(await shown(row("pass"))).toContain("signed for the blocks of the record and of what it attests");

    // All at once, in the order in which nothing is of use to what comes after it; by the root of a published table.
    const fresh = await site.open(current);
    await fresh.context().setOffline(true);
    const path = proveCheckpoint(table, 0);
    const rooted = { ...evidence, items: [inclusion, { ...stateProof, path }] };
    await drop(fresh, file(recorded), file(rooted, "e.json"), file(published, "t.json"));
    await fresh.waitForSelector("[data-state]");
    expect(await shown(fresh.locator(".verdict"))).toContain("round 992, by the root in t.json, which you gave.");

    // Wrong evidence fails the bundle; another bundle's is left alone.
    await checkFile(page, file({ ...evidence, items: [{ ...inclusion, index: 0 }, stateProof] }, "wrong.json"));
    expect(await focused(page)).toBe("Not verified");
    expect(await verdict(page)).toContain("Its evidence contradicts it.");
    await row("fail").waitFor();
    await checkFile(page, file(bundle));
    expect(await focused(page)).toBe("Verified");
    expect(requests).toEqual([]);
  });

  test("fetches the evidence of a bundle that this site delivered, saves it, and makes certificates that carry it", async () => {
    const { bundle: recorded, evidence, checkpoint } = testEvidence();
    const page = await site.open(current);
    const answers = [{ status: 202, json: { status: "pending", round: 1000 } }, { json: evidence }];
    const asked: string[] = [];
    await page.route("**/bundles/*/evidence", (route) => {
      asked.push(new URL(route.request().url()).pathname);
      return route.fulfill(answers.shift() as object);
    });
    await checkFile(page, file(recorded));
    await page.getByRole("button", { name: "Fetch evidence" }).click();
    await page.getByText("No evidence yet: no state proof attests the round of the record so far.").waitFor();
    await page.getByRole("button", { name: "Fetch evidence" }).click();
    await page.getByText("Its evidence shows the block, but no stake").waitFor();
    const { bundle: sha256 } = evidence;
    const id = Buffer.from(sha256.replace("sha256:", ""), "hex").toString("base64url");
    expect(asked).toEqual(Array(2).fill(`/bundles/${id}/evidence`));
    const save = async (name: string) => {
      const saving = page.waitForEvent("download");
      await page.getByRole("button", { name }).click();
      return whole(await (await saving).createReadStream());
    };
    expect(JSON.parse(String(await save("Save evidence")))).toEqual(evidence);
    const certificate = await save("Save certificate");

    const offline = await site.open(current);
    await offline.context().setOffline(true);
    await drop(offline, file(checkpoint, "c.json"), { name: "certificate.pdf", contents: certificate });
    await offline.waitForSelector("[data-state=verified]");
    const text = await shown(offline.locator(".verdict"));
    expect(text).toContain("stake of more than 599,900,000 ALGO signed for its block.");
    expect(text).toContain("The certificate's text matches its bundle.");
  });

  manyFiles(() => site);

  test("a payment's receipt, by itself and beside its bundle", async () => {
    const page = await site.open();
    await checkFile(page, file(settlement, "b.receipt.json"));
    expect(await focused(page)).toBe("Verified, with a warning");
    expect(await verdict(page)).toMatch(
      /Sandbox, not real\..*receipt is unchanged.*names the payment, not the bundle/s,
    );
    const facts = await shown(page.locator(".facts"));
    for (const fact of [settlement.transaction, settlement.payer as string, `${site.deployment.url}/attest`])
      expect(facts.replaceAll("\n", "")).toContain(fact);
    await drop(page, file(bought), file(settlement, "b.receipt.json"));
    await page.getByRole("heading", { name: "2 of 2 files verified" }).waitFor();

    const text = JSON.stringify(settlement);
    const [, payload = ""] = /"signature":"[\w-]+\.([\w-]+)\./.exec(text) ?? [];
    const paid = JSON.parse(Buffer.from(payload, "base64url").toString());
    const forged = Buffer.from(JSON.stringify({ ...paid, issuedAt: paid.issuedAt - 1 })).toString("base64url");
    await checkFile(page, { name: "forged.json", contents: text.replace(payload, forged) });
    expect(await focused(page)).toBe("Not verified");
    expect(await shown(page.locator("main"))).not.toContain("Paid by");
    const elsewhere = await site.open(current);
    await checkFile(elsewhere, file(settlement));
    expect(await focused(elsewhere)).toBe("Signer unknown");
    expect(await elsewhere.getByRole("button", { name: "Choose a key list" }).count()).toBe(1);
    expect((await shown(elsewhere.locator(".facts"))).replaceAll("\n", "")).toContain("Signer's key");
    // The list of that other ledger can be given here.
    await checkFile(elsewhere, file(bought));
    expect(await focused(elsewhere)).toBe("Made for another ledger");
    expect(await elsewhere.getByRole("button", { name: "Choose a key list" }).count()).toBe(1);
  });

  test("a slow file with a notice, and can be cancelled", async () => {
    const context = await site.newContext();
    // The key list never arrives, and without it nothing is judged.
    await context.route("**/.well-known/attestor-keys.json", () => undefined);
    const page = await openPage(context, site.deployment.url);
    await page.getByRole("button", { name: "Choose files" }).focus();
    await choose(page, file(bundle));
    // The element that had the focus is gone: the new view has it.
    await expect.poll(() => focused(page)).toBe("Reading…");
    expect(await shown(page.getByRole("status"))).toBe("Reading…");
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await focused(page)).toBe("Check an attestation");
  });

  test("against the ledger on request, with the keyboard alone", async () => {
    const context = await site.newContext();
    const lost = await watchFocus(context);
    const page = await openPage(context, site.deployment.url);
    const press = (name: string) => pressByKeyboard(page, name);
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), press("Choose files")]);
    const buffer = Buffer.from(JSON.stringify(bought));
    await chooser.setFiles({ name: "b.json", mimeType: "application/json", buffer });
    await page.waitForSelector("[data-state=warning]");
    expect(await focused(page)).toBe("Verified, with a warning");
    expect(await verdict(page)).toMatch(/Sandbox, not real\..*states that.*Not yet compared/s);
    await press("Check on the ledger");
    await page.getByText("Compared with the ledger by").waitFor();
    expect(await focused(page)).toBe("Found on the ledger, with a warning");
    const today = new Date().toISOString().slice(0, 10);
    expect(await verdict(page)).toContain(
      `This Algorand transaction is recorded on the sandbox's ledger in round ${bought.attest.round}, ${today} `,
    );
    expect(await links(page)).toEqual([]);
    const [saving] = await Promise.all([page.waitForEvent("download"), press("Save certificate")]);
    const { making } = (await readFileContents(await whole(await saving.createReadStream()))) as BundleInFile;
    expect(Buffer.from(making ?? []).toString()).toMatch(/"ledger":\{"askedOf":"127\.0\.0\.1:/);
    await press("Decoded transaction");
    expect(await shown(page.locator("details[open]"))).toContain("ALGO");
    await press("Keys");
    await page.getByRole("heading", { name: "Trusted keys" }).waitFor();
    expect(await focused(page)).toBe("Trusted keys");
    await press("Verify");
    expect(await focused(page)).toBe("Found on the ledger, with a warning");
    expect(lost).toEqual([]);
  });

  test("and keeps the verdict when the service is down, and asks the ledger again", async () => {
    const page = await checked(file(bundle));
    let answer: object = { status: 503, json: { detail: "The chain cannot be asked now." } };
    await page.route("**/verify?chain=1", (route) => route.fulfill(answer));
    await page.getByRole("button", { name: "Check on the ledger" }).click();
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    expect(await focused(page)).toBe("Verified");
    expect(await verdict(page)).toContain("Couldn't ask the ledger; the result stands.");
    answer = { json: { checks: { chainSource: "pass", chainAttest: "pass" }, failures: [] } };
    await again.click();
    await page.getByText("is recorded on Algorand").waitFor();
    expect(await verdict(page)).not.toContain("Couldn't ask");
    await page.unrouteAll();
  });

  test("and shows markup and bidi characters as text", async () => {
    const txnBytes = testPayment('<img src=x onerror="document.title=1">\u202egpj');
    const page = await checked(file(testBundle({ txnBytes })));
    await page.getByText("Decoded transaction").click();
    expect(await shown(page.locator("details[open]"))).toContain('<img src=x onerror="document.title=1">\\u{202e}gpj');
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.title()).toBe("Verified · attestd");
  });

  test("by the earlier key list when the served one contradicts it", async () => {
    const context = await site.newContext();
    let served = retired;
    await context.route("**/.well-known/attestor-keys.json", (route) => route.fulfill({ json: served }));
    const page = await openPage(context, site.deployment.url);
    await choose(page, file(bundle));
    await page.waitForSelector("[data-state=verified]");
    served = testHistory([{ attestor: successor, fromRound: 1 }]);
    await page.reload();
    await page.getByText("The key list served now contradicts an earlier one").waitFor();
    await choose(page, file(bundle));
    await page.waitForSelector("[data-state=verified]");
  });

  test.each(Object.entries(HISTORIES))(
    "every bundle of the table by the history %s, with the expected verdict",
    async (keys, history) => {
      const page = await site.open(history);
      const cases = CASES.filter((one) => one.keys === keys);
      const judgements = await judgeAll(
        page,
        cases.map(({ text }) => text),
      );
      const verdicts = judgements.map(({ state, failed }, index) => ({
        name: cases[index]?.name,
        isVerified: state === "verified" || state === "warning",
        // A file that is not a bundle has no checks to show.
        failed: state === "unreadable" ? ["schema"] : failed,
      }));
      expect(verdicts).toEqual(cases.map(({ name, failed }) => ({ name, isVerified: failed.length === 0, failed })));
    },
  );

  test("as a page with a content security policy and cache headers", async () => {
    const { url } = site.deployment;
    const answer = await fetch(url);
    expect(answer.headers.get("content-security-policy")).toMatch(
      /default-src 'none'.*connect-src 'self'.*frame-ancestors 'none'/,
    );
    const html = await answer.text();
    const etag = answer.headers.get("etag") as string;
    expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
    const [script = ""] = /\/assets\/page-\w+\.js/.exec(html) ?? [];
    const asset = await fetch(new URL(script, url));
    expect(asset.headers.get("cache-control")).toContain("immutable");
    expect((await fetch(url, { method: "POST" })).headers.get("allow")).toBe("GET, HEAD");
  });
});
