import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { parseKeyHistory } from "@attestd/proof";
import { makeCertificate, pointerUrl } from "@attestd/web";
import { type BundleInFile, readFileContents } from "@attestd/web/bundle-file";
import { PDFDocument } from "@cantoo/pdf-lib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testBundle } from "../bundles/bundles.ts";
import { choose, type Look, openPage, readCode, shown, signs, startBrowser, violations } from "./browser.ts";
import { bundle, checkFile, closeSite, current, file, type Site, startSite, tampered } from "./site.ts";
import { certificate, WALKS } from "./states.ts";

/** The folder that pictures of the page are written to; by default none are. */
const PICTURES = process.env.ATTESTD_PICTURES;

const browser: Browser | undefined = await startBrowser(PICTURES !== undefined);
afterAll(() => browser?.close());

const DESK = { width: 1280, height: 720, colorScheme: "light", reducedMotion: "no-preference" } as const;
const PHONE = { width: 320, height: 640, colorScheme: "dark", reducedMotion: "reduce" } as const;

/** Of the view that checks files: as strict as it can be. */
const VERIFYING_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Points (1/72 inch), as Chromium rounds them. */
const A4 = { width: 595, height: 842 };

describe.skipIf(!browser)("the page", () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(browser as Browser);
  });
  afterAll(() => closeSite(site));

  describe("in every state", () => {
    test.each(Object.entries(WALKS))("passes axe in both themes, and fits a phone: %s", async (_, walk) => {
      const looks = new Map<string, Look>();
      const unfolded = new Set<string>();
      let views: (typeof DESK | typeof PHONE)[] = [DESK, PHONE];
      for await (const { state, page } of walk(site)) {
        await unfold(page, unfolded);
        for (const { width, height, ...media } of views) {
          await page.emulateMedia(media);
          await page.setViewportSize({ width, height });
          expect.soft(await violations(page), state).toEqual([]);
          if (width === PHONE.width) expect.soft(await page.evaluate(FORM_FAULTS), state).toEqual([]);
          else for (const look of await signs(page, new Set(looks.keys()))) looks.set(look.kind, look);
        }
        // The next state is examined first in the last form of this one: a change of form takes time.
        views = views.toReversed();
      }
      expectToldApart([...looks.values()]);
    });

    /** Both icon and word differ between states, for readers who see no colours, or no icons. */
    function expectToldApart(looks: readonly Look[]): void {
      for (const one of looks)
        for (const other of looks.filter(({ group, kind }) => group === one.group && kind > one.kind)) {
          if (one.tone === other.tone && one.word === other.word) continue;
          const both = `${one.kind}, ${other.kind}`;
          expect.soft(one.word, both).not.toBe(other.word);
          expect.soft(difference(one.ink, other.ink), both).toBeGreaterThan(0.05);
        }
    }

    test("shows the API, with examples, under a policy of its own", async () => {
      const page = await openPage(await site.newContext(), `${site.deployment.url}/docs`);
      await page.getByRole("button", { name: /^POST \/verify / }).click();
      await page.locator(".examples").getByText("Python").click();
      expect(await shown(page.locator(".examples details[open] pre"))).toContain("urllib.request.Request");
      for (const { width, height, ...media } of [DESK, PHONE]) {
        await page.emulateMedia(media);
        await page.setViewportSize({ width, height });
        expect.soft(await violations(page)).toEqual([]);
        expect.soft(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      }
      // The last form was dark, as are the other views then.
      const background = "getComputedStyle(document.documentElement).backgroundColor";
      expect(await page.evaluate(background)).toBe("rgb(20, 22, 26)");
      expect(await shown(page.locator("#sandbox"))).toContain("Nothing here is real");
      const policyOf = async (path: string) =>
        (await fetch(`${site.deployment.url}${path}`)).headers.get("content-security-policy");
      // The view that checks files allows nothing that the renderer needs.
      expect(await policyOf("/")).toBe(VERIFYING_POLICY);
      expect(await policyOf("/docs")).toBe(VERIFYING_POLICY.replace("img-src 'self'", "img-src 'self' data:"));
    });

    test("follows forced colours and reduced motion", async () => {
      const page = await site.check(file(tampered));
      await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
      const style = "getComputedStyle(document.querySelector('.verdict'))";
      expect(await page.evaluate(`${style}.borderTopStyle + ${style}.borderLeftWidth`)).toBe("solid4px");
      expect(await signs(page)).not.toEqual([]);
      const moving =
        "[...document.querySelectorAll('*')].filter((one) => getComputedStyle(one).transitionDuration !== '0s')";
      expect(await page.evaluate(`${moving}.length`)).toBe(0);
      await page.emulateMedia({ forcedColors: null, reducedMotion: null });
      expect(await page.evaluate(`${moving}.length`)).toBeGreaterThan(0);
    });
  });

  describe("printed or saved as a certificate", () => {
    const verdict = (page: Page) => shown(page.locator(".verdict"));

    test("has a QR code that leads to the verified bundle", async () => {
      const { url } = site.deployment;
      const bought = await site.buy();
      const page = await site.open();
      await choose(page, file(bought));
      const [saving] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save certificate" }).click(),
      ]);
      const saved = await buffer(await saving.createReadStream());
      const keys = parseKeyHistory(await (await fetch(`${url}/.well-known/attestor-keys.json`)).json());
      // Made again here: the browser's has the same bytes.
      const { bytes, making } = (await readFileContents(saved)) as BundleInFile & { making: Uint8Array };
      const make = (format: "pdf" | "svg") =>
        makeCertificate(format, bytes, keys, JSON.parse(Buffer.from(making).toString())).bytes;
      expect(saved.equals(make("pdf"))).toBe(true);
      const svg = Buffer.from(make("svg")).toString();
      expect(svg).toContain("SANDBOX - NOT REAL");

      const code = (await codeOf(svg, page.context())) ?? "no code";
      expect(code).toMatch(new RegExp(`^${url}/#c1\\.[\\w-]{43}\\.${bought.attest.txnId}$`));
      const led = await openPage(await site.newContext(), code);
      await led.waitForSelector("[data-state=warning]");
      expect(await verdict(led)).toContain("This is the attestation that the certificate names.");

      for (const [name, contents] of [
        ["certificate.svg", svg],
        ["certificate.pdf", saved],
      ] as const) {
        await checkFile(led, { name, contents });
        expect(await led.locator("[data-state=warning]").count()).toBe(1);
      }
    });

    test("prints only the certificate, each page on a sheet", async () => {
      const page = await site.check(file(bundle));
      // Replaces the browser's dialog, which a test cannot close.
      await page.evaluate("globalThis.print = () => undefined");
      await page.getByRole("button", { name: "Print certificate" }).click();
      await page.emulateMedia({ media: "print" });
      const visible = "[...document.body.children].filter((one) => one.checkVisibility()).map((one) => one.className)";
      await page.locator(".certificate").waitFor({ state: "attached" });
      expect(await page.evaluate(visible)).toEqual(["certificate"]);
      const numbered = await page.locator(".certificate").textContent();
      const printed = await PDFDocument.load(await page.pdf({ format: "A4" }));
      const size = { width: expect.closeTo(A4.width, -0.5), height: expect.closeTo(A4.height, -0.5) };
      expect(printed.getPages().map((sheet) => sheet.getSize())).toEqual([size, size]);
      expect(numbered).toContain("Page 2 of 2");
      // Chromium sends `afterprint` when the print ends.
      expect(await page.locator(".certificate").count()).toBe(0);
      await page.emulateMedia({ media: null });
    });

    test("says when what makes certificates can't be loaded", async () => {
      const context = await site.newContext(current);
      await context.route("**/assets/certificate-*", (route) => route.abort("connectionrefused"));
      for (const name of ["Save certificate", "Print certificate"]) {
        const page = await openPage(context, `${site.deployment.url}/`);
        await choose(page, file(bundle));
        await page.getByRole("button", { name }).click();
        await page.getByText("No certificate was made").waitFor();
        expect(await verdict(page)).toContain("Verified");
        await page.close();
      }
    });

    test("prints without buttons, and with all details open", async () => {
      const page = await site.check(file(bundle));
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      expect(await page.locator("button:visible, nav:visible").count()).toBe(0);
      expect(await page.locator("details:not([open])").count()).toBe(0);
      expect(await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")).toBe(
        "rgb(255, 255, 255)",
      );
      await page.emulateMedia({ media: null, colorScheme: null });
    });

    test("asks for the file that a certificate names when it cannot be fetched, and rejects any other", async () => {
      const fragment = new URL(pointerUrl(site.deployment.url, bundle)).hash;
      const page = await site.open(current, fragment);
      await page.getByText("This certificate names one attestation").waitFor();
      await choose(page, file(testBundle()));
      await page.getByText("This is not the attestation that the certificate names.").waitFor();
      await page.goto("about:blank");
      await page.goto(`${site.deployment.url}/${fragment}`);
      await choose(page, file(bundle));
      await page.waitForSelector("[data-state=verified]");
    });
  });

  test.skipIf(PICTURES === undefined)("is photographed for docs/images", async () => {
    const folder = PICTURES as string;
    await mkdir(folder, { recursive: true });
    const take = async (page: Page, name: string) => writeFile(join(folder, `${name}.png`), await page.screenshot());
    const look = async (page: Page, width: number, height: number, colorScheme: "light" | "dark" = "light") => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
    };
    // A picture must not show the address of the machine that made it, nor that this is a sandbox with a ledger's key list.
    const hideAddress = (page: Page) =>
      page.evaluate(`document.getElementById("sandbox").hidden = true;
        for (const hint of document.querySelectorAll("#ledger-hint, .verdict p"))
          hint.textContent = hint.textContent.replaceAll(location.host, "attestd.example")`);
    for (const [name, given, width, scheme] of [
      ["verified", bundle, 800, "light"],
      ["verified-dark", bundle, 800, "dark"],
      ["not-verified", tampered, 800, "light"],
      ["phone", bundle, 390, "light"],
    ] as const) {
      const page = await site.check(file(given));
      await hideAddress(page);
      await look(page, width, width === 390 ? 844 : 700, scheme);
      await take(page, name);
    }
    const page = await site.check(file(bundle), current);
    const svg = certificate();
    const sheet = await page.context().newPage();
    await look(sheet, 794, 1123);
    await sheet.setContent(`<body style="margin:0">${svg}</body>`);
    await take(sheet, "certificate");
  });
});

