import { type Call, payloadOf } from "../src/calls/call.ts";
import { identifierAlias } from "../src/payment/identifier.ts";
import { KEPT_REFUSED_MS } from "../src/subjects/batch-reader.ts";
import { requestHash, type Subject } from "../src/subjects/subject.ts";
import type { Answer } from "./answers.ts";
import { Fleet } from "./fleet.ts";
import type { Violation } from "./invariants.ts";
import { judge, PROMPT_MS } from "./judge.ts";
import { Payer } from "./payer.ts";
import { toPayload } from "./payload.ts";
import { type Authorization, PRICE } from "./payments.ts";
import type { Random } from "./random.ts";
import type { Defect } from "./service.ts";
import { SUBJECTS, UNSOLD } from "./sources.ts";
import { createWorld, type World, type WorldOptions } from "./world.ts";

export type ScheduleOptions = WorldOptions & {
  /** A mistake to plant. */
  defect?: Defect;
};

export type Report = {
  violation?: Violation;
  /** How often each thing happened. */
  counts: ReadonlyMap<string, number>;
};

/** How long faults go on at most, in ms; now and then long enough for the longest pauses between retries. */
const ILLNESS_MS = 60_000;
const LONG_ILLNESS_MS = 240_000;
/** Simulated time after the healing in which everything must come to rest, in ms, and the steps that it may take. */
type Rest = { ms: number; steps: number };
const REST: Rest = { ms: 300_000, steps: 20_000 };
/** How much longer a call takes of which the ledger is searched first, in ms: 100 rounds, and some that are late. */
const SEARCHED_MS = 330_000;
/** After so long each process knows of a failover, and that all has healed, in ms: a question of before took it 20 s to give up. */
const NOTICED_MS = 40_000;
/** Where payments are valid for an hour: what cannot be made is open for as long. */
const PATIENT_REST: Rest = { ms: 4_200_000, steps: 200_000 };

/**
 * Runs one schedule: some payers and replicas, until everything has healed and come to rest, and its judgement.
 *
 * Whatever it does and finds, the same seed does and finds again. Needs plain signals (signals.ts).
 */
export async function runSchedule({ seed, trace, defect = {} }: ScheduleOptions): Promise<Report> {
  const world = createWorld({ seed, trace });
  const { scheduler, faults, witness, database, count } = world;
  const { random } = scheduler;
  const begun = scheduler.now;
  const waitMs = random.pick([3_000, 20_000, 90_000]);
  const maxInFlight = random.pick([1, 3, 2_000, 2_000]);
  const fleet = new Fleet(world, { waitMs, maxInFlight, defect }, random.pick([1, 1, 2, 2, 3]));
  const patient = random.chance(0.01);
  if (patient) count("payments valid for an hour");
  const clients = new Clients(world, fleet, patient);
  const graceMs = world.losses ? SEARCHED_MS : 0;
  const usual = patient ? PATIENT_REST : REST;
  const rest = { ms: usual.ms + graceMs, steps: usual.steps * (world.losses ? 2 : 1) };
  for (let i = random.between(1, 3); i > 0; i--) clients.come(random.pick([1, 2, 10]), random.between(1, 2));
  if (random.chance(0.1)) drainAttestor(world);
  if (random.chance(0.15)) removeFacilitator(world, fleet);
  const illness = random.below(random.chance(0.03) ? LONG_ILLNESS_MS : ILLNESS_MS);
  if (world.losses) failOver(world, world.losses, illness);
  scheduler.later(undefined, illness, "EVERYTHING HEALS", "", () => {
    faults.heal();
    scheduler.haste = 0;
    world.ledger.spendable = 1_000_000;
    fleet.heal();
  });

  await untilRest(world, fleet, clients, rest, random.pick([0, 0.005, 0.02]));
  if (clients.bringRefused() > 0) await untilRest(world, fleet, clients, rest, 0);
  if (random.chance(0.3)) {
    clients.comeHonestly();
    clients.comeAgain();
    await untilRest(world, fleet, clients, rest, 0);
  }
  if (!witness.violation) judge(witness, database, { healedAt: faults.healedAt, graceMs });
  if (!witness.violation) await replayAll(world, fleet);
  count("steps", scheduler.steps);
  count("simulated seconds", Math.round((scheduler.now - begun) / 1000));
  const { violation } = witness;
  return { counts: world.counts, ...(violation && { violation }) };
}

