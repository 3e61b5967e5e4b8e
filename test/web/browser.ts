import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readPage } from "@attestd/web/assets";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { launchChromium } from "./chromium.ts";

const require = createRequire(import.meta.url);

/** The page as its present sources make it: the one that is built, where it was made of the same, or one built for this. */
export async function freshPage() {
  const built = isMadeOfPresentFiles() ? await readPage() : undefined;
  if (built) return built;
  await using folder = await temporaryFolder();
  execFileSync(process.execPath, [BUILD, folder.path], { stdio: "inherit" });
  const page = await readPage(folder.path);
  if (!page) throw new Error("no page was built");
  return page;
}
const WEB = fileURLToPath(new URL("../../packages/web/", import.meta.url));
const BUILD = join(WEB, "build.ts");

/** By the list that `npm ci` has the build write. */
function isMadeOfPresentFiles(): boolean {
  try {
    const inputs: Record<string, string> = JSON.parse(readFileSync(join(WEB, "dist/.inputs"), "utf8"));
    return Object.entries(inputs).every(([path, sha256]) => hash("sha256", readFileSync(join(WEB, path))) === sha256);
  } catch {
    return false;
  }
}

/** Chromium's packaged fonts, and the system's monospace font, so that pictures show ids as readers see them. */
const FONTS = `<?xml version="1.0"?><fontconfig><dir>${tmpdir()}/fonts</dir><dir>/usr/share/fonts</dir>
<match target="pattern"><test name="family"><string>system-ui</string></test><edit name="family" mode="assign" binding="strong"><string>Open Sans</string></edit></match>
<match target="pattern"><test name="family"><string>monospace</string></test><edit name="family" mode="assign" binding="strong"><string>DejaVu Sans Mono</string></edit></match>
</fontconfig>`;

/**
 * Starts Chromium from its npm package.
 * @param forPictures with the fonts for pictures
 * @returns undefined, and logs the reason, when it cannot run
 */
export async function startBrowser(forPictures = false): Promise<Browser | undefined> {
  try {
    const fonts = join(tmpdir(), "attestd-pictures-fonts.conf");
    if (forPictures) writeFileSync(fonts, FONTS);
    return await launchChromium(
      forPictures ? { env: { ...process.env, FONTCONFIG_FILE: fonts } as Record<string, string> } : {},
    );
  } catch (error) {
    console.log(`Chromium cannot start, so the page is not tested: ${(error as Error).message.split("\n")[0]}`);
    return undefined;
  }
}

/** Opens the page and waits until it handles events. */
export async function openPage(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForSelector("#ready", { state: "attached" });
  return page;
}

export type GivenFile = { name: string; contents: string | Uint8Array };

/** Chooses a file in the page's file input. @param given a path is read by the browser */
export async function choose(page: Page, given: GivenFile | string): Promise<void> {
  const files =
    typeof given === "string"
      ? given
      : { name: given.name, mimeType: "application/octet-stream", buffer: Buffer.from(given.contents) };
  await page.setInputFiles("input[type=file]", files);
}

/** Drops files on the page, all at once. */
export function drop(page: Page, ...files: GivenFile[]): Promise<void> {
  return dropEach(page, files);
}

/** Drops groups of files on the page, one group after the other within one turn of its event loop. */
export async function dropEach(page: Page, ...groups: GivenFile[][]): Promise<void> {
  const given = groups.map((files) =>
    files.map(({ name, contents }) => ({ name, base64: Buffer.from(contents).toString("base64") })),
  );
  await page.evaluate(`for (const files of ${JSON.stringify(given)}) {
    const dataTransfer = new DataTransfer();
    for (const { name, base64 } of files)
      dataTransfer.items.add(new File([Uint8Array.fromBase64(base64)], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }`);
}

/** Drops files or folders of this machine on the page, as the browser itself gets them. */
export async function dropPaths(page: Page, ...files: string[]): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await devtools.send("Input.dispatchDragEvent", {
      type,
      x: 200,
      y: 200,
      data: { items: [], files, dragOperationsMask: 1 },
    });
  await devtools.detach();
}

/** Pastes text on the page. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", ${JSON.stringify(text)});
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  })()`);
}

/** Pastes texts one after another. @returns for each the state and the failed checks that the page shows */
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

/**
 * Moves the focus with the Tab key to the element with this text or label, and presses a key on it.
 * @throws Error when the keyboard cannot reach it, or when the focus is not visible
 */
