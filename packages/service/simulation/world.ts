import { LEASE_MS } from "../src/calls/journal.ts";
import { Answers } from "./answers.ts";
import { Database } from "./database.ts";
import { FACILITATORS, type FacilitatorName } from "./facilitator.ts";
import { Faults } from "./faults.ts";
import { SimulatedLedger } from "./ledger.ts";
import { type Ask, createNetwork } from "./network.ts";
import { drawNodes, type ListName, type NodeList } from "./nodes.ts";
import { type Authorization, LedgerPayments, type PaymentChain, TokenChain } from "./payments.ts";
import { Random } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { Witness } from "./witness.ts";

/** The settings that a process has when it starts. */
type Settings = { readonly facilitators: readonly FacilitatorName[] };
/** Where an operator may change them. */
type SettingsFile = { now: Settings };

/** All that is outside of the service's processes, and those who watch. */
export type World = {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly ask: Ask;
  /** The nodes of each chain. */
  readonly nodes: ReadonlyMap<ListName, NodeList>;
  /** Draws what nodes make up. */
  readonly lies: Random;
  readonly database: Database;
  readonly ledger: SimulatedLedger;
  readonly chains: readonly PaymentChain[];
  /** Every authorization that was ever signed, by its key. */
  readonly authorizations: Map<string, Authorization>;
  readonly witness: Witness;
  readonly answers: Answers;
  readonly settings: SettingsFile;
  /** Draws when the journal fails over to a standby that lacks its newest commits, and how many; undefined where it never does. */
  readonly losses: Random | undefined;
  /** How often each thing happened. */
  readonly counts: Map<string, number>;
  count(kind: string, times?: number): void;
};

export type WorldOptions = {
  seed: number;
  /** Called with each step. */
  trace?: ((line: string) => void) | undefined;
};

/** Makes a world of a seed; what its upstreams suffer from is drawn here. */
export function createWorld({ seed, trace }: WorldOptions): World {
  const random = new Random(seed);
  const scheduler = new Scheduler({ random, trace });
  const counts = new Map<string, number>();
  const count = (kind: string, times = 1) => {
    counts.set(kind, (counts.get(kind) ?? 0) + times);
  };
  const now = () => scheduler.now;
  const step = () => scheduler.steps;
  const faults = new Faults({ random, now, count });
  scheduler.haste = random.pick([0, 0, 0.02, 0.1]);

  const authorizations = new Map<string, Authorization>();
  const settings: SettingsFile = { now: { facilitators: FACILITATORS } };
  const isNamed = (is: (facilitator: FacilitatorName) => boolean) => settings.now.facilitators.some(is);
  const witness = new Witness({ now, step, healedAt: () => faults.healedAt, count, isNamed });
  // Apart from all else that is drawn, as the lies of nodes are: other schedules go the same way as without.
  const drawn = new Random(seed ^ 0x0010_55e5);
  const losses = drawn.chance(0.15) ? drawn : undefined;
  const journalFails = () => losses !== undefined || faults.areMet("journal");
  const remembered = (key: string) => database.refusedFor(key);
  const answers = new Answers({ witness, step, journalFails, remembered, count });
  // Leases that run out at once: several replicas carry one call, as when those that held it stand still for long.
  const worthless = random.chance(0.15);
  const database: Database = new Database({
    now,
    leaseMs: () => (worthless && !faults.healed ? 0 : LEASE_MS),
    committed: (call) => witness.committed(call),
    step,
    lost: (before, left) => {
      count(left ? "call behind after a failover" : "call lost in a failover");
      witness.lost(before, left);
    },
    taken: ({ key }) => {
      if (scheduler.now > faults.healedAt + LEASE_MS) witness.object("carriedOnce", key);
    },
  });
  const ledger = new SimulatedLedger({
    scheduler,
    faults,
    attested: (id, note) => witness.attested(id, note),
    submitted: (id) => witness.submitted(id),
  });
  const common = {
    scheduler,
    faults,
    spent: (authorization: Authorization) => witness.spent(authorization),
    undone: (authorization: Authorization) => witness.undone(authorization),
  };
  const chains: readonly PaymentChain[] = [
    new LedgerPayments({ ...common, ledger, network: "algorand:simulation", asset: "1" }),
    new TokenChain({ ...common, rail: "base", network: "eip155:8453", asset: "0x1", blockMs: 2_000 }),
    new TokenChain({ ...common, rail: "solana", network: "solana:simulation", asset: "S1", blockMs: 400 }),
  ];
  const ask = createNetwork(scheduler, faults);
  // Apart from all else that is drawn: a schedule with one honest node of each chain goes the same way as without these.
  const lies = new Random(seed ^ 0x5eed_11e5);
  const nodes = drawNodes(lies, count);
  const watched = { witness, answers, counts, count };
  return {
    scheduler,
    faults,
    ask,
    nodes,
    lies,
    database,
    ledger,
    chains,
    authorizations,
    settings,
    losses,
    ...watched,
  };
}