/** Opens each kind of details once. @param known summaries of those opened before */
async function unfold(page: Page, known: Set<string>): Promise<void> {
  const summaries = await page.evaluate<string[]>(`[...document.querySelectorAll("summary")]
    .filter(({ textContent }) => !${JSON.stringify([...known])}.includes(textContent))
    .map((summary) => { summary.parentElement.open = true; return summary.textContent; })`);
  for (const summary of summaries) known.add(summary);
}

/** Run in the page: lists elements that are too wide, too small to press, of a fifth font size, or missing or doubled. */
const FORM_FAULTS = `(() => {
  const all = [...document.body.querySelectorAll("*")].filter((one) => one.checkVisibility());
  const list = (fault, found) => found.map((one) => fault + ": " + one.outerHTML.slice(0, 120));
  const sizes = new Set(["14px", "16px", "18px", "28px"]);
  const targets = all.filter((one) => one.matches("a, button, summary, input, label > input"));
  const box = (one) => one.getBoundingClientRect();
  const hasText = (one) => [...one.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim());
  const headings = all.filter((one) => one.matches("h1"));
  return [
    ...(document.documentElement.scrollWidth > 320 ? ["wider than 320 px"] : []),
    ...list("outside the page", all.filter((one) => box(one).right > 320)),
    ...list("smaller than 44 px", targets.filter((one) => box(one).height < 44 || box(one).width < 44)),
    ...list("another size", all.filter((one) => hasText(one) && !sizes.has(getComputedStyle(one).fontSize))),
    ...(headings.length === 1 ? [] : [headings.length + " headings"]),
    ...(document.title.endsWith(" · attestd") && headings[0]?.innerText.trim() === document.title.slice(0, -10) ? [] : ["title: " + document.title]),
    ...(document.querySelector("[role=status]") ? [] : ["no status"]),
  ];
})()`;

/** Share of the pixels of two signs that are ink in one of them alone. */
function difference(one: readonly boolean[], other: readonly boolean[]): number {
  return one.filter((isInk, place) => isInk !== other[place]).length / one.length;
}

/** Reads the QR code of a certificate; as a camera does, again from nearer where the first picture is not enough. */
async function codeOf(svg: string, context: BrowserContext): Promise<string | undefined> {
  const page = await context.newPage();
  await page.setViewportSize({ width: 1600, height: 800 });
  for (const zoom of [1, 1.5, 2]) {
    await page.setContent(`<body style="margin:0;zoom:${zoom}">${svg}</body>`);
    const code = readCode(await page.screenshot());
    if (code !== undefined) return code;
  }
  return undefined;
}