export async function pressByKeyboard(page: Page, name: string, key = "Enter"): Promise<void> {
  for (let tabs = 0; ; tabs++) {
    const { names, isSeen } = await page.evaluate<{ names: string[]; isSeen: boolean }>(FOCUSED);
    if (tabs > 0 && !isSeen) throw new Error(`the focus is not visible on ${names}`);
    if (names.includes(name)) break;
    if (tabs > 40) throw new Error(`the keyboard cannot reach ${name}`);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press(key);
}

/** Run in the page: the focused element's names, and whether its outline is visible. After the last element it is the body. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const { top, bottom } = one.getBoundingClientRect();
  const isOutlined = one.matches(":focus-visible") && outlineStyle === "solid" && parseInt(outlineWidth) >= 2;
  return {
    names: [one.textContent, ...[...(one.labels ?? [])].map((label) => label.textContent)],
    isSeen: one === document.body || (isOutlined && bottom > 0 && top < innerHeight),
  };
})()`;

/** @returns the texts of elements that were removed while they had the focus, in every page of a context */
export async function watchFocus(context: BrowserContext): Promise<readonly string[]> {
  const lost: string[] = [];
  await context.exposeFunction("focusIsLost", (from: string) => void lost.push(from));
  await context.addInitScript(`{
    let last;
    document.addEventListener("focusin", ({ target }) => (last = target));
    new MutationObserver(() => {
      if (last?.isConnected === false && document.activeElement === document.body) focusIsLost(last.textContent);
    }).observe(document, { childList: true, subtree: true });
  }`);
  return lost;
}

/** Reads an object store of the page's database; bytes are base64. */
export function stored<T>(page: Page, shelf: "payments" | "bundles"): Promise<T[]> {
  return page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("attestd");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const all = opening.result.transaction("${shelf}").objectStore("${shelf}").getAll();
      all.onsuccess = () => {
        opening.result.close();
        resolve(all.result.map((one) => one.bytes ? { ...one, bytes: one.bytes.toBase64() } : one));
      };
    };
  })`);
}

/** The visible text, without closed details. */
export function shown(place: Locator): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: textContent includes text that is not visible.
  return place.innerText();
}

const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** The violations that axe finds in the page, a line for each rule and element. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  const run = `axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)`;
  const found = await page.evaluate<AxeViolation[]>(run);
  return found.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
}
type AxeViolation = { id: string; help: string; nodes: { html: string }[] };

/** An icon and its word, as they appear on the page. */
export type Look = {
  /** Icons of one group must differ: those of verdicts, of checks, of steps. */
  group: string;
  /** Its state. */
  kind: string;
  /** The state that determines its colour. */
  tone: string;
  word: string;
  /** For each pixel, row by row, whether it is drawn: the icon without its colours. */
  ink: boolean[];
};

/** The icons that a page shows, one of each kind. @param known kinds to leave out */
export async function signs(page: Page, known: ReadonlySet<string> = new Set()): Promise<Look[]> {
  const found = await page.evaluate<(Omit<Look, "ink"> & { place: string; index: number })[]>(FIND_SIGNS);
  const looks = new Map<string, Look>();
  for (const { place, index, ...look } of found) {
    if (known.has(look.kind) || looks.has(look.kind)) continue;
    const sign = await page.locator(place).nth(index).locator(".icon").first().screenshot();
    looks.set(look.kind, { ...look, ink: inkOf(sign) });
  }
  return [...looks.values()];
}

const FIND_SIGNS = `[
  ["verdict", ".verdict:not([data-state=table]):has(h1 .icon)", "h1"],
  ["table", ".verdict[data-state=table]", "h1"],
  ["row", ".files tbody > tr", ".word"],
  ["check", ".checks > li", ".word"],
  ["step", ".steps > li", ".hint"],
].flatMap(([group, place, word]) => [...document.querySelectorAll(place)].flatMap((one, index) => {
  const { tone, result, step, state, verdict, mark } = one.dataset;
  const kind = state ?? tone ?? result ?? step ?? verdict;
  if (!one.checkVisibility()) return [];
  return { group, kind: group + ": " + kind, tone: tone ?? mark ?? kind, word: one.querySelector(word).innerText, place, index };
}))`;

/** Whether each pixel differs clearly in brightness from the first, which is background. */
function inkOf(png: Buffer): boolean[] {
  const { data, width, height } = PNG.sync.read(png);
  const brightness = (pixel: number) => {
    const [red = 0, green = 0, blue = 0] = data.subarray(4 * pixel, 4 * pixel + 3);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  };
  return Array.from({ length: width * height }, (_, pixel) => Math.abs(brightness(pixel) - brightness(0)) > 64);
}

type Picture = { data: Uint8Array; width: number; height: number };
const { PNG } = require("pngjs") as { PNG: { sync: { read(png: Buffer): Picture } } };
const { default: jsQR } = require("jsqr") as {
  default: (data: Uint8ClampedArray, width: number, height: number) => { data: string } | null;
};

/** Decodes the QR code in a picture; undefined when there is none. */
export function readCode(png: Buffer): string | undefined {
  const { data, width, height } = PNG.sync.read(png);
  return jsQR(new Uint8ClampedArray(data), width, height)?.data;
}

/** Sets the clock that the page reads, until it is loaded again. @param seconds negative for a slow one */
export async function setClockAhead(page: Page, seconds: number): Promise<void> {
  await page.evaluate(`{ const now = Date.now; Date.now = () => now() + ${seconds * 1000}; }`);
}
