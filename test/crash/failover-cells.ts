import type { JournalKind } from "./databases.ts";
import type { Fault } from "./fault-proxy.ts";
import { RAILS, type RailName } from "./payers.ts";
import { SUBJECTS, type SubjectName } from "./subjects.ts";

/** Where in a settlement by the first of two facilitators the process is killed. */
export const MOMENTS = {
  "before it leaves": "its commit is durable, and nothing was sent",
  "after it left": "the request was sent, and the facilitator never acts on it",
  "answer lost": "the facilitator has settled, and its answer was not read",
  "after the answer": "its answer was read, and nothing was asked since",
  "during the proof": "the chain has shown the payment, and that is not committed",
} as const;
export type Moment = keyof typeof MOMENTS;

/** What the first facilitator makes of requests to settle. */
type Conduct = {
  story: string;
  /** What becomes of a request; absent where it answers as it should, or takes no connections. */
  fault?: Fault;
  /** Moments that cannot be: it gives no answer, or gets no request. */
  never?: readonly Moment[];
  /** Whether the second one must be asked where it may be, unless the first has settled before the kill. */
  passesOn?: true;
};

const PENDING = { success: false, errorReason: "settlement_pending", transaction: "", network: "" };

export const CONDUCTS = {
  answers: { story: "settles and says so" },
  silent: {
    story: "never acts and never answers",
    fault: { kind: "timeout", side: "before" },
    never: ["after the answer"],
    passesOn: true,
  },
  "5xx": { story: "settles and answers 502", fault: { kind: "error", side: "after", status: 502 } },
  "401": { story: "answers 401", fault: { kind: "error", side: "before", status: 401 }, passesOn: true },
  "429": { story: "answers 429", fault: { kind: "error", side: "before", status: 429 }, passesOn: true },
  settlement_pending: {
    story: "answers `settlement_pending` and never acts",
    fault: { kind: "error", side: "before", status: 200, body: JSON.stringify(PENDING) },
    passesOn: true,
  },
  closed: {
    story: "takes no connections",
    never: ["after it left", "answer lost", "after the answer"],
    passesOn: true,
  },
} as const satisfies Record<string, Conduct>;
export type ConductName = keyof typeof CONDUCTS;

export const SECONDS = ["healthy", "failing"] as const;

export type FailoverCell = {
  moment: Moment;
  conduct: ConductName;
  second: (typeof SECONDS)[number];
  rail: RailName;
};

/** A cell with what varies from run to run. */
export type FailoverRun = FailoverCell & {
  journal: JournalKind;
  successor: "restart" | "other replica";
  subject: SubjectName;
};

/** Rails whose payments are settled by no other facilitator than the one whose fee payer they name. */
export const BOUND: readonly RailName[] = ["algorand", "solana"];

/** A blockhash lives for a minute, and the service waits two for a facilitator that is silent: nothing is ever proved. */
const isPossible = ({ moment, conduct, rail }: FailoverCell) =>
  !(CONDUCTS[conduct] as Conduct).never?.includes(moment) &&
  !(rail === "solana" && conduct === "silent" && moment === "during the proof");

/** Every possible cell. */
export const FAILOVER_CELLS: readonly FailoverCell[] = (Object.keys(CONDUCTS) as ConductName[])
  .flatMap((conduct) => (Object.keys(MOMENTS) as Moment[]).map((moment) => ({ conduct, moment })))
  .flatMap((one) => SECONDS.flatMap((second) => RAILS.map((rail) => ({ ...one, second, rail }))))
  .filter(isPossible);

/** What the first facilitator does with a request in this cell. */
export function faultOf({ conduct }: FailoverCell): Fault | undefined {
  return (CONDUCTS[conduct] as Conduct).fault;
}

/** Whether the second facilitator has to be asked before the payment is made. */
export function mustPassOn({ conduct, moment, second, rail }: FailoverCell): boolean {
  const { passesOn } = CONDUCTS[conduct] as Conduct;
  return passesOn === true && moment !== "answer lost" && second === "healthy" && !BOUND.includes(rail);
}

/** Whether the payment may expire unspent: a blockhash lives for a minute, in which nobody settles it. */
export function mayExpire({ conduct, rail }: FailoverCell): boolean {
  return rail === "solana" && (conduct === "silent" || conduct === "settlement_pending");
}

/** `401, after the answer · base · second healthy`. */
export function failoverTitle({ conduct, moment, rail, second }: FailoverCell): string {
  return `${conduct}, ${moment} · ${rail} · second ${second}`;
}

const SUCCESSIONS = [
  { journal: "sqlite", successor: "restart" },
  { journal: "postgres", successor: "other replica" },
  { journal: "postgres", successor: "restart" },
] as const;

/** All cells, `times` times; journal, successor and subject change from cell to cell and from time to time. */
export function failoverRuns(cells: readonly FailoverCell[], times: number, seed: number): FailoverRun[] {
  return Array.from({ length: times }, (_, time) =>
    cells.map((cell, i): FailoverRun => {
      const turn = i + time + seed;
      const succession = SUCCESSIONS[turn % SUCCESSIONS.length] as (typeof SUCCESSIONS)[number];
      const subject = SUBJECTS[Math.floor(turn / SUCCESSIONS.length) % SUBJECTS.length] as SubjectName;
      return { ...cell, ...succession, subject };
    }),
  ).flat();
}

/** Cells of every test run, which take seconds: each rail, and settlements that were made and that were not. */
export const FAILOVER_SAMPLE: readonly FailoverCell[] = [
  { conduct: "401", moment: "after the answer", rail: "base", second: "healthy" },
  { conduct: "5xx", moment: "answer lost", rail: "solana", second: "healthy" },
  { conduct: "closed", moment: "before it leaves", rail: "algorand", second: "failing" },
];
