import { fileURLToPath } from "node:url";
import { type KeyHistory, parseKeyHistory } from "@attestd/proof";
import { build } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { algorandClient, pay, sign } from "../packages/attestd/test/world.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { startAttestd, startNetworks } from "./server.ts";

const BUNDLES = 20;

/** Bundles verified by `proof` in Chromium, beside noble's ML-DSA-65 verification of their signatures alone. */
export async function run(effort: Effort): Promise<Row[]> {
  const { bundle, history } = await buy();
  const script = await build({
    entryPoints: [fileURLToPath(new URL("browser-page.ts", import.meta.url))],
    bundle: true,
    minify: true,
    format: "iife",
    write: false,
  });
  await using browser = await launch();
  const page = await browser.newPage();
  await page.addScriptTag({ content: script.outputFiles[0]?.text ?? "" });
  const turns = await inTurns(
    effort,
    () => page.evaluate(([text, keys, times]) => verifyBundle(text, keys, times), [bundle, history, BUNDLES] as const),
    () => page.evaluate(([text, times]) => verifySignatureAlone(text, times), [bundle, BUNDLES] as const),
  );
  return [judge("verify-browser", "ms", turns, "share", { atMost: 1.3 })];
}

async function buy(): Promise<{ bundle: string; history: KeyHistory }> {
  await using networks = await startNetworks(200);
  await using attestd = await startAttestd(networks.settingsFile);
  const request = { txid: networks.sandbox.sampleTransactions.algorand };
  const client = algorandClient(networks.sandbox);
  const { text } = await pay(`${attestd.url}/attest`, request, await sign(`${attestd.url}/attest`, request, client));
  const history = parseKeyHistory(await (await fetch(`${attestd.url}/.well-known/attestor-keys.json`)).json());
  return { bundle: text, history };
}

async function launch(): Promise<Browser & AsyncDisposable> {
  // Makes the package bring the libraries that a bare machine lacks.
  process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs22.x";
  const { default: packaged } = await import("@sparticuz/chromium");
  return chromium.launch({
    executablePath: await packaged.executablePath(),
    args: ["--headless=shell", "--no-sandbox", "--no-zygote"],
  });
}
