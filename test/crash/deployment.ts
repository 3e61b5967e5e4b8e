import { randomBytes } from "node:crypto";
import type { Sandbox } from "@attestd/sandbox";
import { type Settings, secret, settingsOf } from "../../packages/service/test/settings.ts";
import { type AccountKey, type Accounts, newAccounts } from "./accounts.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

export const UPSTREAMS = ["facilitator", "algod", "indexer", "base", "solana"] as const;
export type Upstream = (typeof UPSTREAMS)[number];

/** The settings of one service, for one process or several replicas, with a fault proxy before each upstream. */
export type Deployment = {
  accounts: Accounts;
  /** For every process; its port is 0. */
  settings: Settings;
  databaseUrl: string;
  proxies: Record<Upstream, FaultProxy>;
  close(): Promise<void>;
};

/** Longer than the slowest cell, so that no payment expires unless its scenario makes it. */
const MAX_TIMEOUT_SECONDS = 600;

/**
 * Makes a deployment in a sandbox that other deployments share.
 *
 * @param databaseUrl of an empty database
 * @param accountKey of the attestor's account; ed25519, unless given
 */
export async function newDeployment(
  sandbox: Sandbox,
  databaseUrl: string,
  accountKey?: AccountKey,
): Promise<Deployment> {
  const upstreams: Record<Upstream, string | undefined> = {
    facilitator: sandbox.facilitatorUrl,
    algod: sandbox.algodUrl,
    indexer: sandbox.indexerUrl,
    base: sandbox.baseRpcUrl,
    solana: sandbox.solanaRpcUrl,
  };
  const accounts = await newAccounts(sandbox, accountKey);
  const proxies = await Promise.all(
    // An absent network gets a proxy to a closed port, and no settings below.
    UPSTREAMS.map(async (name) => [name, await startFaultProxy(upstreams[name] ?? "http://[::1]:1")]),
  );
  const before = Object.fromEntries(proxies) as Record<Upstream, FaultProxy>;
  const { attestor, payTo } = accounts;
  const facilitated = ["algorand", ...(payTo.base ? ["base"] : []), ...(payTo.solana ? ["solana"] : [])];
  const mnemonic = attestor.key === "ed25519" ? "mnemonic" : "falcon_mnemonic";
  const settings = settingsOf({
    port: 0,
    log_level: "silent",
    journal: { url: secret(databaseUrl) },
    attestor: { [mnemonic]: secret(attestor.mnemonic), pq_seed: secret(randomBytes(32).toString("hex")) },
    chains: {
      algorand: {
        algod: [before.algod.url],
        indexer: [before.indexer.url],
        genesis_hash: sandbox.genesisHash,
      },
      ...(payTo.base && { base: { rpc: [before.base.url] } }),
      ...(payTo.solana && { solana: { rpc: [before.solana.url] } }),
    },
    rails: {
      algorand: { pay_to: payTo.algorand },
      ...(payTo.base && { base: { pay_to: payTo.base } }),
      ...(payTo.solana && { solana: { pay_to: payTo.solana } }),
    },
    facilitators: [{ url: before.facilitator.url, rails: facilitated }],
    payments: { max_timeout_seconds: MAX_TIMEOUT_SECONDS },
  });
  return {
    accounts,
    settings,
    databaseUrl,
    proxies: before,
    close: async () => void (await Promise.all(UPSTREAMS.map((name) => before[name].close()))),
  };
}
