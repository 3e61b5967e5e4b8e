import type { Sandbox } from "@attestd/sandbox";
import type { AccountKey } from "./accounts.ts";
import { type Answer, buy, priceOf } from "./buyer.ts";
import type { CommitName } from "./commits.ts";
import { type Databases, expireLeases, type JournalKind } from "./databases.ts";
import { type Deployment, newDeployment, UPSTREAMS } from "./deployment.ts";
import { type Rule, startFaultProxy } from "./fault-proxy.ts";
import { answerFaults, type EndedPurchase, endedPurchase, judge, rounds } from "./judge.ts";
import { payerOf, type RailName } from "./payers.ts";
import { applyScenario, EFFECTS, type EffectPoint, type Point, SCENARIOS, type Scenario } from "./points.ts";
import type { ServiceProcess, Starter, Turns } from "./process.ts";
import { requestFor, type SubjectName } from "./subjects.ts";

/** The process that continues after the kill: the next one on the same journal, or a replica that was running already. */
export type Successor = "restart" | "other replica";

export type Cell = { point: Point; rail: RailName; journal: JournalKind; successor: Successor };

/** A cell, the subject that is bought in it, and the key of the attestor's account: ed25519, unless given. */
export type CellRun = Cell & { subject: SubjectName; accountKey?: AccountKey };

export type Outcome = {
  cell: CellRun;
  /** The faults found; empty when the cell held. */
  wrong: string[];
  /** The buyer's answers, up to the bundle or the 402. */
  answers: Answer[];
  /** The commits of the killed process and of its successor, in order. */
  committed: { killed: string[]; successor: string[] };
  seconds: number;
};

export type TestBed = {
  sandbox: Sandbox;
  databases: Databases;
  start: Starter;
  /** For other work that starts a service in this process. */
  turn: Turns;
  /** Time limit of a cell, in ms. */
  patienceMs: number;
  /** Whether the leases of a killed replica expire at once, instead of after 15 s. */
  expireLeasesAtOnce: boolean;
  /** Time-out of a settlement of the services that are no processes, in ms; two minutes, unless given. */
  settleMs?: number;
};

const MAX_TRIES = 3;

/** The machine was so slow that the payment expired, provably unspent, before the service had restarted. */
class PaymentExpired extends Error {}

/**
 * Buys one attestation from a real process, which is killed at the cell's point; sends the same payment until there is an
 * answer; sends it once more; and checks chains and journal.
 */
export async function runCell(testBed: TestBed, cell: CellRun): Promise<Outcome> {
  const started = performance.now();
  for (let tries = 1; ; tries++) {
    const signal = AbortSignal.timeout(testBed.patienceMs);
    await using execution = new CellExecution(testBed, cell, signal);
    const wrong: string[] = [];
    try {
      wrong.push(...(await execution.run()));
    } catch (error) {
      if (error instanceof PaymentExpired && tries < MAX_TRIES) continue;
      wrong.push(`the cell could not be completed: ${(error as Error).message}`);
    }
    const { answers, committed } = execution;
    return { cell, wrong, answers, committed, seconds: (performance.now() - started) / 1000 };
  }
}

/** Returns the successor, which the first call starts. */
type Follow = () => Promise<ServiceProcess>;

class CellExecution implements AsyncDisposable {
  readonly answers: Answer[] = [];
  readonly #testBed: TestBed;
  readonly #cell: CellRun;
  readonly #signal: AbortSignal;
  readonly #opened = new AsyncDisposableStack();
  readonly #running: ServiceProcess[] = [];
  #victim: ServiceProcess | undefined;
  #successor: ServiceProcess | undefined;

  constructor(testBed: TestBed, cell: CellRun, signal: AbortSignal) {
    this.#testBed = testBed;
    this.#cell = cell;
    this.#signal = signal;
  }

