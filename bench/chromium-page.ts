import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { launchChromium } from "../test/web/chromium.ts";

/** Opens a page of Chromium in which a module runs, bundled and minified, as a release would be. */
export async function openPageWith(module: URL): Promise<AsyncDisposable & { page: Page }> {
  const script = await build({
    entryPoints: [fileURLToPath(module)],
    bundle: true,
    minify: true,
    format: "iife",
    write: false,
  });
  const browser = await launchChromium();
  const page = await browser.newPage();
  await page.addScriptTag({ content: script.outputFiles[0]?.text ?? "" });
  return { page, [Symbol.asyncDispose]: () => browser.close() };
}
