import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { algorandClient, pay, sign } from "../test/e2e/deployment.ts";
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

/**
 * What an item of a batch of a thousand costs beside a single call for the same transactions, which share blocks; what batches
 * cost the single calls beside them; and the memory that ten batches at once take.
 */
export async function run(_effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(ROUND_MS);
  await using attestd = await startAttestd(networks.settingsFile);
  await using load = startLoad();
  const sources = await algorandSources(networks.sandbox, ITEMS);
  const buyer = { attestd, networks, load, sources };
  // The first of each takes the time in which code is compiled.
  await buySingles(buyer);
  await buyBatch(buyer);

  const cpu = await inTurn(buyer);
  const beside = await besideBatches(buyer);
  const memory = await peakMemory(buyer);
  return [
    judge("batch-cpu", "ms CPU an item", cpu, "share", { atMost: 1 / 10 }),
    judge("batch-beside", "ms p99", beside, "share", { atMost: 1.5 }),
    judge("batch-memory", "MB", [memory], "share", { ours: 1_000 }),
  ];
}

type Buyer = { attestd: Server; networks: Networks; load: Load; sources: readonly string[] };

/** Buys singles and a batch in turn. @returns ms of CPU time that an item of the batch took, and a single call */
async function inTurn(buyer: Buyer): Promise<Turn[]> {
  const taken = async (items: number, work: () => Promise<unknown>) => {
    const before = await cpuTime(buyer.attestd.pid);
    await work();
    return ((await cpuTime(buyer.attestd.pid)) - before) / 1e6 / items;
  };
  const turns: Turn[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const yardstick = await taken(SINGLES, () => buySingles(buyer));
    turns.push({ yardstick, ours: await taken(ITEMS, () => buyBatch(buyer)) });
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
