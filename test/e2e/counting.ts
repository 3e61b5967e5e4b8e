import type { Sandbox } from "@attestd/sandbox";
import { toFunctionSelector } from "viem";
import { usdcAccountOf } from "../../packages/service/src/payment/rails/solana/token-account.ts";
import type { Table } from "../../packages/service/test/settings.ts";
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from "../crash/fault-proxy.ts";

export const UPSTREAMS = ["algod", "indexer", "base", "solana", "facilitator"] as const;
export type Upstream = (typeof UPSTREAMS)[number];
export type Counts = Record<Upstream, number>;

/** A proxy before every upstream, which counts the upstream requests that clients' requests cause. */
export type Counting = AsyncDisposable & {
  /** Settings with the proxies' URLs. */
  settings: Table;
  /** Runs some work. @returns the upstream requests that it caused, a line each */
  during(work: () => Promise<unknown>): Promise<Record<Upstream, string[]>>;
};

/** Starts the proxies. The service's periodic requests are not counted. */
export async function startCounting(sandbox: Sandbox): Promise<Counting> {
  await using stack = new AsyncDisposableStack();
  const origins = {
    algod: sandbox.algodUrl,
    indexer: sandbox.indexerUrl,
    base: sandbox.baseRpcUrl as string,
    solana: sandbox.solanaRpcUrl as string,
    facilitator: sandbox.facilitatorUrl,
  };
  const proxies = {} as Record<Upstream, FaultProxy>;
  let asked = nothing();
  for (const upstream of UPSTREAMS) {
    const isOwn = ownQuestions(sandbox);
    const proxy = stack.adopt(await startFaultProxy(origins[upstream]), (started) => started.close());
    proxies[upstream] = proxy;
    const count = (request: ProxiedRequest) => {
      if (!isOwn(request)) asked[upstream].push(request.rpc ?? `${request.method} ${request.path}`);
    };
    proxy.add({ match: {}, onBefore: count });
  }
  const done = stack.move();
  return {
    settings: {
      chains: {
        algorand: { algod: [proxies.algod.url], indexer: [proxies.indexer.url] },
        base: { rpc: [proxies.base.url] },
        solana: { rpc: [proxies.solana.url] },
      },
      facilitators: [{ url: proxies.facilitator.url, rails: ["algorand", "base", "solana"] }],
    },
    async during(work) {
      asked = nothing();
      await work();
      return asked;
    },
    [Symbol.asyncDispose]: () => done.disposeAsync(),
  };
}

function nothing(): Record<Upstream, string[]> {
  return { algod: [], indexer: [], base: [], solana: [], facilitator: [] };
}

const PAYEE_QUESTIONS = ["function isBlacklisted(address)", "function paused()"].map(toFunctionSelector);

/**
 * Recognizes the service's periodic requests: for rounds, each new block once, the attestor's balance, the parameters of
 * the next attestation, what the facilitators settle, the payees' accounts, whether the token on Base lets the payee be paid,
 * whether indexers and nodes of Base answer, and the notes of the attestor's keys.
 */
export function ownQuestions({
  attestor,
  payTo,
}: Sandbox): (request: Pick<ProxiedRequest, "path"> & Partial<ProxiedRequest>) => boolean {
  const solanaPayee = usdcAccountOf(payTo.solana ?? "");
  let latest = 0;
  return ({ path, rpc, body }) => {
    const round = Number(path.match(/^\/v2\/blocks\/(\d+)\?format=msgpack$/)?.[1] ?? 0);
    const isNew = round > latest;
    if (isNew) latest = round;
    return (
      isNew ||
      path.startsWith("/v2/status/wait-for-block-after/") ||
      path.startsWith(`/v2/accounts/${attestor.address}`) ||
      path === "/v2/transactions/params" ||
      path === "/supported" ||
      path === "/health" ||
      rpc === "eth_blockNumber" ||
      path.startsWith(`/v2/transactions?address=${attestor.address}`) ||
      path.startsWith(`/v2/accounts/${payTo.algorand}/assets/`) ||
      (rpc === "eth_call" && PAYEE_QUESTIONS.some((selector) => body?.includes(selector))) ||
      (rpc === "getAccountInfo" && solanaPayee !== undefined && body?.includes(solanaPayee) === true)
    );
  };
}
