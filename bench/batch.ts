import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { SandboxRequest } from "../packages/sandbox/src/http.ts";
import { ownQuestions } from "../test/e2e/counting.ts";
import { algorandClient, pay, sign } from "../test/e2e/deployment.ts";
import { outsider } from "../test/e2e/ledger.ts";
import { algorandSources } from "../test/e2e/many-sources.ts";
import { cpuTime, type Load, type Request, startLoad } from "./load.ts";
import { type Effort, judge, type Row, type Turn } from "./measure.ts";
import { type Networks, type Server, startAttestd, startNetworks } from "./server.ts";

const ITEMS = 1_000;
const ROUND_MS = 1_000;
/** Single calls of a turn, and how many at once. */
const SINGLES = 60;
const SINGLES_AT_ONCE = 6;
const TURNS = 3;
/** Batches that run while memory is measured. */
const BATCHES = 10;
/** A service that reads as many batches as it may asks to come again. */
const PAUSE_MS = 1_000;

type Counted = { settlements: number; requests: number };

/**
 * What an item of a batch of a thousand costs beside a single call for the same transactions, which share blocks; what batches
 * cost the single calls beside them; and the memory that ten batches at once take.
 */
export async function run(_effort: Effort): Promise<Row[]> {
  const counted: Counted = { settlements: 0, requests: 0 };
  let isOwn: ReturnType<typeof ownQuestions> = () => true;
  const onRequest = ({ server, url }: SandboxRequest) => {
    if (server === "facilitator" && url === "/settle") counted.settlements += 1;
    if (["algod", "indexer", "facilitator"].includes(server) && !isOwn({ path: url })) counted.requests += 1;
  };
  await using networks = await startNetworks(ROUND_MS, async () => ({}), onRequest);
  isOwn = ownQuestions(networks.sandbox);
  await using attestd = await startAttestd(networks.settingsFile);
  await using load = startLoad();
  const sources = await algorandSources(networks.sandbox, ITEMS);
  const buyer = { attestd, networks, load, sources };
  // The first of each takes the time in which code is compiled.
  await buySingles(buyer);
  await buyBatch(buyer);

  const costs = await inTurn(buyer, counted);
  const beside = await besideBatches(buyer);
  const memory = await peakMemory(buyer);
  const share = (name: string, unit: string, turns: readonly Turn[], atMost: number) =>
    judge(name, unit, turns, "share", { atMost });
  return [
    share("batch-settlements", "an item", costs.settlements, 1 / ITEMS),
    share("batch-notes", "an item", costs.notes, 1 / ITEMS),
    share("batch-requests", "an item", costs.requests, 1 / 5),
    share("batch-cpu", "ms CPU an item", costs.cpu, 1 / 10),
    share("batch-beside", "ms p99", beside, 1.5),
    judge("batch-memory", "MB", [memory], "share", { ours: 1_000 }),
  ];
}

type Buyer = { attestd: Server; networks: Networks; load: Load; sources: readonly string[] };

/** Buys singles and a batch in turn. @returns what an item of the batch took, and what a single call did */
async function inTurn(buyer: Buyer, counted: Counted) {
  const { attestd, networks } = buyer;
  const ledger = outsider(networks.sandbox);
  const notes = async () => (await ledger.attestations()).length;
  const turns = { settlements: [] as Turn[], notes: [] as Turn[], requests: [] as Turn[], cpu: [] as Turn[] };
  const taken = async (items: number, work: () => Promise<unknown>) => {
    const before = { ...counted, notes: await notes(), cpu: await cpuTime(attestd.pid) };
    await work();
    return {
      settlements: (counted.settlements - before.settlements) / items,
      notes: ((await notes()) - before.notes) / items,
      requests: (counted.requests - before.requests) / items,
      cpu: ((await cpuTime(attestd.pid)) - before.cpu) / 1e6 / items,
    };
  };
  for (let turn = 0; turn < TURNS; turn++) {
    const single = await taken(SINGLES, () => buySingles(buyer));
    const item = await taken(ITEMS, () => buyBatch(buyer));
    for (const what of ["settlements", "notes", "requests", "cpu"] as const)
      turns[what].push({ ours: item[what], yardstick: single[what] });
  }
  return turns;
}

/** The 99th percentile of single calls, while batches are bought without a pause and without them. */
async function besideBatches(buyer: Buyer): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const alone = await buySingles(buyer);
    const over = new AbortController();
    const batches = (async () => {
      while (!over.signal.aborted) await buyBatch(buyer);
    })();
    const beside = await buySingles(buyer);
    over.abort();
    await batches;
    turns.push({ ours: beside, yardstick: alone });
  }
  return turns;
}

/** The most resident memory that the process ever had, in MB: before ten batches at once, and with them. */
async function peakMemory(buyer: Buyer): Promise<Turn> {
  const yardstick = await peakOf(buyer.attestd.pid);
  await Promise.all(Array.from({ length: BATCHES }, () => buyBatch(buyer)));
  return { ours: await peakOf(buyer.attestd.pid), yardstick };
}

async function peakOf(pid: number): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}

/** @returns the 99th percentile of their latencies, in ms */
async function buySingles({ attestd, networks, load, sources }: Buyer): Promise<number> {
  const client = algorandClient(networks.sandbox);
  const requests: Request[] = [];
  for (let i = 0; i < SINGLES; i++) {
    const body = { txid: sources[Math.floor((i * sources.length) / SINGLES)] };
    const payment = await sign(`${attestd.url}/attest`, body, client);
    const headers = { "payment-signature": encodePaymentSignatureHeader(payment) };
    requests.push({ method: "POST", path: "/attest", body: JSON.stringify(body), headers });
  }
  return (await load.run(attestd.url, requests, { connections: SINGLES_AT_ONCE, status: 200 })).p99;
}

async function buyBatch({ attestd, networks, sources }: Buyer): Promise<void> {
  const url = `${attestd.url}/attest-batch`;
  const body = { items: sources.map((txid) => ({ txid })) };
  const payment = await sign(url, body, algorandClient(networks.sandbox));
  for (;;) {
    const { status, text } = await pay(url, body, payment);
    if (status === 200) return;
    if (status !== 503) throw new Error(`a batch was answered with ${status}: ${text.slice(0, 500)}`);
    await setTimeout(PAUSE_MS);
  }
}
