import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { withInstantFacilitator } from "./instant-facilitator.ts";
import { cpuTime, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { paidCall, paidRequests } from "./purchase.ts";
import { blocksAtOnce, type Networks, type Server, startAttestd, startNetworks } from "./server.ts";

const IN_FLIGHT = 256;
/** One call is short: so many times the turns, and warm-ups enough to have the code of both compiled. */
const MORE_TURNS = 5;
const MORE_WARM_UP = 20;

/** What paid calls cost with metrics and traces, beside the same service without them. */
export async function run(effort: Effort): Promise<Row[]> {
  await using receiver = await startReceiver();
  return [...(await latency(effort, receiver.url)), ...(await throughput(effort, receiver.url))];
}

async function latency(effort: Effort, receiver: string): Promise<Row[]> {
  await using networks = await startNetworks(0);
  using _ = blocksAtOnce(networks);
  await using ends = new AsyncDisposableStack();
  const [seen, unseen] = await startBoth(networks, receiver, ends);
  const several = { ...effort, turns: effort.turns * MORE_TURNS, warmUp: effort.warmUp * MORE_WARM_UP };
  const turns = await inTurns(several, paidCall(seen, networks), paidCall(unseen, networks));
  return [judge("observed-latency", "ms", turns, "speed", { atLeast: 0.97 })];
}

async function throughput(effort: Effort, receiver: string): Promise<Row[]> {
  await using ends = new AsyncDisposableStack();
  await using networks = await startNetworks(1000, withInstantFacilitator(ends));
  const both = await startBoth(networks, receiver, ends);
  await using load = startLoad();
  /** CPU time of each turn, in ms a call: of the one with metrics and traces, and of the other. */
  const cpu: [number[], number[]] = [[], []];
  const of = (place: 0 | 1) => async () => {
    const server = both[place];
    const requests = await paidRequests(server, networks, effort.payments);
    const before = await cpuTime(server.pid);
    const { answered, seconds } = await load.run(server.url, requests, { connections: IN_FLIGHT, status: 200 });
    cpu[place].push(((await cpuTime(server.pid)) - before) / 1e6 / answered);
    return answered / seconds;
  };
  const warmUp = 1;
  const turns = await inTurns({ ...effort, turns: 5, warmUp }, of(0), of(1));
  const times = cpu[0].map((ours, turn) => ({ ours, yardstick: cpu[1][turn] ?? Number.NaN })).slice(warmUp);
  return [
    judge("observed-throughput", "/s", turns, "share", { atLeast: 0.97 }),
    judge("observed-cpu", "ms CPU", times, "speed", { atLeast: 0.97 }),
  ];
}

/** A service with metrics and traces, and one without, each with a journal of its own. */
async function startBoth(networks: Networks, receiver: string, ends: AsyncDisposableStack): Promise<[Server, Server]> {
  const journal = (name: string) => ({ DATABASE_URL: `sqlite:${join(networks.dir, name)}` });
  const watched = { ADMIN_PORT: "0", OTEL_EXPORTER_OTLP_ENDPOINT: receiver };
  const seen = await startAttestd(networks.settingsFile, { ...journal("seen.sqlite"), ...watched });
  const unseen = await startAttestd(networks.settingsFile, journal("unseen.sqlite"));
  return [ends.use(seen), ends.use(unseen)];
}

/** Takes spans, and does nothing with them. */
async function startReceiver() {
  const server = createServer((incoming, outgoing) => incoming.resume().on("end", () => outgoing.end()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}
