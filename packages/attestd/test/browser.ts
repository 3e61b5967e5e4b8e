import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PageAsset, readPage } from "@attestd/web/assets";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { launchChromium } from "./chromium.ts";
import { temporaryFolder } from "./command.ts";

const require = createRequire(import.meta.url);

/** The page as its sources say it now, built into a folder of its own. */
export async function freshPage(): Promise<PageAsset[]> {
  await using folder = await temporaryFolder();
  execFileSync(process.execPath, [BUILD, folder.path], { stdio: "inherit" });
  const page = await readPage(folder.path);
  if (!page) throw new Error("no page was built");
  return page;
}
const BUILD = fileURLToPath(new URL("../../web/build.ts", import.meta.url));

/** The letters of Chromium's package, and for ids those that a system has: a picture should show ids as readers see them. */
const FONTS = `<?xml version="1.0"?><fontconfig><dir>${tmpdir()}/fonts</dir><dir>/usr/share/fonts</dir>
<match target="pattern"><test name="family"><string>system-ui</string></test><edit name="family" mode="assign" binding="strong"><string>Open Sans</string></edit></match>
<match target="pattern"><test name="family"><string>monospace</string></test><edit name="family" mode="assign" binding="strong"><string>DejaVu Sans Mono</string></edit></match>
</fontconfig>`;

/**
 * Starts Chromium, which npm brings.
 * @param forPictures with the system's own fonts for what is written in them
 * @returns undefined, saying why, where it cannot run
 */
export async function startBrowser(forPictures = false): Promise<Browser | undefined> {
  try {
    const fonts = join(tmpdir(), "attestd-pictures-fonts.conf");
    if (forPictures) writeFileSync(fonts, FONTS);
    return await launchChromium(
      forPictures ? { env: { ...process.env, FONTCONFIG_FILE: fonts } as Record<string, string> } : {},
    );
  } catch (error) {
    console.log(`Chromium does not start here, the page is not tested: ${(error as Error).message.split("\n")[0]}`);
    return undefined;
  }
}

/** Opens the page and waits until it listens. */
export async function openPage(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForSelector("#ready", { state: "attached" });
  return page;
}

export type GivenFile = { name: string; contents: string | Uint8Array };

/** Chooses a file in the page's dialog; a path is left to the browser to read. */
export async function choose(page: Page, given: GivenFile | string): Promise<void> {
  const files =
    typeof given === "string"
      ? given
      : { name: given.name, mimeType: "application/octet-stream", buffer: Buffer.from(given.contents) };
  await page.setInputFiles("input[type=file]", files);
}

/** Drops a file on the page. */
export async function drop(page: Page, { name, contents }: GivenFile): Promise<void> {
  const base64 = JSON.stringify(Buffer.from(contents).toString("base64"));
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.fromBase64(${base64})], ${JSON.stringify(name)}));
    return transfer;
  })()`);
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

/** Pastes text on the page. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", ${JSON.stringify(text)});
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  })()`);
}

/** Pastes texts one after the other, and tells what the page shows of each: its state, and the checks that failed. */
export function judgeAll(page: Page, texts: readonly string[]): Promise<{ state: string; failed: string[] }[]> {
  return page.evaluate(`(async () => {
    const main = document.querySelector("main");
    const shown = () => main.querySelector("[data-state]");
    const results = [];
    for (const text of ${JSON.stringify(texts)}) {
      main.replaceChildren();
      const { promise, resolve } = Promise.withResolvers();
      const watch = new MutationObserver(() => shown() && resolve());
      watch.observe(main, { childList: true });
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
      await promise;
      watch.disconnect();
      const failed = [...main.querySelectorAll("[data-result=fail]")].map((row) => row.dataset.check);
      results.push({ state: shown().dataset.state, failed });
    }
    return results;
  })()`);
}

/** Goes on by the Tab key to what has this text, and presses Enter. */
export async function pressByKeyboard(page: Page, name: string): Promise<void> {
  for (let tabs = 0; (await page.evaluate("document.activeElement?.textContent")) !== name; tabs++) {
    if (tabs > 40) throw new Error(`the keyboard does not reach ${name}`);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
}

/** Text as it is shown: without what is folded away. */
export function shown(place: Locator): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: the text of the document is more than what is shown.
  return place.innerText();
}

/** Pixels that the page is wide. */
export function pageWidth(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth");
}

const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds wrong with the page as it stands, a line for each rule and place. @param rules all, unless given */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  const options = JSON.stringify({ ...(rules && { runOnly: rules }), resultTypes: ["violations"] });
  const found = await page.evaluate<AxeViolation[]>(`axe.run(${options}).then(({ violations }) => violations)`);
  return found.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
}
type AxeViolation = { id: string; help: string; nodes: { html: string }[] };

type Picture = { data: Uint8Array; width: number; height: number };
const { PNG } = require("pngjs") as { PNG: { sync: { read(png: Buffer): Picture } } };
const { default: jsQR } = require("jsqr") as {
  default: (data: Uint8ClampedArray, width: number, height: number) => { data: string } | null;
};

/** What the QR code on a picture says, as a reader's camera would read it; undefined where it finds none. */
export function readCode(png: Buffer): string | undefined {
  const { data, width, height } = PNG.sync.read(png);
  return jsQR(new Uint8ClampedArray(data), width, height)?.data;
}
