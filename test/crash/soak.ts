import { setTimeout as sleep } from "node:timers/promises";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { buy, priceOf } from "./buyer.ts";
import type { Stand } from "./cell.ts";
import { type Deployment, newDeployment, UPSTREAMS } from "./deployment.ts";
import { FAULTS } from "./faults.ts";
import { type Ended, judge, rounds } from "./judge.ts";
import { randomOf } from "./matrix.ts";
import { payerOf, RAILS, type RailName } from "./payers.ts";
import { requestFor, SUBJECTS } from "./subjects.ts";
import { slopeOf, type Vitals } from "./vitals.ts";

export type Soak = {
  minutes: number;
  /** What each heap of the service may have, in MiB. Without a bound V8 lets garbage lie, in which a leak does not show. */
  heapMiB: number;
  /** Buyers, each with one purchase under way at a time. */
  buyers: number;
  /** Clients that ask for what is free, one request after the other. */
  askers: number;
  /** Pause of an asker between two requests, in ms. */
  pauseMs: number;
  /** An upstream that is drawn breaks in a way that is drawn for `forMs`, every so often. */
  faults: { everyMs: number; forMs: number };
  seed: number;
};

export type SoakOutcome = {
  soak: Soak;
  delivered: number;
  /** What buyers were told beside their bundles, and how often. */
  told: Record<string, number>;
  /** Free requests that were answered as they should be, by what was asked. */
  answered: Record<string, number>;
  /** Faults, by upstream. */
  faults: Record<string, number>;
  rss: Course;
  /** Of the lowest in each stretch of `LOWEST_OF_MS`: what is left when the rest is collected. */
  heap: Course;
  descriptors: Course;
  /** In ms, over all stretches of `VITALS_EVERY_MS`: the median of their 99th percentiles, and the highest. */
  loopDelay: { usual: number; most: number };
  /** Free answers that should have been others, and what chains and journal hold against the purchases. */
  wrong: string[];
};

/** How a figure went, and how much it grew in an hour of the second half. */
type Course = { first: number; last: number; most: number; slope: number };

export const VITALS_EVERY_MS = 5_000;
const LOWEST_OF_MS = 60_000;
/** For a purchase that is under way when the time is over: upstreams are whole again then. */
const PATIENCE_MS = 300_000;
const MAX_WRONG = 20;

/**
 * Lets a service sell, and answer what is free, for a long time, while its upstreams break one after the other.
 *
 * @param progress told every `VITALS_EVERY_MS`
 */
export async function runSoak(
  stand: Stand,
  soak: Soak,
  progress?: (vitals: Vitals, delivered: number) => void,
): Promise<SoakOutcome> {
  const { sandbox, databases } = stand;
  await using opened = new AsyncDisposableStack();
  const deployment = await newDeployment(sandbox, await databases.create("sqlite"));
  opened.defer(() => deployment.close());
  const vitals: Vitals[] = [];
  const ended: Ended[] = [];
  const service = await stand.start(deployment.settings, {
    heapMiB: soak.heapMiB,
    watch: {
      everyMs: VITALS_EVERY_MS,
      onVitals(one) {
        vitals.push(one);
        progress?.(one, ended.length);
      },
    },
  });
  opened.defer(() => service.kill());

  const ending = AbortSignal.timeout(soak.minutes * 60_000);
  const patience = AbortSignal.timeout(soak.minutes * 60_000 + PATIENCE_MS);
  const pay = payerOf(sandbox);
  const told: Record<string, number> = {};
  const answered: Record<string, number> = {};
  const wrong: string[] = [];
  const count = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };

  async function buyer(place: number): Promise<void> {
    for (let n = place; !ending.aborted; n += soak.buyers) {
      const request = requestFor(sandbox, SUBJECTS[Math.floor(n / RAILS.length) % SUBJECTS.length] ?? "transaction");
      const payment = await pay(RAILS[n % RAILS.length] as RailName, await priceOf(service.url, request, patience));
      const purchase = await buy(() => service.url, request, payment, patience);
      for (const one of purchase.told.slice(0, -1)) count(told, one);
      if (purchase.status === 200) ended.push({ payment, bundle: purchase.text });
      else wrong.push(`${payment.key}: the buyer was told ${purchase.told.join(", ")}: ${purchase.text.slice(0, 300)}`);
    }
  }

  const free = await freeQuestions(stand, service.url, patience);
  async function asker(place: number): Promise<void> {
    for (let n = place; !ending.aborted; n++) {
      const { name, path, status, init } = free[n % free.length] as FreeQuestion;
      const response = await fetch(service.url + path, { ...init, signal: patience });
      await response.arrayBuffer();
      if (response.status === status) count(answered, name);
      else wrong.push(`${name} was answered with ${response.status}`);
      await sleep(soak.pauseMs);
    }
  }

  const [faults] = await Promise.all([
    breakInTurn(deployment, soak, ending),
    ...Array.from({ length: soak.buyers }, (_, place) => buyer(place)),
    ...Array.from({ length: soak.askers }, (_, place) => asker(place)),
  ]);
  await rounds(sandbox, 2);
  await service.kill();
  const first = freeBought(free);
  wrong.push(...(await judge(sandbox, deployment, [...first, ...ended])));
  return {
    soak,
    delivered: ended.length,
    told,
    answered,
    faults,
    ...courseOf(vitals),
    wrong: wrong.slice(0, MAX_WRONG),
  };
}

