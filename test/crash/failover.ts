import { withOver } from "../../packages/service/test/settings.ts";
import { type Answer, buy, priceOf } from "./buyer.ts";
import type { TestBed } from "./cell.ts";
import type { CommitPoint } from "./commits.ts";
import { expireLeases } from "./databases.ts";
import { type Deployment, newDeployment } from "./deployment.ts";
import { BOUND, type FailoverRun, faultOf, mayExpire, mustPassOn } from "./failover-cells.ts";
import { type FaultProxy, type Rule, startFaultProxy } from "./fault-proxy.ts";
import { answerFaults, endedPurchase, judge, rounds } from "./judge.ts";
import { payerOf } from "./payers.ts";
import type { ServiceProcess } from "./process.ts";
import { requestFor } from "./subjects.ts";

export type FailoverOutcome = {
  run: FailoverRun;
  /** The faults found; empty when the cell held. */
  wrong: string[];
  answers: Answer[];
  /** Requests to settle that each facilitator got. */
  asked: { first: number; second: number };
  seconds: number;
};

const SETTLE = { path: /^\/settle$/ };
const PATIENCE_MS = 600_000;
const MAX_TRIES = 3;
/** Requests to settle that a facilitator mistreats, the killed process's among them. */
const MISTREATED = 2;

/** Facilitators and nodes of one cell, with the processes that ask them. */
class Failover implements AsyncDisposable {
  readonly asked = { first: 0, second: 0 };
  readonly answers: Answer[] = [];
  readonly #testBed: TestBed;
  readonly #run: FailoverRun;
  readonly #opened = new AsyncDisposableStack();
  readonly #running: ServiceProcess[] = [];
  readonly #signal = AbortSignal.timeout(PATIENCE_MS);

  constructor(testBed: TestBed, run: FailoverRun) {
    this.#testBed = testBed;
    this.#run = run;
  }

