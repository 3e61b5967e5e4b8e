import { ALGORAND_MAINNET_GENESIS_HASH } from "@attestd/proof/algorand";
import { isLoopback } from "@attestd/proof/text";
import type { SettingFaults } from "./faults.ts";
import type { UpstreamNode } from "./formats.ts";
import type { Read } from "./read.ts";
import type { settingsSchema } from "./settings.ts";

type ReadSettings = Read<ReturnType<typeof settingsSchema>>;

/** Seconds that a payment may live beyond the time of an offer, at least: for clocks and transport. */
const LIFE_BEYOND_TIMEOUT = 60;

/** Adds contradictions between settings. @param s of those at fault, nothing is known */
export function compare(s: ReadSettings, sandbox: boolean, faults: SettingFaults): void {
  const { algorand } = s.chains;
  const mainNet = algorand.genesis_hash === ALGORAND_MAINNET_GENESIS_HASH;
  if (algorand.genesis_hash !== undefined && mainNet === sandbox)
    faults.add(
      sandbox
        ? "--sandbox needs chains.algorand.genesis_hash of the sandbox's own ledger, not MainNet's."
        : "chains.algorand.genesis_hash is not Algorand MainNet's: another ledger starts only with --sandbox.",
    );
  if (sandbox && s.host !== undefined && !isLoopback(s.host))
    faults.add("--sandbox listens on a loopback host only: set host to 127.0.0.1.");
  if (!sandbox && s.sandbox_source_chains) faults.add("sandbox_source_chains needs --sandbox.");
  const least = Math.min(algorand.algod?.length ?? Infinity, algorand.indexer?.length ?? Infinity);
  if (s.provider_quorum !== undefined && s.provider_quorum > least)
    faults.add(
      "provider_quorum is larger than the number of nodes in chains.algorand.algod or chains.algorand.indexer.",
    );

  const leastLife = (s.payments.max_timeout_seconds ?? 0) + LIFE_BEYOND_TIMEOUT;
  if (s.payments.max_life_seconds !== undefined && s.payments.max_life_seconds < leastLife)
    faults.add(
      `payments.max_life_seconds must be at least ${leastLife}, a minute more than payments.max_timeout_seconds.`,
    );
  compareTraceHosts(s, faults);
}

/** Adds a fault where one of `trace_hosts` is the host of no upstream. */
function compareTraceHosts(
  { trace_hosts: named = [], chains, facilitators }: ReadSettings,
  faults: SettingFaults,
): void {
  const own = Object.values<Record<string, unknown>>(chains).flatMap((chain) => Object.values(chain));
  const nodes = own.filter((value) => Array.isArray(value)).flat() as UpstreamNode[];
  const hosts = new Set([...nodes, ...facilitators].map(({ url = "" }) => URL.parse(url)?.host));
  if (named.some((host) => !hosts.has(host)))
    faults.add(
      "trace_hosts must name hosts of nodes and facilitators as their URLs do, with the port if they have one.",
    );
}
