import { setTimeout as sleep } from "node:timers/promises";
import { secret, type Table, withOver } from "../../packages/service/test/settings.ts";
import { leaksIn, type Secrets, secretsOf, secretsOfPayment } from "../helpers/secrets.ts";
import { buy, type Purchase, priceOf } from "./buyer.ts";
import type { TestBed } from "./cell.ts";
import { type Deployment, newDeployment, UPSTREAMS } from "./deployment.ts";
import { FAULTS } from "./faults.ts";
import { type FreeRequest, freeRequests } from "./free-requests.ts";
import { type EndedPurchase, judge, rounds } from "./judge.ts";
import { randomOf } from "./matrix.ts";
import { isOffered, payerOf, RAILS, type RailName } from "./payers.ts";
import { requestFor, SUBJECTS } from "./subjects.ts";
import { slopeOf, type Vitals } from "./vitals.ts";

export type Soak = {
  minutes: number;
  /** Limit of each heap of the service, in MiB. Without a limit V8 collects garbage too late for a leak to be visible. */
  heapMiB: number;
  /** Buyers, each with one purchase at a time. */
  buyers: number;
  /** Clients that send free requests, one after the other. */
  freeClients: number;
  /** Pause of such a client between two requests, in ms. */
  pauseMs: number;
  /** Every `everyMs`, a random upstream has a random fault for `forMs`. */
  faults: { everyMs: number; forMs: number };
  seed: number;
};

export type SoakOutcome = {
  soak: Soak;
  delivered: number;
  /** Count of each answer to buyers that was not a bundle. */
  retryAnswers: Record<string, number>;
  /** Count of the expected answers to free requests, by their name. */
  freeAnswers: Record<string, number>;
  /** Faults, by upstream. */
  faults: Record<string, number>;
  /** Bytes of the log, at level debug, in which every secret was looked for. */
  loggedBytes: number;
  rss: Trend;
  /** Of the lowest value in every `LOWEST_OF_MS`: the memory in use after a garbage collection. */
  heap: Trend;
  descriptors: Trend;
  /** The median and the highest of the 99.9th percentiles of each `VITALS_EVERY_MS`, in ms. */
  loopDelay: { usual: number; most: number };
  /** Unexpected free answers, and faults that chains and journal show. */
  wrong: string[];
};

/** A figure over time, and its growth per hour over the second half. */
type Trend = { first: number; last: number; most: number; slope: number };

export const VITALS_EVERY_MS = 5_000;
const LOWEST_OF_MS = 60_000;
/** For purchases that have not ended when the time is over: no upstream has a fault then. */
const PATIENCE_MS = 300_000;
const MAX_WRONG = 20;

/**
 * Runs a service under purchases and free requests for a long time, while its upstreams have faults one after the other.
 *
 * @param progress called every `VITALS_EVERY_MS`
 */
