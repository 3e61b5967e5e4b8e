import { post } from "../test/e2e/deployment.ts";
import { startFloor } from "./floor.ts";
import { withInstantFacilitator } from "./instant-facilitator.ts";
import { startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { paidCall, paidRequests } from "./purchase.ts";
import { blocksAtOnce, startAttestd, startBare, startNetworks } from "./server.ts";

const IN_FLIGHT = 256;
/** Of one call, which is short: so many times the turns, and warm-ups enough to have the code of both compiled. */
const MORE_TURNS = 5;
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
  return [
    judge("paid-latency", "ms", turns, "share", { atMost: 1.5 }),
    judge("paid-latency-ms", "ms", turns, "share", { ours: 50 }),
  ];
}

/**
 * Payments that were signed beforehand, so many in flight, on a ledger of one round a second, beside a process that does
 * nothing but sign what one such call signs.
 */
async function throughput(effort: Effort): Promise<Row[]> {
  await using ends = new AsyncDisposableStack();
  await using networks = await startNetworks(1000, withInstantFacilitator(ends));
  await using attestd = await startAttestd(networks.settingsFile);
  await using floor = await startFloor("bare-sign.ts", 1, ["ml-dsa-65", "ed25519"]);
  await using load = startLoad();

  const ours = async () => {
    const requests = await paidRequests(attestd, networks, effort.payments);
    const result = await load.run(attestd.url, requests, { connections: IN_FLIGHT, status: 200 });
    return result.answered / result.seconds;
  };
  const turns = await inTurns({ ...effort, turns: 3, warmUp: 0 }, ours, () => floor.rate(effort.seconds));
  return [judge("paid-throughput", "/s", turns, "share", { atLeast: 0.4 })];
}