  /** @returns the faults found; undefined when the payment expired, provably unspent, where it was to be made */
  async buy(secondUrl: string): Promise<string[] | undefined> {
    const { sandbox } = this.#testBed;
    const { rail, subject, successor } = this.#run;
    const { deployment, second } = await this.#deploy(secondUrl);
    const first = deployment.proxies.facilitator;

    const victim = await this.#start(deployment, this.#killAt());
    let following: Promise<ServiceProcess> | undefined;
    const follow = () => (following ??= this.#start(deployment));
    if (successor === "other replica") await follow();
    const request = await requestFor(sandbox, subject);
    const payment = await payerOf(sandbox)(rail, await priceOf(victim.url, request, this.#signal, rail));
    this.#arrange(deployment, second, victim);

    let { url } = victim;
    const lost = new AbortController();
    const taken = victim.ended.then(async () => {
      if (this.#isClosing("before it leaves")) await first.down();
      if (this.#run.journal === "postgres") await expireLeases(deployment.databaseUrl);
      const next = await follow();
      ({ url } = next);
      if (this.#isClosing("before it leaves")) void begunAgain(next).then(() => first.up());
    });
    taken.catch((error) => lost.abort(error));
    const bought = await buy(() => url, request, payment, AbortSignal.any([this.#signal, lost.signal]));
    this.answers.push(...bought.answers);
    const isVoid = bought.status === 402;
    if (!isVoid) await Promise.race([taken, this.#late("the process was not killed: it never reached the point")]);
    const again = await buy(() => url, request, payment, this.#signal);

    await rounds(sandbox, 2);
    for (const process of this.#running) await process.kill();
    for (const proxy of [second, ...Object.values(deployment.proxies)]) proxy.heal();
    const wrong = await judge(sandbox, deployment, [endedPurchase(payment, bought)]);
    // Without a proof there was no kill either.
    const isExpected = mayExpire(this.#run) && this.#run.moment !== "during the proof";
    if (isVoid && wrong.length === 0 && !isExpected) return undefined;
    wrong.push(...answerFaults(isVoid && isExpected ? "void" : "delivered", bought, again));
    if (BOUND.includes(rail) && this.asked.second > 0) wrong.push("the second facilitator was asked to settle");
    if (mustPassOn(this.#run) && this.asked.second === 0)
      wrong.push("the second facilitator was never asked to settle");
    return wrong;
  }

  async #deploy(secondUrl: string): Promise<{ deployment: Deployment; second: FaultProxy }> {
    const { sandbox, databases } = this.#testBed;
    const deployment = await newDeployment(sandbox, await databases.create(this.#run.journal));
    this.#opened.defer(() => deployment.close());
    const second = await startFaultProxy(secondUrl);
    this.#opened.defer(() => second.close());
    const [own] = deployment.settings.tables.facilitators as [{ rails: string[] }];
    const settings = withOver(deployment.settings, { facilitators: [own, { url: second.url, rails: own.rails }] });
    return { deployment: { ...deployment, settings }, second };
  }

  /** The commit at which the process kills itself, if it does. */
  #killAt(): CommitPoint | undefined {
    if (this.#run.moment === "before it leaves") return { commit: "call_begun", nth: 1, side: "after" };
    if (this.#run.moment === "during the proof") return { commit: "attestation_signed", nth: 1, side: "before" };
    return undefined;
  }

  /** Adds the conduct of both facilitators and the kill by a request. */
  #arrange({ proxies }: Deployment, second: FaultProxy, victim: ServiceProcess): void {
    const { moment, conduct } = this.#run;
    const first = proxies.facilitator;
    const fault = faultOf(this.#run);
    const kill = () => victim.kill();
    const once = { match: SETTLE, to: 1 };
    const countFirst = () => {
      this.asked.first += 1;
    };
    const atFirst = (rule: Omit<Rule, "match">) =>
      first.add({
        match: SETTLE,
        ...rule,
        onBefore: async (request) => {
          countFirst();
          await rule.onBefore?.(request);
        },
      });

    if (moment === "after it left") atFirst({ ...once, onBefore: kill, fault: { kind: "reset", side: "before" } });
    if (moment === "answer lost") atFirst({ ...once, onAfter: kill, fault: { kind: "reset", side: "after" } });
    if (moment === "after the answer") {
      const nodes = [second, proxies.algod, proxies.indexer, proxies.base, proxies.solana];
      const killNext = () => {
        for (const node of nodes)
          node.add({ match: {}, to: 1, onBefore: kill, fault: { kind: "reset", side: "before" } });
      };
      atFirst({ ...once, ...(fault && { fault }), onSent: killNext });
    }
    // These are waited for, for longer than every payment lives: once is enough before a proof.
    const isWaitedFor = conduct === "silent" || conduct === "settlement_pending";
    const to = isWaitedFor && moment === "during the proof" ? 1 : MISTREATED;
    const from = this.#killAt() ? 1 : 2;
    atFirst({ from, to, ...(fault && { fault }) });
    atFirst({ from: to + 1 });
    if (this.#isClosing("during the proof")) {
      first.add({ match: { path: /^\/verify$/ }, onSent: () => void first.down() });
      void begunAgain(victim).then(() => first.up());
    }

    const countSecond = () => {
      this.asked.second += 1;
    };
    if (this.#run.second === "failing")
      second.add({ match: SETTLE, to: MISTREATED, onBefore: countSecond, fault: { kind: "error", side: "before" } });
    second.add({
      match: SETTLE,
      ...(this.#run.second === "failing" && { from: MISTREATED + 1 }),
      onBefore: countSecond,
    });
  }

  #isClosing(moment: FailoverRun["moment"]): boolean {
    return this.#run.conduct === "closed" && this.#run.moment === moment;
  }

  async #start({ settings }: Deployment, killAt?: CommitPoint): Promise<ServiceProcess> {
    const process = await this.#testBed.start(settings, killAt ? { killAt } : {});
    if (this.#opened.disposed) await process.kill();
    this.#running.push(process);
    this.#opened.defer(() => process.kill());
    return process;
  }

  #late(message: string): Promise<never> {
    return new Promise((_, reject) => {
      this.#signal.addEventListener("abort", () => reject(new Error(message)), { once: true });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

/** Resolves when a process has begun another settlement: the first has failed. */
async function begunAgain(process: ServiceProcess): Promise<void> {
  while (!process.committed.includes("settlement_begun")) await process.nextCommit();
}

/**
 * Buys one attestation where a rail has two facilitators, kills the process while the first one settles, and sends the same
 * payment until there is an answer, and once more. Counts on the chains what was paid and attested, and at the facilitators
 * who was asked.
 *
 * @param secondUrl of a facilitator of all rails with fee payers of its own
 */
export async function runFailover(testBed: TestBed, secondUrl: string, run: FailoverRun): Promise<FailoverOutcome> {
  const started = performance.now();
  for (let tries = 1; ; tries++) {
    await using failover = new Failover(testBed, run);
    const found = await failover.buy(secondUrl).catch((error: Error) => [`not completed: ${error.message}`]);
    if (found === undefined && tries < MAX_TRIES) continue;
    const wrong = found ?? ["the payment expired unspent, again and again"];
    const { answers, asked } = failover;
    return { run, wrong, answers, asked, seconds: (performance.now() - started) / 1_000 };
  }
}