/** Lets things happen until nothing more is to come, or something must never have come. @param rate of disturbances */
async function untilRest(
  { scheduler, faults, witness }: World,
  fleet: Fleet,
  clients: Clients,
  rest: Rest,
  rate: number,
) {
  const begun = scheduler.now;
  await scheduler.run(() => {
    if (witness.violation) return true;
    const quiet = clients.busy === 0 && witness.open === 0 && scheduler.inFlight === 0;
    if (faults.healed && quiet && fleet.whole) return true;
    if (scheduler.now > Math.max(begun, faults.healedAt) + rest.ms || scheduler.steps > rest.steps)
      witness.object("rest", `${witness.open} calls are open, ${clients.busy} purchases are under way`);
    // Between any two steps, and so between any two awaits.
    if (!faults.healed && scheduler.random.chance(rate)) fleet.disturb();
    return false;
  });
}

/** Everybody who buys. */
class Clients {
  /** Purchases that are under way. */
  busy = 0;
  readonly #world: World;
  readonly #fleet: Fleet;
  readonly #payers: Payer[] = [];
  /** Whether they sign for an hour. */
  readonly #patient: boolean;

  constructor(world: World, fleet: Fleet, patient: boolean) {
    this.#world = world;
    this.#fleet = fleet;
    this.#patient = patient;
  }

  /** A payer arrives with the money for so many purchases, and makes some. */
  come(affordable: number, purchases: number): void {
    const payer = this.#payer(affordable, this.#patient);
    for (let i = 0; i < purchases; i++) this.#let(payer.purchase());
  }

  /** A payer arrives while everything works, and makes one or two purchases at once, with the money for just those. */
  comeHonestly(): void {
    const { random } = this.#world.scheduler;
    const things = random.between(1, 2);
    const payer = this.#payer(things);
    for (let i = 0; i < things; i++) this.#mustBeServed(i * random.below(10_000), () => payer.buyHonestly());
  }

  /** A payer whose named purchase failed returns while everything works, and buys it again under that name. */
  comeAgain(): void {
    for (const call of forsaken(this.#world.database.calls)) {
      const payer = this.#payers.find(({ name }) => name === call.payer);
      if (payer) this.#mustBeServed(0, () => payer.buyAgain(call));
    }
  }

  /**
   * Payers send again what a facilitator refused and settled all the same: it is delivered, or unaccounted for where it was
   * forgotten. @returns how many payments
   */
  bringRefused(): number {
    const { witness, database, count } = this.#world;
    const made = witness.madeAfterRefusal();
    for (const { authorization, refusedFor, accepted } of made) {
      const { key, account } = authorization;
      const payer = this.#payers.find(({ name }) => name === account.name);
      // The first that was remembered counts, and its own request may have died with its process.
      const isFirst = (subject: Subject) => requestHash(subject) === database.refusedFor(key);
      const subject = [...SUBJECTS, ...UNSOLD].find(isFirst) ?? refusedFor[0];
      if (!payer || !subject || !accepted || UNSOLD.includes(subject)) continue;
      count("payment made after a 402");
      const isRight = (answer: Answer) =>
        answer.kind === "delivered" ||
        (answer.kind === "problem" && answer.problem.code === "payment_unaccounted" && database.hasForgotten(key));
      const bring = async () => {
        if (!(await payer.bringAgain({ authorization, accepted }, subject, isRight)))
          witness.object("paidOnce", `${key} was made after a 402, and is not delivered`);
      };
      this.#let(bring());
    }
    return made.length;
  }

  /** Everything works, and what a node last said while it was ill is no longer kept. */
  #mustBeServed(afterMs: number, buy: () => Promise<readonly Answer[]>): void {
    const { scheduler, faults, witness } = this.#world;
    const serve = async () => {
      const refreshed = Math.max(0, faults.healedAt + KEPT_REFUSED_MS - scheduler.now);
      await scheduler.pause(refreshed + afterMs, "comes");
      const begun = scheduler.now;
      const answers = (await buy()).map(({ kind }) => kind);
      const ms = scheduler.now - begun;
      if (ms > PROMPT_MS || answers.some((kind) => kind !== "delivered"))
        witness.object("served", `${answers.join(" and ")} after ${ms} ms`);
    };
    this.#let(serve());
  }