export async function runSoak(
  testBed: TestBed,
  soak: Soak,
  progress?: (vitals: Vitals, delivered: number) => void,
): Promise<SoakOutcome> {
  const { sandbox, databases } = testBed;
  await using opened = new AsyncDisposableStack();
  const deployment = await newDeployment(sandbox, await databases.create("sqlite"));
  opened.defer(() => deployment.close());
  const vitals: Vitals[] = [];
  const ended: EndedPurchase[] = [];
  const settings = withOver(deployment.settings, withSecrets(deployment));
  const search = searchOf(secretsOf(settings));
  const service = await testBed.start(settings, {
    heapMiB: soak.heapMiB,
    onLog: search.add,
    watch: {
      everyMs: VITALS_EVERY_MS,
      onVitals(one) {
        vitals.push(one);
        progress?.(one, deliveredOf(ended));
      },
    },
  });
  opened.defer(() => service.kill());

  const ending = AbortSignal.timeout(soak.minutes * 60_000);
  const patience = AbortSignal.timeout(soak.minutes * 60_000 + PATIENCE_MS);
  const pay = payerOf(sandbox);
  const retryAnswers: Record<string, number> = {};
  const freeAnswers: Record<string, number> = {};
  const wrong: string[] = [];
  const count = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };

  async function buyer(place: number): Promise<void> {
    for (let n = place; !ending.aborted; n += soak.buyers) {
      const request = await requestFor(
        sandbox,
        SUBJECTS[Math.floor(n / RAILS.length) % SUBJECTS.length] ?? "transaction",
      );
      const rail = RAILS[n % RAILS.length] as RailName;
      let price = await priceOf(service.url, request, patience);
      for (; !isOffered(rail, price); price = await priceOf(service.url, request, patience)) {
        count(retryAnswers, `402 without ${rail}`);
        await sleep(OFFER_PAUSE_MS, undefined, { signal: patience });
      }
      const payment = await pay(rail, price);
      search.know(payment);
      const purchase = await buy(() => service.url, request, payment, patience);
      wrong.push(...search.ofAnswer(purchase.text));
      for (const one of purchase.answers.slice(0, -1)) count(retryAnswers, one);
      if (purchase.status === 200) ended.push({ payment, bundle: purchase.text });
      else if (hasExpired(purchase)) {
        // While its facilitator was away for longer than it was valid. That nothing was paid, the judge asks the chains.
        count(retryAnswers, `402 expired unspent on ${rail}`);
        ended.push({ payment });
      } else wrong.push(`${payment.key}: the buyer got ${purchase.answers.join(", ")}: ${purchase.text.slice(0, 300)}`);
    }
  }

  const free = await freeRequests(sandbox, service.url, patience);
  async function freeClient(place: number): Promise<void> {
    for (let n = place; !ending.aborted; n++) {
      const { name, path, status, init, whileClosed = [] } = free[n % free.length] as FreeRequest;
      const response = await fetch(service.url + path, { ...init, signal: patience }).catch(whenClosed);
      if (response === undefined) {
        count(freeAnswers, "connection closed while idle");
        continue;
      }
      const text = await response.text();
      const code = response.status === 503 ? whileClosed.find((one) => text.includes(`"code":"${one}"`)) : undefined;
      if (response.status === status) count(freeAnswers, name);
      else if (code !== undefined) count(freeAnswers, `${name} 503 ${code}`);
      else wrong.push(`${name} was answered with ${response.status}`);
      await sleep(soak.pauseMs);
    }
  }

  const [faults] = await Promise.all([
    breakInTurn(deployment, soak, ending),
    ...Array.from({ length: soak.buyers }, (_, place) => buyer(place)),
    ...Array.from({ length: soak.freeClients }, (_, place) => freeClient(place)),
  ]);
  await rounds(sandbox, 2);
  await service.kill();
  const logged = search.end();
  wrong.push(...logged.leaks);
  const first = paidBefore(free);
  wrong.push(...(await judge(sandbox, deployment, [...first, ...ended])));
  return {
    soak,
    delivered: deliveredOf(ended),
    retryAnswers,
    freeAnswers,
    faults,
    loggedBytes: logged.bytes,
    ...trendsOf(vitals),
    wrong: wrong.slice(0, MAX_WRONG),
  };
}

function deliveredOf(ended: readonly EndedPurchase[]): number {
  return ended.filter(({ bundle }) => bundle !== undefined).length;
}

/** Whether a purchase ended with a payment that nobody can spend any more. */
function hasExpired({ status, text }: Pick<Purchase, "status" | "text">): boolean {
  return status === 402 && String((JSON.parse(text) as { error?: unknown }).error).startsWith("expired unspent");
}

/** Of a connection that the service closes, idle for its seconds, while a busy client sends on it: nothing was answered. */
function whenClosed(error: Error): undefined {
  const { code } = error.cause as { code?: string };
  if (code !== "UND_ERR_SOCKET") throw error;
}

/** Between two questions for a rail that is not offered. */
const OFFER_PAUSE_MS = 250;