/** Breaks one upstream after the other, and leaves them whole. @returns how often each was broken */
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

type FreeQuestion = { name: string; path: string; status: number; init?: RequestInit; ended?: Ended };

/** What is asked for free, a replay of a purchase among it. */
async function freeQuestions({ sandbox }: Stand, url: string, signal: AbortSignal): Promise<FreeQuestion[]> {
  const request = requestFor(sandbox, "transaction");
  const payment = await payerOf(sandbox)("algorand", await priceOf(url, request, signal));
  const { status, text: bundle } = await buy(() => url, request, payment, signal);
  if (status !== 200) throw new Error(`the first purchase was answered with ${status}: ${bundle}`);
  const post = (body: string, headers: Record<string, string> = {}): RequestInit => {
    return { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
  };
  const asked = JSON.stringify(request.body);
  const paid = { "payment-signature": encodePaymentSignatureHeader(payment.payload) };
  return [
    { name: "verify", path: "/verify", status: 200, init: post(bundle) },
    { name: "verify, altered", path: "/verify", status: 400, init: post(bundle.replace('"round":', '"round":1')) },
    { name: "challenge", path: request.path, status: 402, init: post(asked) },
    { name: "replay", path: request.path, status: 200, init: post(asked, paid), ended: { payment, bundle } },
    { name: "openapi.json", path: "/openapi.json", status: 200 },
    { name: "keys", path: "/.well-known/attestor-keys.json", status: 200 },
    { name: "health", path: "/health", status: 200 },
    { name: "no such path", path: "/nothing", status: 404 },
  ];
}

function freeBought(free: readonly FreeQuestion[]): Ended[] {
  return free.flatMap(({ ended }) => (ended ? [ended] : []));
}

function courseOf(vitals: readonly Vitals[]): Pick<SoakOutcome, "rss" | "heap" | "descriptors" | "loopDelay"> {
  const delays = vitals.map(({ loopDelay }) => loopDelay).toSorted((a, b) => a - b);
  const stretch = LOWEST_OF_MS / VITALS_EVERY_MS;
  const stretches = Map.groupBy(vitals.entries(), ([place]) => Math.floor(place / stretch));
  const lows = [...stretches.values()].map((each) => Math.min(...each.map(([, { heap }]) => heap)));
  return {
    rss: spanOf(
      vitals.map(({ rss }) => rss),
      VITALS_EVERY_MS,
    ),
    heap: spanOf(lows, LOWEST_OF_MS),
    descriptors: spanOf(
      vitals.map(({ descriptors }) => descriptors),
      VITALS_EVERY_MS,
    ),
    loopDelay: { usual: delays[delays.length >> 1] ?? Number.NaN, most: delays.at(-1) ?? Number.NaN },
  };
}

function spanOf(values: readonly number[], everyMs: number): Course {
  return {
    first: values[0] ?? 0,
    last: values.at(-1) ?? 0,
    most: Math.max(...values),
    slope: slopeOf(values.slice(values.length >> 1)) * (3_600_000 / everyMs),
  };
}