  #payer(affordable: number, patient = false): Payer {
    const { scheduler, chains, faults, authorizations, witness } = this.#world;
    const payer = new Payer({
      scheduler,
      chains,
      account: { name: `payer${this.#payers.length + 1}`, balance: PRICE * BigInt(affordable) },
      balancer: () => this.#fleet.pick(),
      signed: (authorization) => {
        authorizations.set(authorization.key, authorization);
        witness.signed(authorization);
      },
      signedAnother: (earlier, another) => witness.signedAnother(earlier, another),
      healed: () => faults.healed,
      forks: faults.forks,
      patient,
    });
    this.#payers.push(payer);
    return payer;
  }

  #let(purchase: Promise<unknown>): void {
    this.busy += 1;
    void purchase.finally(() => {
      this.busy -= 1;
    });
  }
}

/** The first void call of each purchase that was named, and under whose name nothing was bought. */
function forsaken(calls: readonly Call[]): Call[] {
  const purchases = new Map<string, Call | undefined>();
  for (const call of calls) {
    const name = identifierAlias({ ...call, payload: payloadOf(call) }, 0);
    if (name === undefined) continue;
    const first = purchases.has(name) ? purchases.get(name) : call;
    purchases.set(name, call.state === "void" ? first : undefined);
  }
  return [...purchases.values()].filter((call) => call !== undefined);
}

/** The operator removes a facilitator from the settings, for a while or for ever. */
function removeFacilitator({ scheduler, faults, settings, count }: World, fleet: Fleet): void {
  const { random } = scheduler;
  const before = settings.now;
  scheduler.later(undefined, random.below(30_000), "a facilitator is removed from the settings", "", () => {
    if (faults.healed) return;
    count("facilitator removed from the settings");
    settings.now = { facilitators: [random.pick(before.facilitators)] };
    fleet.replace();
    if (random.chance(0.5)) return;
    scheduler.later(undefined, random.below(60_000), "it is named again", "", () => {
      if (faults.healed) return;
      settings.now = before;
      fleet.replace();
    });
  });
}

/** The journal fails over once or twice, to a standby that lacks its newest commits, many or none. */
function failOver({ scheduler, faults, database }: World, losses: Random, withinMs: number): void {
  for (let times = losses.pick([1, 1, 1, 2]); times > 0; times--)
    scheduler.later(undefined, losses.below(withinMs), "THE JOURNAL FAILS OVER", "", () => {
      if (faults.healed) return;
      faults.count("journal fails over");
      database.failOver(losses.pick([0, 1, 1, 2, 3, 5, 10, 30]));
    });
}

/** The attestor's account is emptied for a while. */
function drainAttestor({ scheduler, faults, ledger }: World): void {
  scheduler.later(undefined, scheduler.random.below(30_000), "the attestor is out of ALGO", "", () => {
    if (faults.healed) return;
    faults.count("attestor drained");
    ledger.spendable = 0;
  });
}

/**
 * Sends every payment that was delivered for once more: whichever replica it meets answers with the same bytes. One that was made,
 * and whose row a failover has lost, is unaccounted for.
 */
async function replayAll({ scheduler, database, authorizations, witness, losses }: World, fleet: Fleet): Promise<void> {
  async function replay(authorization: Authorization): Promise<void> {
    const { lost, spentAt } = witness.course(authorization.key);
    const row = database.find(authorization.key);
    const call = row ?? lost;
    if (!call || (row ? row.state !== "done" && row.state !== "loss" : spentAt === undefined)) return;
    const sent = { authorization, signature: "good", by: "key", accepted: call.requirement } as const;
    const answer = await fleet.pick()?.request({ sent, subject: call.subject, payload: toPayload(sent), wait: true });
    if (row && answer?.kind !== "delivered") witness.object("delivered", `${call.key} is not given again`);
    if (row || (answer?.kind === "problem" && answer.problem.code === "payment_unaccounted")) return;
    // One that a facilitator refused after that, and made all the same, has a new call.
    if (answer?.kind !== "delivered" || database.refusedFor(call.key) === undefined)
      witness.object("answers", `${call.key} is lost, and is answered ${answer?.kind}`);
  }

  async function all(): Promise<void> {
    // A failover is noticed by then.
    if (losses) await scheduler.pause(NOTICED_MS, "comes again");
    for (const authorization of authorizations.values()) await replay(authorization);
  }
  let over = false;
  void all().then(() => {
    over = true;
  });
  await scheduler.run(() => over || witness.violation !== undefined);
}
