import { isIP } from "node:net";
import { ALGORAND_MAINNET_GENESIS_HASH } from "@attestd/proof/algorand";
import type { z } from "zod";
import type { SettingFaults } from "./faults.ts";
import type { Settings } from "./settings.ts";

/** Of settings some of which are at fault: those that are not. */
type RightSettings = { [S in keyof z.output<typeof Settings>]?: z.output<typeof Settings>[S] | undefined };

/** Seconds that a payment may live beyond the time of an offer, at least: for clocks and transport. */
const LIFE_BEYOND_TIMEOUT = 60;

/** Adds contradictions between settings. */
export function compare(s: RightSettings, sandbox: boolean, faults: SettingFaults): void {
  const mainNet = s.ALGORAND_GENESIS_HASH === ALGORAND_MAINNET_GENESIS_HASH;
  if (s.ALGORAND_GENESIS_HASH !== undefined && mainNet === sandbox) {
    const message = sandbox
      ? "--sandbox needs ALGORAND_GENESIS_HASH of the sandbox's own ledger, not MainNet's."
      : "ALGORAND_GENESIS_HASH is not Algorand MainNet's: another ledger starts only with --sandbox.";
    faults.add("ALGORAND_GENESIS_HASH", message);
  }
  if (sandbox && s.HOST !== undefined && !isLoopback(s.HOST))
    faults.add("HOST", "--sandbox listens on a loopback HOST only, e.g. 127.0.0.1.");
  if (!sandbox && s.SANDBOX_SOURCE_CHAINS)
    faults.add("SANDBOX_SOURCE_CHAINS", "SANDBOX_SOURCE_CHAINS needs --sandbox.");
  const providers = Math.min(s.ALGOD_URL?.length ?? Infinity, s.INDEXER_URL?.length ?? Infinity);
  if (s.PROVIDER_QUORUM !== undefined && s.PROVIDER_QUORUM > providers) {
    const message = "PROVIDER_QUORUM is larger than the number of ALGOD_URL or INDEXER_URL providers.";
    faults.add("PROVIDER_QUORUM", message);
  }
  for (const [prefix, urls, tokens] of [
    ["ALGOD", s.ALGOD_URL, s.ALGOD_TOKEN],
    ["INDEXER", s.INDEXER_URL, s.INDEXER_TOKEN],
  ] as const) {
    if (!urls || !tokens || tokens.length === urls.length) continue;
    faults.add(`${prefix}_TOKEN`, `${prefix}_TOKEN has ${tokens.length} entries and ${prefix}_URL has ${urls.length}.`);
  }

  const leastLife = (s.MAX_TIMEOUT_SECONDS ?? 0) + LIFE_BEYOND_TIMEOUT;
  if (s.MAX_PAYMENT_LIFE_SECONDS !== undefined && s.MAX_PAYMENT_LIFE_SECONDS < leastLife) {
    const message = `MAX_PAYMENT_LIFE_SECONDS must be at least ${leastLife}, a minute more than MAX_TIMEOUT_SECONDS.`;
    faults.add("MAX_PAYMENT_LIFE_SECONDS", message);
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
