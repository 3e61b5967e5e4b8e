import type { Sandbox } from "@attestd/sandbox";
import { buy, priceOf, type Told } from "./buyer.ts";
import type { CommitName } from "./commits.ts";
import { type Databases, expireLeases, type JournalKind } from "./databases.ts";
import { type Deployment, newDeployment, UPSTREAMS } from "./deployment.ts";
import { type Rule, startFaultProxy } from "./fault-proxy.ts";
import { asPromised, type Ended, endedBy, judge, rounds } from "./judge.ts";
import { payerOf, type RailName } from "./payers.ts";
import { EFFECTS, type EffectPoint, type Point, SCENARIOS, type Scenario, stage } from "./points.ts";
import type { ServiceProcess, Starter, Turns } from "./process.ts";
import { requestFor, type SubjectName } from "./subjects.ts";

/** Who goes on after the kill: the next process on the same journal, or a replica that stood by. */
export type Successor = "restart" | "other replica";

export type Cell = { point: Point; rail: RailName; journal: JournalKind; successor: Successor };

/** A cell, and what is bought in it. */
export type CellRun = Cell & { subject: SubjectName };

export type Outcome = {
  cell: CellRun;
  /** What is wrong; nothing when the cell held. */
  wrong: string[];
  /** What the buyer was told, up to the bundle or the 402. */
  told: Told[];
  /** What the processes committed, in their order: the killed one's and its successor's. */
  committed: { killed: string[]; successor: string[] };
  seconds: number;
};

export type Stand = {
  sandbox: Sandbox;
  databases: Databases;
  start: Starter;
  /** For whatever else starts, in this process. */
  turn: Turns;
  /** The longest that a cell may take, in ms. */
  patienceMs: number;
  /** Whether leases of the dead run out at once, instead of in 15 s. */
  hurry: boolean;
};

const MAX_TRIES = 3;

/** The machine was so slow that the payment expired, provably unspent, before the service was up again. */
class Overtaken extends Error {}

/**
 * Buys one attestation from a real process, which is killed at the cell's point; sends the same payment until there is an
 * answer; sends it once more; and holds the chains against what came of it.
 */
export async function runCell(stand: Stand, cell: CellRun): Promise<Outcome> {
  const started = performance.now();
  for (let tries = 1; ; tries++) {
    const signal = AbortSignal.timeout(stand.patienceMs);
    await using course = new Course(stand, cell, signal);
    const wrong: string[] = [];
    try {
      wrong.push(...(await course.run()));
    } catch (error) {
      if (error instanceof Overtaken && tries < MAX_TRIES) continue;
      wrong.push(`the cell could not be run to its end: ${(error as Error).message}`);
    }
    const { told, committed } = course;
    return { cell, wrong, told, committed, seconds: (performance.now() - started) / 1000 };
  }
}

/** The process that goes on, started when it is first asked for. */
type Follow = () => Promise<ServiceProcess>;

class Course implements AsyncDisposable {
  readonly told: Told[] = [];
  readonly #stand: Stand;
  readonly #cell: CellRun;
  readonly #signal: AbortSignal;
  readonly #opened = new AsyncDisposableStack();
  readonly #running: ServiceProcess[] = [];
  #victim: ServiceProcess | undefined;
  #successor: ServiceProcess | undefined;

  constructor(stand: Stand, cell: CellRun, signal: AbortSignal) {
    this.#stand = stand;
    this.#cell = cell;
    this.#signal = signal;
  }

  get committed(): Outcome["committed"] {
    return { killed: this.#victim?.committed ?? [], successor: this.#successor?.committed ?? [] };
  }

  async run(): Promise<string[]> {
    const { sandbox, databases } = this.#stand;
    const { point, rail, journal, successor, subject } = this.#cell;
    const scenario: Scenario = SCENARIOS[point.scenario];
    const deployment = await newDeployment(sandbox, await databases.create(journal));
    this.#opened.defer(() => deployment.close());
    await stage(deployment, point.scenario);

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

    const request = requestFor(sandbox, subject);
    const payment = await payerOf(sandbox)(rail, await priceOf(victim.url, request, this.#signal), scenario.life);
    let url = entry;
    const taken = this.#afterKill(victim, deployment).then(async () => {
      url = (await follow()).url;
    });
    const lost = new AbortController();
    taken.catch((error) => lost.abort(error));
    const first = await buy(() => url, request, payment, AbortSignal.any([this.#signal, lost.signal]));
    this.told.push(...first.told);
    if (scenario.end === "delivered" && first.status === 402) {
      const wrong = await this.#judge(deployment, [{ payment }]);
      if (wrong.length === 0) throw new Overtaken(`the payment expired unspent: ${first.text.slice(0, 200)}`);
      return [...asPromised(scenario.end, first, first), ...wrong];
    }
    await this.#within(taken, "the process was not killed: its point never came");
    const again = await buy(() => url, request, payment, this.#signal);
    await this.#within(this.#late, "the effect that was held back never happened");
    if (scenario.last && point.side === "before")
      await this.#within(lastOf(await follow(), scenario.last), "not at rest");
    return [...asPromised(scenario.end, first, again), ...(await this.#judge(deployment, [endedBy(payment, first)]))];
  }

  /** Ends all processes, a while after whatever they may still do, and judges. */
  async #judge(deployment: Deployment, ended: readonly Ended[]): Promise<string[]> {
    await rounds(this.#stand.sandbox, 2);
    for (const process of this.#running) await process.kill();
    for (const upstream of UPSTREAMS) deployment.proxies[upstream].heal();
    return judge(this.#stand.sandbox, deployment, ended);
  }

  /** Resolves when an effect that was held back has happened. */
  #late: Promise<void> = Promise.resolve();

  async #start({ settings }: Deployment, point?: Point): Promise<ServiceProcess> {
    const process = await this.#stand.start(settings, point && "commit" in point ? { killAt: point } : {});
    if (this.#opened.disposed) await process.kill();
    this.#running.push(process);
    this.#opened.defer(() => process.kill());
    return process;
  }

  async #afterKill(victim: ServiceProcess, { settings }: Deployment): Promise<void> {
    await victim.ended;
    if (this.#stand.hurry && this.#cell.journal === "postgres") await expireLeases(settings.DATABASE_URL as string);
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

/** Resolves when a process has told of a commit. */
async function lastOf(process: ServiceProcess, name: CommitName): Promise<void> {
  while (!process.committed.includes(name)) await process.nextCommit();
}
