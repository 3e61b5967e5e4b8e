import { setTimeout as sleep } from "node:timers/promises";
import { buy, type Purchase, priceOf, send } from "./buyer.ts";
import type { TestBed } from "./cell.ts";
import { expireLeases } from "./databases.ts";
import { type Deployment, newDeployment } from "./deployment.ts";
import { type EndedPurchase, endedPurchase, judge, rounds } from "./judge.ts";
import { inParallel, randomOf } from "./matrix.ts";
import { payerOf, RAILS, type RailName, type SignedPayment } from "./payers.ts";
import type { ServiceProcess } from "./process.ts";
import { type Request, requestFor, SUBJECTS } from "./subjects.ts";

/** Several processes on one journal, as behind a load balancer. */
class Replicas implements AsyncDisposable {
  readonly deployment: Deployment;
  /** Number of settlements that the replicas have requested. */
  settlements = 0;
  readonly #testBed: TestBed;
  #running: ServiceProcess[] = [];
  #settling = Promise.withResolvers<void>();

  private constructor(testBed: TestBed, deployment: Deployment) {
    this.#testBed = testBed;
    this.deployment = deployment;
    const count = () => {
      this.settlements += 1;
      this.#settling.resolve();
      this.#settling = Promise.withResolvers();
    };
    deployment.proxies.facilitator.add({ match: { path: /^\/settle$/ }, onBefore: count });
  }

  static async start(testBed: TestBed, count: number): Promise<Replicas> {
    const deployment = await newDeployment(testBed.sandbox, await testBed.databases.create("postgres"));
    const replicas = new Replicas(testBed, deployment);
    await Promise.all(Array.from({ length: count }, () => replicas.startAnother()));
    return replicas;
  }

