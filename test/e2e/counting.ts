import type { Sandbox } from "@attestd/sandbox";
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from "../crash/fault-proxy.ts";

export const UPSTREAMS = ["algod", "indexer", "base", "solana", "facilitator"] as const;
export type Upstream = (typeof UPSTREAMS)[number];
export type Counts = Record<Upstream, number>;

/** A proxy before every upstream, and what has passed through them on behalf of requests. */
export type Counting = AsyncDisposable & {
  /** Settings that lead the service through the proxies. */
  settings: Record<string, string>;
  /** Runs some work. @returns what it made the service ask, as a line for each question */
  during(work: () => Promise<unknown>): Promise<Record<Upstream, string[]>>;
};

/** Starts the proxies. What the service asks by itself, request or not, is not counted. */
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
      ALGOD_URL: proxies.algod.url,
      INDEXER_URL: proxies.indexer.url,
      BASE_RPC_URL: proxies.base.url,
      SOLANA_RPC_URL: proxies.solana.url,
      FACILITATOR_URL: proxies.facilitator.url,
      BASE_FACILITATOR_URL: proxies.facilitator.url,
      SOLANA_FACILITATOR_URL: proxies.facilitator.url,
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

/**
 * Tells the service's own questions: it follows the rounds, each new block once, reads the attestor's balance, what the
 * next attestation needs, and what the facilitators settle.
 */
function ownQuestions({ attestor }: Sandbox): (request: ProxiedRequest) => boolean {
  let latest = 0;
  return ({ path }) => {
    const round = Number(path.match(/^\/v2\/blocks\/(\d+)\?format=msgpack$/)?.[1] ?? 0);
    const isNew = round > latest;
    if (isNew) latest = round;
    return (
      isNew ||
      path.startsWith("/v2/status/wait-for-block-after/") ||
      path.startsWith(`/v2/accounts/${attestor.address}`) ||
      path === "/v2/transactions/params" ||
      path === "/supported"
    );
  };
}