/** Secrets beside the attestor's, which the sandbox's upstreams do not ask for. */
function withSecrets({ proxies, settings }: Deployment): Table {
  const { algod, indexer } = proxies;
  const [own] = settings.tables.facilitators as [Table];
  return {
    log_level: "debug",
    access_log: true,
    chains: {
      algorand: {
        algod: [{ url: algod.url, token: secret("soak-algod-token-8d1f0c") }],
        indexer: [{ url: indexer.url, token: secret("soak-indexer-token-5b7a2e") }],
      },
    },
    facilitators: [{ ...own, kind: "header", secret: secret("Bearer soak-facilitator-secret-4c9e") }],
  };
}
/** Of the log that are searched at a time, and of the end of each that is searched again with the next. */
const SEARCHED = 2 ** 20;
const OVERLAP = 4_096;

/** Looks for every secret in the log as it comes, and in the buyers' answers. */
function searchOf(own: Secrets) {
  const leaks = new Set<string>();
  let [text, bytes] = ["", 0];
  const all = new Map(own);
  const look = () => {
    for (const leak of leaksIn(text, all)) leaks.add(`the log has ${leak}`);
    text = text.slice(-OVERLAP);
  };
  return {
    add(chunk: string) {
      text += chunk;
      bytes += chunk.length;
      if (text.length > SEARCHED) look();
    },
    /** Before it is sent. */
    know({ key, payload }: EndedPurchase["payment"]) {
      for (const [name, spellings] of secretsOfPayment(key, payload)) all.set(name, spellings);
    },
    ofAnswer: (answer: string) => leaksIn(answer, own).map((leak) => `an answer has ${leak}`),
    end() {
      look();
      return { leaks: [...leaks], bytes };
    },
  };
}

/** Adds a fault to one upstream after the other, and leaves none. @returns the number of faults of each */
async function breakInTurn({ proxies }: Deployment, { faults, seed }: Soak, ending: AbortSignal) {
  const random = randomOf(seed);
  const drawn = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const broken: Record<string, number> = {};
  const kinds = Object.values(FAULTS);
  while (!ending.aborted) {
    const upstream = drawn(UPSTREAMS);
    const mend = proxies[upstream].add({ match: {}, fault: drawn(kinds) });
    broken[upstream] = (broken[upstream] ?? 0) + 1;
    await sleep(faults.forMs, undefined, { signal: ending }).catch(() => undefined);
    mend();
    await sleep(faults.everyMs - faults.forMs, undefined, { signal: ending }).catch(() => undefined);
  }
  return broken;
}

function paidBefore(free: readonly FreeRequest[]): EndedPurchase[] {
  return free.flatMap(({ ended }) => (ended ? [ended] : []));
}

function trendsOf(vitals: readonly Vitals[]): Pick<SoakOutcome, "rss" | "heap" | "descriptors" | "loopDelay"> {
  const delays = vitals.map(({ loopDelay }) => loopDelay).toSorted((a, b) => a - b);
  const stretch = LOWEST_OF_MS / VITALS_EVERY_MS;
  const stretches = Map.groupBy(vitals.entries(), ([place]) => Math.floor(place / stretch));
  const lows = [...stretches.values()].map((each) => Math.min(...each.map(([, { heap }]) => heap)));
  return {
    rss: trendOf(
      vitals.map(({ rss }) => rss),
      VITALS_EVERY_MS,
    ),
    heap: trendOf(lows, LOWEST_OF_MS),
    descriptors: trendOf(
      vitals.map(({ descriptors }) => descriptors),
      VITALS_EVERY_MS,
    ),
    loopDelay: { usual: delays[delays.length >> 1] ?? Number.NaN, most: delays.at(-1) ?? Number.NaN },
  };
}

function trendOf(values: readonly number[], everyMs: number): Trend {
  return {
    first: values[0] ?? 0,
    last: values.at(-1) ?? 0,
    most: Math.max(...values),
    slope: slopeOf(values.slice(values.length >> 1)) * (3_600_000 / everyMs),
  };
}
