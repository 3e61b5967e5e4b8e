import { type KeyHistory, parseKeyHistory } from "@attestd/proof";
import { openPageWith } from "./chromium-page.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy } from "./purchase.ts";
import { startAttestd, startNetworks } from "./server.ts";

const BUNDLES = 20;

/** Bundles verified by `proof` in Chromium, beside noble's ML-DSA-65 verification of their signatures alone. */
export async function run(effort: Effort): Promise<Row[]> {
  const { bundle, history } = await bundleAndKeys();
  await using opened = await openPageWith(new URL("./browser-page.ts", import.meta.url));
  const { page } = opened;
  const turns = await inTurns(
    effort,
    () => page.evaluate(([text, keys, times]) => verifyBundle(text, keys, times), [bundle, history, BUNDLES] as const),
    () => page.evaluate(([text, times]) => verifySignatureAlone(text, times), [bundle, BUNDLES] as const),
  );
  return [judge("verify-browser", "ms", turns, "share", { atMost: 1.3 })];
}

async function bundleAndKeys(): Promise<{ bundle: string; history: KeyHistory }> {
  await using networks = await startNetworks(200);
  await using attestd = await startAttestd(networks.settingsFile);
  const { bundle } = await buy(attestd, networks);
  const history = parseKeyHistory(await (await fetch(`${attestd.url}/.well-known/attestor-keys.json`)).json());
  return { bundle, history };
}
