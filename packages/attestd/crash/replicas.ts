import { setTimeout as sleep } from "node:timers/promises";
import { buy, priceOf } from "./buyer.ts";
import type { Stand } from "./cell.ts";
import { expireLeases } from "./databases.ts";
import { type Deployment, newDeployment } from "./deployment.ts";
import { type Ended, judge, rounds } from "./judge.ts";
import { inParallel, randomOf } from "./matrix.ts";
import { payerOf, RAILS, type SignedPayment } from "./payers.ts";
import type { ServiceProcess } from "./process.ts";

/** Several processes on one journal, as behind a load balancer. */
export class Replicas implements AsyncDisposable {
  readonly deployment: Deployment;
  /** Settlements that any of them has asked for. */
  settlements = 0;
  readonly #stand: Stand;
  #running: ServiceProcess[] = [];

  private constructor(stand: Stand, deployment: Deployment) {
    this.#stand = stand;
    this.deployment = deployment;
    const count = () => {
      this.settlements += 1;
    };
    deployment.proxies.facilitator.add({ match: { path: /^\/settle$/ }, onBefore: count });
  }

  static async start(stand: Stand, count: number): Promise<Replicas> {
    const deployment = await newDeployment(stand.sandbox, await stand.databases.create("postgres"));
    const replicas = new Replicas(stand, deployment);
    await Promise.all(Array.from({ length: count }, () => replicas.startAnother()));
    return replicas;
  }

  /** Of the n-th, counted round and round. */
  url(n: number): string {
    return (this.#running[n % this.#running.length] as ServiceProcess).url;
  }

  async startAnother(): Promise<void> {
    this.#running.push(await this.#stand.start(this.deployment.settings));
  }

  /** Kills the n-th. */
  async kill(n: number): Promise<void> {
    const [process] = this.#running.splice(n % this.#running.length, 1);
    process?.kill();
    await process?.ended;
    if (this.#stand.hurry) await expireLeases(this.deployment.settings.DATABASE_URL as string);
  }

  async judge(ended: readonly Ended[]): Promise<string[]> {
    await rounds(this.#stand.sandbox, 2);
    return judge(this.#stand.sandbox, this.deployment, ended);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#running) process.kill();
    await Promise.all(this.#running.map(({ ended }) => ended));
    await this.deployment.close();
  }
}

const PATIENCE_MS = 120_000;

/** Sends one payment many times at once, to every replica. @returns the different bodies that came back */
export async function sendTogether(
  replicas: Replicas,
  body: object,
  payment: SignedPayment,
  times: number,
): Promise<Set<string>> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const sent = Array.from({ length: times }, (_, n) => buy(() => replicas.url(n), body, payment, signal));
  return new Set((await Promise.all(sent)).map(({ status, text }) => `${status} ${text}`));
}

export type Storm = {
  purchases: number;
  /** Purchases under way at one time. */
  atOnce: number;
  /** Time between kills. */
  killEveryMs: number;
  seed: number;
};

/**
 * Makes many purchases on all rails while replicas are killed, one every few seconds, and others started. A buyer whose
 * replica dies goes to the next one with the same payment.
 *
 * @returns what became of them, and how many replicas were killed meanwhile
 */
export async function buyInStorm(
  { sandbox }: Pick<Stand, "sandbox">,
  replicas: Replicas,
  { purchases, atOnce, killEveryMs, seed }: Storm,
): Promise<{ ended: Ended[]; killed: number }> {
  const body = { txid: sandbox.sampleTransactions.base as string };
  const signal = AbortSignal.timeout(PATIENCE_MS + purchases * 1_000);
  const required = await priceOf(replicas.url(0), body, signal);
  const pay = payerOf(sandbox);
  const over = new AbortController();
  let killed = 0;

  const storm = async () => {
    const random = randomOf(seed);
    while (!over.signal.aborted) {
      await sleep(killEveryMs, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) return;
      await replicas.kill(Math.floor(random() * 1_000));
      killed += 1;
      await replicas.startAnother();
    }
  };
  const raging = storm();
  const numbers = Array.from({ length: purchases }, (_, n) => n);
  const ended = await inParallel(numbers, atOnce, async (n) => {
    const payment = await pay(RAILS[n % RAILS.length] ?? "base", required);
    let next = n;
    const { status, text } = await buy(() => replicas.url(next++), body, payment, signal);
    return { payment, ...(status === 200 && { bundle: text }) };
  });
  over.abort();
  await raging;
  return { ended, killed };
}

/**
 * Sends a payment to one replica, and hangs up as soon as that has begun to work on it.
 */
export async function hangUp(
  { url, deployment }: { url: string; deployment: Deployment },
  body: object,
  payment: SignedPayment,
): Promise<void> {
  const gone = new AbortController();
  const { proxies } = deployment;
  const forget = proxies.facilitator.add({ match: { path: /^\/verify$/ }, to: 1, onBefore: () => gone.abort() });
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(PATIENCE_MS)]);
  await buy(() => url, body, payment, signal).catch(() => undefined);
  forget();
  if (!gone.signal.aborted) throw new Error("the replica never worked on the payment");
}