  get committed(): Outcome["committed"] {
    return { killed: this.#victim?.committed ?? [], successor: this.#successor?.committed ?? [] };
  }

  async run(): Promise<string[]> {
    const { sandbox, databases } = this.#testBed;
    const { point, rail, journal, successor, subject, accountKey } = this.#cell;
    const scenario: Scenario = SCENARIOS[point.scenario];
    const deployment = await newDeployment(sandbox, await databases.create(journal), accountKey);
    this.#opened.defer(() => deployment.close());
    await applyScenario(deployment, point.scenario);

    const victim = await this.#start(deployment, point);
    this.#victim = victim;
    let following: Promise<ServiceProcess> | undefined;
    const follow = async () => {
      following ??= this.#start(deployment);
      this.#successor = await following;
      return this.#successor;
    };
    if (successor === "other replica") await follow();
    const entry = await this.#placeKill(victim, deployment, follow);

    const request = await requestFor(sandbox, subject);
    const payment = await payerOf(sandbox)(
      rail,
      await priceOf(victim.url, request, this.#signal, rail),
      scenario.validity,
    );
    let url = entry;
    const taken = this.#afterKill(victim, deployment).then(async () => {
      url = (await follow()).url;
    });
    const lost = new AbortController();
    taken.catch((error) => lost.abort(error));
    const first = await buy(() => url, request, payment, AbortSignal.any([this.#signal, lost.signal]));
    this.answers.push(...first.answers);
    if (scenario.end === "delivered" && first.status === 402) {
      const wrong = await this.#judge(deployment, [{ payment }]);
      if (wrong.length === 0) throw new PaymentExpired(`the payment expired unspent: ${first.text.slice(0, 200)}`);
      return [...answerFaults(scenario.end, first, first), ...wrong];
    }
    await this.#within(taken, "the process was not killed: it never reached the point");
    const again = await buy(() => url, request, payment, this.#signal);
    await this.#within(this.#late, "the delayed effect never happened");
    if (scenario.last && point.side === "before")
      await this.#within(lastOf(await follow(), scenario.last), "the last commit never came");
    return [
      ...answerFaults(scenario.end, first, again),
      ...(await this.#judge(deployment, [endedPurchase(payment, first)])),
    ];
  }

  /** Ends all processes after two more rounds, and checks chains and journal. */
  async #judge(deployment: Deployment, ended: readonly EndedPurchase[]): Promise<string[]> {
    await rounds(this.#testBed.sandbox, 2);
    for (const process of this.#running) await process.kill();
    for (const upstream of UPSTREAMS) deployment.proxies[upstream].heal();
    return judge(this.#testBed.sandbox, deployment, ended);
  }

  /** Resolves when a delayed effect has happened. */
  #late: Promise<void> = Promise.resolve();

  async #start({ settings }: Deployment, point?: Point): Promise<ServiceProcess> {
    const process = await this.#testBed.start(settings, point && "commit" in point ? { killAt: point } : {});
    if (this.#opened.disposed) await process.kill();
    this.#running.push(process);
    this.#opened.defer(() => process.kill());
    return process;
  }

  async #afterKill(victim: ServiceProcess, { databaseUrl }: Deployment): Promise<void> {
    await victim.ended;
    if (this.#testBed.expireLeasesAtOnce && this.#cell.journal === "postgres") await expireLeases(databaseUrl);
  }

  /** Arranges the kill at the point of the cell. @returns the URL for the buyer */
  async #placeKill(victim: ServiceProcess, deployment: Deployment, follow: Follow): Promise<string> {
    const { point } = this.#cell;
    if ("commit" in point) return victim.url;
    if (point.effect === "answer") {
      const front = await startFaultProxy(victim.url);
      this.#opened.defer(() => front.close());
      front.add({ match: {}, ...this.#killing(victim, point, follow) });
      return front.url;
    }
    const { upstream, match } = EFFECTS[point.effect];
    deployment.proxies[upstream].add({ match, ...this.#killing(victim, point, follow) });
    return victim.url;
  }

  #killing(victim: ServiceProcess, { nth, side }: EffectPoint, follow: Follow): Omit<Rule, "match"> {
    const only = { from: nth, to: nth };
    const kill = () => victim.kill();
    if (side === "before") return { ...only, onBefore: kill, fault: { kind: "reset", side } };
    if (side === "after") return { ...only, onAfter: kill, fault: { kind: "reset", side } };
    const happened = Promise.withResolvers<void>();
    this.#late = happened.promise;
    const hold = async () => {
      await kill();
      await (await follow()).nextCommit();
    };
    return { ...only, onBefore: hold, onAfter: () => happened.resolve(), fault: { kind: "reset", side: "after" } };
  }

  async #within<T>(work: Promise<T>, otherwise: string): Promise<T> {
    const late = new Promise<never>((_, reject) => {
      this.#signal.addEventListener("abort", () => reject(new Error(otherwise)), { once: true });
    });
    return Promise.race([work, late]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

/** Resolves when a process has reported a commit. */
async function lastOf(process: ServiceProcess, name: CommitName): Promise<void> {
  while (!process.committed.includes(name)) await process.nextCommit();
}
