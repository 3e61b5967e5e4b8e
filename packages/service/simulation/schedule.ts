import { Answers } from "./answers.ts";
import { Database } from "./database.ts";
import { Faults } from "./faults.ts";
import { Fleet } from "./fleet.ts";
import type { Violation } from "./invariants.ts";
import { judge } from "./judge.ts";
import { SimulatedLedger } from "./ledger.ts";
import { createNetwork } from "./network.ts";
import { Payer } from "./payer.ts";
import { toPayload } from "./payload.ts";
import { type Authorization, LedgerPayments, type PaymentChainOptions, TokenChain } from "./payments.ts";
import { Random } from "./random.ts";
import { type Defect, PRICE, type Surroundings } from "./replica.ts";
import { Scheduler } from "./scheduler.ts";
import { Witness } from "./witness.ts";

export type ScheduleOptions = {
  seed: number;
  /** Told of each step. */
  trace?: (line: string) => void;
  defect?: Defect;
};

export type Report = {
  violation?: Violation;
  /** How often each thing happened. */
  counts: ReadonlyMap<string, number>;
};

const LONGEST_ILLNESS_MS = 60_000;
/** Simulated time after the healing in which everything must come to rest. */
const REST_MS = 300_000;
const MOST_STEPS = 20_000;

/** Runs one schedule from its seed to its judgement. Whatever it does and finds, the same seed does and finds again. */
export async function runSchedule({ seed, trace, defect = {} }: ScheduleOptions): Promise<Report> {
  const random = new Random(seed);
  const scheduler = new Scheduler({ random, trace });
  const now = () => scheduler.now;
  const begun = scheduler.now;
  const healAt = begun + random.below(LONGEST_ILLNESS_MS);
  scheduler.haste = random.pick([0, 0, 0.02, 0.1]);
  const counts = new Map<string, number>();
  const count = (kind: string, times = 1) => counts.set(kind, (counts.get(kind) ?? 0) + times);
  const faults = new Faults({ random, now, healAt, count });
  const authorizations = new Map<string, Authorization>();

  const database: Database = new Database({ now, committed: (call) => witness.committed(call) });
  const witness: Witness = new Witness({
    now,
    isSpent: (authorization) => chainOf(authorization).spending(authorization) !== undefined,
    count,
  });
  const answers = new Answers({ witness, storeFails: () => faults.areMet("store"), count });
  const ledger = new SimulatedLedger({
    scheduler,
    faults,
    attested: (id, note) => witness.attested(id, note),
    submitted: (id) => witness.submitted(id),
  });
  const chainOptions: PaymentChainOptions = {
    scheduler,
    faults,
    spent: (authorization) => witness.spent(authorization),
  };
  const chains = [
    new LedgerPayments({ ...chainOptions, ledger, network: "algorand:simulation", asset: "1" }),
    new TokenChain({ ...chainOptions, rail: "base", network: "eip155:8453", asset: "0x1", blockMs: 2_000 }),
    new TokenChain({ ...chainOptions, rail: "solana", network: "solana:simulation", asset: "S1", blockMs: 400 }),
  ];
  const chainOf = ({ rail }: Authorization) => {
    const chain = chains.find((candidate) => candidate.rail === rail);
    if (!chain) throw new Error(`no chain ${rail}`);
    return chain;
  };

  const surroundings: Surroundings = {
    scheduler,
    faults,
    ask: createNetwork(scheduler, faults),
    database,
    ledger,
    chains,
    authorizations,
    witness,
    answers,
    waitMs: random.pick([3_000, 20_000, 90_000]),
    defect,
  };
  const fleet = new Fleet(surroundings, random.pick([1, 1, 2, 2, 3]));
  if (random.chance(0.1)) drainAttestor(surroundings);

  let buying = 0;
  for (let i = random.between(1, 3); i > 0; i--) {
    const account = { name: `payer${i}`, balance: PRICE * BigInt(random.pick([1, 2, 10])) };
    const payer = new Payer({
      scheduler,
      chains,
      account,
      balancer: () => fleet.pick(),
      signed: (authorization) => {
        authorizations.set(authorization.key, authorization);
        witness.signed(authorization);
      },
      healed: () => faults.healed,
    });
    for (let purchases = random.between(1, 2); purchases > 0; purchases--) {
      buying += 1;
      void payer.purchase().finally(() => {
        buying -= 1;
      });
    }
  }

  let healed = false;
  scheduler.later(undefined, healAt - begun, "EVERYTHING HEALS", "", () => {
    healed = true;
    scheduler.haste = 0;
    ledger.spendable = 1_000_000;
    fleet.heal();
  });
  const rate = random.pick([0, 0.005, 0.02]);
  const disturb = () => {
    if (healed || !random.chance(rate)) return;
    random.pick([() => fleet.crash(), () => fleet.crash(), () => fleet.pause(), () => fleet.stop()])();
  };
  const atRest = () => healed && buying === 0 && witness.open === 0 && scheduler.inFlight === 0 && fleet.whole;
  await scheduler.run(() => {
    if (witness.violation || atRest()) return true;
    if (scheduler.now > healAt + REST_MS || scheduler.steps > MOST_STEPS)
      witness.object("rest", `${witness.open} calls are open, ${buying} payers are waiting`);
    disturb();
    return false;
  });

  if (!witness.violation) judge(witness, database, healAt);
  if (!witness.violation) await replayAll(surroundings, fleet);
  const { violation } = witness;
  count("steps", scheduler.steps);
  count("simulated seconds", Math.round((scheduler.now - begun) / 1000));
  return { counts, ...(violation && { violation }) };
}

/** The attestor's account is emptied for a while. */
function drainAttestor({ scheduler, faults, ledger }: Surroundings): void {
  scheduler.later(undefined, scheduler.random.below(30_000), "the attestor is out of ALGO", "", () => {
    if (faults.healed) return;
    faults.count("attestor drained");
    ledger.spendable = 0;
  });
}

/** Sends every payment that was made once more: whichever replica it meets answers with the same bytes. */
async function replayAll({ scheduler, database, authorizations, witness }: Surroundings, fleet: Fleet): Promise<void> {
  const replays = [...authorizations.values()].map(async (authorization) => {
    const call = database.find(authorization.key);
    if (call?.state !== "done") return;
    const sent = { authorization, signature: "good", wallet: false, accepted: call.requirement } as const;
    const answer = await fleet.pick()?.request({ sent, subject: call.subject, payload: toPayload(sent) });
    if (answer?.kind !== "delivered") witness.object("delivered", `${call.key} is not given`);
  });
  let over = false;
  void Promise.all(replays).then(() => {
    over = true;
  });
  await scheduler.run(() => over || witness.violation !== undefined);
}
