import { randomBytes } from "node:crypto";
import type { Sandbox } from "@attestd/sandbox";
import { type AccountKey, type Accounts, newAccounts } from "./accounts.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

export const UPSTREAMS = ["facilitator", "algod", "indexer", "base", "solana"] as const;
export type Upstream = (typeof UPSTREAMS)[number];

export type Settings = Readonly<Record<string, string>>;

/** The settings of one service, for one process or several replicas, with a fault proxy before each upstream. */
export type Deployment = {
  accounts: Accounts;
  /** For every process; `PORT` is 0. */
  settings: Settings;
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
  const settings = {
    HOST: "127.0.0.1",
    PORT: "0",
    LOG_LEVEL: "silent",
    DATABASE_URL: databaseUrl,
    MAX_TIMEOUT_SECONDS: String(MAX_TIMEOUT_SECONDS),
    ALGORAND_GENESIS_HASH: sandbox.genesisHash,
    ALGOD_URL: before.algod.url,
    INDEXER_URL: before.indexer.url,
    [attestor.key === "ed25519" ? "ATTESTOR_MNEMONIC" : "ATTESTOR_FALCON_MNEMONIC"]: attestor.mnemonic,
    ATTESTOR_PQ_SEED: randomBytes(32).toString("hex"),
    PAY_TO_ALGORAND: payTo.algorand,
    FACILITATOR_URL: before.facilitator.url,
    ...(payTo.base && {
      BASE_RPC_URL: before.base.url,
      PAY_TO_BASE: payTo.base,
      BASE_FACILITATOR_URL: before.facilitator.url,
    }),
    ...(payTo.solana && {
      SOLANA_RPC_URL: before.solana.url,
      PAY_TO_SOLANA: payTo.solana,
      SOLANA_FACILITATOR_URL: before.facilitator.url,
    }),
  };
  return {
    accounts,
    settings,
    proxies: before,
    close: async () => void (await Promise.all(UPSTREAMS.map((name) => before[name].close()))),
  };
}
