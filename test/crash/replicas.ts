import { setTimeout as sleep } from "node:timers/promises";
import { buy, type Purchase, priceOf } from "./buyer.ts";
import type { Stand } from "./cell.ts";
import { expireLeases } from "./databases.ts";
import { type Deployment, newDeployment } from "./deployment.ts";
import { type Ended, endedBy, judge, rounds } from "./judge.ts";
import { inParallel, randomOf } from "./matrix.ts";
import { payerOf, RAILS, type RailName, type SignedPayment } from "./payers.ts";
import type { ServiceProcess } from "./process.ts";
import { type Request, requestFor, SUBJECTS } from "./subjects.ts";

/** Several processes on one journal, as behind a load balancer. */
class Replicas implements AsyncDisposable {
  readonly deployment: Deployment;
  /** Settlements that any of them has asked for. */
  settlements = 0;
  readonly #stand: Stand;
  #running: ServiceProcess[] = [];
  #settling = Promise.withResolvers<void>();

  private constructor(stand: Stand, deployment: Deployment) {
    this.#stand = stand;
    this.deployment = deployment;
    const count = () => {
      this.settlements += 1;
      this.#settling.resolve();
      this.#settling = Promise.withResolvers();
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

  /** Resolves when any of them next asks for a settlement. */
  nextSettlement(): Promise<void> {
    return this.#settling.promise;
  }

  async startAnother(): Promise<void> {
    this.#running.push(await this.#stand.start(this.deployment.settings));
  }

  /** Kills the n-th. */
  async kill(n: number): Promise<void> {
    const [process] = this.#running.splice(n % this.#running.length, 1);
    await process?.kill();
    if (this.#stand.hurry) await expireLeases(this.deployment.settings.DATABASE_URL as string);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((process) => process.kill()));
    await this.deployment.close();
  }
}

/** What is tried on three replicas. */
export type Trial = {
  /** How often one payment is sent at once. */
  times: number;
  /** Purchases during the kills. */
  purchases: number;
  /** Purchases under way at one time. */
  atOnce: number;
  /** Time between kills. */
  killEveryMs: number;
  seed: number;
};

/** What came of it. */
export type ReplicasOutcome = {
  trial: Trial;
  /** The settlements that were asked for while one payment was sent many times, and the different answers to it. */
  together: { settlements: number; answers: string[] };
  /** What each replica told a buyer who had hung up on one of them. */
  hungUp: string[];
  storm: { delivered: number; killed: number; seconds: number };
  /** What chains and journal hold against all of these purchases. */
  wrong: string[];
};

const REPLICAS = 3;
const PATIENCE_MS = 600_000;

/**
 * Starts three replicas and sends them one payment many times at once; hangs up on one and asks all of them; and makes
 * many purchases while one after the other is killed.
 */
export async function runReplicas(stand: Stand, trial: Trial): Promise<ReplicasOutcome> {
  await using replicas = await Replicas.start(stand, REPLICAS);
  const request = requestFor(stand.sandbox, "transaction");
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const required = await priceOf(replicas.url(0), request, signal);
  const sign = () => payerOf(stand.sandbox)("algorand", required);

  const shared = await sign();
  const sent = Array.from({ length: trial.times }, (_, n) => buy(() => replicas.url(n), request, shared, signal));
  const bought = await Promise.all(sent);
  const { settlements } = replicas;

  const left = await sign();
  await hangUp(replicas.url(1), replicas.deployment, request, left);
  const askReplica = (n: number) => buy(() => replicas.url(n), request, left, signal);
  const found = await Promise.all([askReplica(0), askReplica(1), askReplica(2)]);

  const { ended, ...storm } = await buyInStorm(stand, replicas, trial);
  await rounds(stand.sandbox, 2);
  const wrong = await judge(stand.sandbox, replicas.deployment, [
    endedBy(shared, bought[0] as Purchase),
    endedBy(left, found[0]),
    ...ended,
  ]);
  return {
    trial,
    together: { settlements, answers: [...new Set(bought.map(inFull))] },
    hungUp: found.map(inFull),
    storm: { ...storm, delivered: ended.filter(({ bundle }) => bundle !== undefined).length },
    wrong,
  };
}

/** Buys of every subject on all rails while replicas die. A buyer whose replica does goes on to the next one. */
async function buyInStorm({ sandbox }: Stand, replicas: Replicas, trial: Trial) {
  const started = performance.now();
  const signal = AbortSignal.timeout(PATIENCE_MS + trial.purchases * 1_000);
  const requests = await Promise.all(
    SUBJECTS.map(async (subject) => {
      const request = requestFor(sandbox, subject);
      return { request, required: await priceOf(replicas.url(0), request, signal) };
    }),
  );
  const over = new AbortController();
  const killing = killInTurn(replicas, trial, over.signal);
  const numbers = Array.from({ length: trial.purchases }, (_, n) => n);
  const ended = await inParallel(numbers, trial.atOnce, async (n): Promise<Ended> => {
    const rail = RAILS[n % RAILS.length] as RailName;
    const { request, required } = requests[Math.floor(n / RAILS.length) % requests.length] as (typeof requests)[number];
    const payment = await payerOf(sandbox)(rail, required);
    let next = n;
    return endedBy(payment, await buy(() => replicas.url(next++), request, payment, signal));
  });
  over.abort();
  return { ended, killed: await killing, seconds: (performance.now() - started) / 1_000 };
}

/** Kills one replica after the other, the first as soon as money moves, and starts another for each. @returns how many */
async function killInTurn(replicas: Replicas, { killEveryMs, seed }: Trial, over: AbortSignal): Promise<number> {
  const random = randomOf(seed);
  await replicas.nextSettlement();
  for (let killed = 1; ; killed++) {
    await replicas.kill(Math.floor(random() * REPLICAS));
    await replicas.startAnother();
    await sleep(killEveryMs, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return killed;
  }
}

/** Sends a payment to one replica, and hangs up as soon as that has begun to work on it. */
async function hangUp(url: string, { proxies }: Deployment, request: Request, payment: SignedPayment): Promise<void> {
  const gone = new AbortController();
  const forget = proxies.facilitator.add({ match: { path: /^\/verify$/ }, to: 1, onBefore: () => gone.abort() });
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const answered = await buy(() => url, request, payment, signal).catch(() => undefined);
  forget();
  if (!gone.signal.aborted) throw new Error(`the replica never worked on the payment: ${answered?.text}`);
}

function inFull({ status, text }: Purchase): string {
  return `${status} ${text}`;
}
