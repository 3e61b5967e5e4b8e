import type { SandboxRequest } from "../packages/sandbox/src/http.ts";
import { THREAD as JOURNAL_THREAD } from "../packages/service/src/journal/sqlite/journal.ts";
import { ownQuestions } from "../test/e2e/counting.ts";
import { post } from "../test/e2e/deployment.ts";
import { startFloor } from "./floor.ts";
import { withInstantFacilitator } from "./instant-facilitator.ts";
import { cpuTime, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, QUICK, type Row } from "./measure.ts";
import { buy, paidCall, paidRequests, payAll, ROUND_MS } from "./purchase.ts";
import { type Server, startAttestd, startBare, startNetworks } from "./server.ts";

/** Calls at one time, which share what each round is asked for. */
const BESIDE = 100;

/** What a paid call costs: CPU time, and requests to upstreams. */
export async function run(effort: Effort): Promise<Row[]> {
  return [...(await cpu(effort)), ...(await requests())];
}

/**
 * CPU time of paid calls, rounds and all else that the service does meanwhile included, beside that of the two ML-DSA-65
 * signatures of each, on its bundle and on its receipt; and the part of the journal's thread.
 */
async function cpu(effort: Effort): Promise<Row[]> {
  await using ends = new AsyncDisposableStack();
  await using networks = await startNetworks(ROUND_MS, withInstantFacilitator(ends));
  await using attestd = await startAttestd(networks.settingsFile);
  await using floor = await startFloor("bare-sign.ts", ["ml-dsa-65", "ml-dsa-65"]);
  await using load = startLoad();

  const journal: number[] = [];
  const times = async () => [await cpuTime(attestd.pid), await cpuTime(attestd.pid, JOURNAL_THREAD)] as const;
  const ours = async () => {
    const requests = await paidRequests(attestd, networks, effort.payments);
    const before = await times();
    const { answered } = await payAll(load, attestd, requests, effort);
    const after = await times();
    journal.push((after[1] - before[1]) / 1000 / answered);
    return (after[0] - before[0]) / 1000 / answered;
  };
  const warmUp = 1;
  const turns = await inTurns({ ...effort, turns: Math.min(effort.turns, 5), warmUp }, ours, () =>
    floor.cpu(effort.seconds),
  );
  const ofJournal = turns.map((turn, place) => ({ ...turn, ours: journal[place + warmUp] ?? Number.NaN }));
  return [
    judge("paid-cpu", "µs CPU", turns, "share", { atMost: 3 }),
    judge("journal-call", "µs CPU", ofJournal, "share", { ours: 300 }),
  ];
}

/**
 * Requests to upstreams that one paid call causes, alone and beside others, beside those of the stock middleware, which asks its
 * facilitator twice and records nothing. The source stands in a round that the service has read, or (`-older`) in one from before its
 * start. What a service asks for all calls together, such as each new round, does not count.
 */
async function requests(): Promise<Row[]> {
  let isOwn: ReturnType<typeof ownQuestions> = () => true;
  let count = 0;
  const onRequest = ({ server, url }: SandboxRequest) => {
    // Of a call that is about Algorand and paid there. Facilitator and payer have a node of their own.
    if (["algod", "indexer", "facilitator"].includes(server) && !isOwn({ path: url })) count += 1;
  };
  await using networks = await startNetworks(1000, async () => ({}), onRequest);
  isOwn = ownQuestions(networks.sandbox);
  await using attestd = await startAttestd(networks.settingsFile);
  await using load = startLoad();
  const request = { txid: networks.sandbox.sampleTransactions.algorand };
  const { accepts } = (await post(`${attestd.url}/attest`, request)).json;
  await using stock = await startBare("bare-x402.ts", [networks.sandbox.facilitatorUrl, JSON.stringify(accepts)]);
  const { bundle } = await buy(attestd, networks);
  const recent: string = JSON.parse(bundle).attest.txnId;
  const requestsOf = (seller: Server, source?: string) => async () => {
    count = 0;
    await paidCall(attestd, networks, seller, source)();
    return count;
  };
  const besideOthers = (seller: Server) => async () => {
    const calls = await paidRequests(attestd, networks, BESIDE, recent);
    count = 0;
    await load.run(seller.url, calls, { connections: BESIDE, status: 200 });
    return count / BESIDE;
  };
  const effort = { ...QUICK, warmUp: 1 };
  const alone = await inTurns(effort, requestsOf(attestd, recent), requestsOf(stock, recent));
  const older = await inTurns(effort, requestsOf(attestd), requestsOf(stock));
  const beside = await inTurns(effort, besideOthers(attestd), besideOthers(stock));
  return [
    judge("upstream-requests", "requests", alone, "share", { ours: 5 }),
    judge("upstream-requests-older", "requests", older, "share", { ours: 8 }),
    judge("upstream-requests-beside", "requests", beside, "share", { ours: 5 }),
  ];
}
