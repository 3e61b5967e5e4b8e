import { post } from "../test/e2e/deployment.ts";
import { withInstantFacilitator } from "./instant-facilitator.ts";
import { startLoad } from "./load.ts";
import { type Effort, inTurns, judge, percentile, type Row } from "./measure.ts";
import { paidCall, paidRequests, payAll, ROUND_MS } from "./purchase.ts";
import { blocksAtOnce, type Server, startAttestd, startBare, startNetworks } from "./server.ts";

/** Of one call, which is short: so many times the turns, and warm-ups enough to have the code of both compiled. */
const MORE_TURNS = 15;
const MORE_WARM_UP = 20;

/** What a paid call takes beside what it must wait for, and how many of them one service carries. */
export async function run(effort: Effort): Promise<Row[]> {
  return [...(await latency(effort)), ...(await throughput(effort))];
}

/**
 * One paid call on networks whose blocks come as soon as there is a transaction, beside the stock middleware, which
 * verifies and settles on the same networks through the same facilitator and then records nothing.
 */
async function latency(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(0);
  using _ = blocksAtOnce(networks);
  await using attestd = await startAttestd(networks.settingsFile);
  const request = { txid: networks.sandbox.sampleTransactions.algorand };
  const { accepts } = (await post(`${attestd.url}/attest`, request)).json;
  await using stock = await startBare("bare-x402.ts", [networks.sandbox.facilitatorUrl, JSON.stringify(accepts)]);
  const several = { ...effort, turns: effort.turns * MORE_TURNS, warmUp: effort.warmUp * MORE_WARM_UP };
  const turns = await inTurns(several, paidCall(attestd, networks), paidCall(attestd, networks, stock));
  const times = turns.map(({ ours }) => ours);
  const spread = { ours: percentile(times, 0.99), yardstick: percentile(times, 0.5) };
  return [
    judge("paid-latency", "ms", turns, "share", { atMost: 1.6 }),
    judge("paid-latency-p99", "ms", [spread], "share", { atMost: 2 }),
  ];
}

/**
 * Payments that were signed beforehand, so many in flight, on a ledger of one round a second: beside the stock middleware with the
 * same facilitator and the same load, which waits for no round, signs nothing and records nothing.
 */
async function throughput(effort: Effort): Promise<Row[]> {
  await using ends = new AsyncDisposableStack();
  let facilitator = "";
  await using networks = await startNetworks(ROUND_MS, async (sandbox) => {
    const settings = await withInstantFacilitator(ends)(sandbox);
    facilitator = settings.facilitators[0].url;
    return settings;
  });
  await using attestd = await startAttestd(networks.settingsFile);
  const { accepts } = (await post(`${attestd.url}/attest`, { txid: networks.sandbox.sampleTransactions.algorand }))
    .json;
  const offers = (accepts as { network: string }[]).filter(({ network }) => network.startsWith("algorand:"));
  await using stock = await startBare("bare-x402.ts", [facilitator, JSON.stringify(offers)]);
  await using load = startLoad();

  const rateOf = (seller: Server) => async () => {
    const requests = await paidRequests(attestd, networks, effort.payments);
    const { answered, seconds } = await payAll(load, seller, requests, effort);
    return answered / seconds;
  };
  const turns = await inTurns({ ...effort, turns: 3, warmUp: 1 }, rateOf(attestd), rateOf(stock));
  return [judge("paid-peer", "/s", turns, "share", { atLeast: 0.55 })];
}