  /** URL of the n-th replica, modulo their number. */
  url(n: number): string {
    return (this.#running[n % this.#running.length] as ServiceProcess).url;
  }

  /** Resolves at the next request for a settlement. */
  nextSettlement(): Promise<void> {
    return this.#settling.promise;
  }

  async startAnother(): Promise<void> {
    this.#running.push(await this.#testBed.start(this.deployment.settings));
  }

  /** Kills the n-th replica. */
  async kill(n: number): Promise<void> {
    const [process] = this.#running.splice(n % this.#running.length, 1);
    await process?.kill();
    if (this.#testBed.expireLeasesAtOnce) await expireLeases(this.deployment.databaseUrl);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((process) => process.kill()));
    await this.deployment.close();
  }
}

/** Parameters of the test of three replicas. */
export type Trial = {
  /** Number of simultaneous requests with one payment. */
  times: number;
  /** Purchases during the kills. */
  purchases: number;
  /** Simultaneous purchases. */
  atOnce: number;
  /** Time between kills. */
  killEveryMs: number;
  seed: number;
};

export type ReplicasOutcome = {
  trial: Trial;
  /** The settlements requested for one payment that was sent many times, and the different answers to it. */
  together: { settlements: number; answers: string[] };
  /** The answers of two replicas to one payment that the facilitator has refused to one of them, and the other then takes. */
  apart: string[];
  /** The answer of each replica to a buyer that had closed its connection to one of them. */
  hungUp: string[];
  storm: { delivered: number; killed: number; seconds: number };
  /** Faults that chains and journal show. */
  wrong: string[];
};

const REPLICAS = 3;
const PATIENCE_MS = 600_000;

/**
 * Starts three replicas and sends them one payment many times at once; closes the connection to one of them and then sends
 * the same payment to all; sends a payment to two of which one refuses it while the other checks it; and makes many purchases while the replicas are killed one after the other.
 */
export async function runReplicas(testBed: TestBed, trial: Trial): Promise<ReplicasOutcome> {
  await using replicas = await Replicas.start(testBed, REPLICAS);
  const request = await requestFor(testBed.sandbox, "transaction");
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const required = await priceOf(replicas.url(0), request, signal);
  const sign = () => payerOf(testBed.sandbox)("algorand", required);

  const shared = await sign();
  const sent = Array.from({ length: trial.times }, (_, n) => buy(() => replicas.url(n), request, shared, signal));
  const bought = await Promise.all(sent);
  const { settlements } = replicas;

  const left = await sign();
  await hangUp(replicas.url(1), replicas.deployment, request, left);
  const askReplica = (n: number) => buy(() => replicas.url(n), request, left, signal);
  const found = await Promise.all([askReplica(0), askReplica(1), askReplica(2)]);

  const disputed = await payerOf(testBed.sandbox)("base", required);
  const apart = await sendApart(replicas, request, disputed, signal);

  const { ended, ...storm } = await buyInStorm(testBed, replicas, trial);
  await rounds(testBed.sandbox, 2);
  const wrong = await judge(testBed.sandbox, replicas.deployment, [
    endedPurchase(shared, bought[0] as Purchase),
    endedPurchase(left, found[0]),
    endedPurchase(disputed, apart[0]),
    ...ended,
  ]);
  return {
    trial,
    together: { settlements, answers: [...new Set(bought.map(answerText))] },
    apart: apart.map(answerText),
    hungUp: found.map(answerText),
    storm: { ...storm, delivered: ended.filter(({ bundle }) => bundle !== undefined).length },
    wrong,
  };
}

/** Buys every subject on all rails while replicas are killed. A buyer whose replica is killed uses the next one. */
async function buyInStorm({ sandbox }: TestBed, replicas: Replicas, trial: Trial) {
  const started = performance.now();
  const signal = AbortSignal.timeout(PATIENCE_MS + trial.purchases * 1_000);
  const requests = await Promise.all(
    SUBJECTS.map(async (subject) => {
      const request = await requestFor(sandbox, subject);
      return { request, required: await priceOf(replicas.url(0), request, signal) };
    }),
  );
  const over = new AbortController();
  const killing = killInTurn(replicas, trial, over.signal);
  const numbers = Array.from({ length: trial.purchases }, (_, n) => n);
  const ended = await inParallel(numbers, trial.atOnce, async (n): Promise<EndedPurchase> => {
    const rail = RAILS[n % RAILS.length] as RailName;
    const { request, required } = requests[Math.floor(n / RAILS.length) % requests.length] as (typeof requests)[number];
    const payment = await payerOf(sandbox)(rail, required);
    let next = n;
    return endedPurchase(payment, await buy(() => replicas.url(next++), request, payment, signal));
  });
  over.abort();
  return { ended, killed: await killing, seconds: (performance.now() - started) / 1_000 };
}

/** Kills one replica after the other, the first at the first settlement, and replaces each. @returns the number killed */
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

/** Sends a payment to one replica, and closes the connection once it has sent the payment to its facilitator. */
async function hangUp(url: string, { proxies }: Deployment, request: Request, payment: SignedPayment): Promise<void> {
  const gone = new AbortController();
  const forget = proxies.facilitator.add({ match: { path: /^\/verify$/ }, to: 1, onBefore: () => gone.abort() });
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const answered = await buy(() => url, request, payment, signal).catch(() => undefined);
  forget();
  if (!gone.signal.aborted) throw new Error(`the replica never sent the payment to its facilitator: ${answered?.text}`);
}

/** Time for a replica to refuse a payment, in ms; a longer one would show no more. */
const REFUSAL_MS = 1_500;

/**
 * Sends a payment to two replicas. The facilitator refuses it to the second, and answers the first only when the second has
 * answered, or could have.
 */
async function sendApart(replicas: Replicas, request: Request, payment: SignedPayment, signal: AbortSignal) {
  const { facilitator } = replicas.deployment.proxies;
  const match = { path: /^\/verify$/ };
  const [asked, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
  const hold = async () => {
    asked.resolve();
    await refused.promise;
  };
  const body = JSON.stringify({ isValid: false, invalidReason: "kyt_risk_detected" });
  const rules = [
    facilitator.add({ match, to: 1, onBefore: hold }),
    facilitator.add({ match, from: 2, fault: { kind: "error", side: "before", status: 200, body } }),
  ];
  const first = buy(() => replicas.url(0), request, payment, signal);
  await asked.promise;
  const second = send(replicas.url(1), request, payment, signal);
  refused.resolve(Promise.race([second, sleep(REFUSAL_MS)]));
  const answers = await Promise.all([first, second]);
  for (const remove of rules) remove();
  return answers;
}

function answerText({ status, text }: Pick<Purchase, "status" | "text">): string {
  return `${status} ${text}`;
}
