import type { Sandbox } from "@attestd/sandbox";
import { startService } from "@attestd/service";
import { buy, LATE, priceOf, type Told } from "./buyer.ts";
import type { Stand } from "./cell.ts";
import { type Deployment, newDeployment } from "./deployment.ts";
import type { Fault, Match } from "./fault-proxy.ts";
import { asPromised, type End, type Ended, endedBy, judge, rounds } from "./judge.ts";
import { type Life, payerOf } from "./payers.ts";
import { persistently } from "./process.ts";
import { QUESTION_NAMES, QUESTIONS, type Question, type QuestionName } from "./questions.ts";
import { requestFor } from "./subjects.ts";

/** Ways in which any answer can fail to come, or come twice. */
export const FAULTS = {
  "time-out before": { kind: "timeout", side: "before" },
  "time-out after": { kind: "timeout", side: "after" },
  "5xx before": { kind: "error", side: "before", status: 503 },
  "5xx after": { kind: "error", side: "after", status: 502 },
  "reset before": { kind: "reset", side: "before" },
  "reset after": { kind: "reset", side: "after" },
  truncated: { kind: "truncated" },
  "1 byte a second": { kind: "trickle" },
  duplicate: { kind: "duplicate" },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS | "wrong data" | "stale";
export type FaultCell = { question: QuestionName; fault: FaultName };

export const EVERY_FAULT = [...(Object.keys(FAULTS) as (keyof typeof FAULTS)[]), "wrong data", "stale"] as const;

/** Every question with every fault; but for an older answer where there is none that differs. */
export const FAULT_CELLS: readonly FaultCell[] = QUESTION_NAMES.flatMap((question) =>
  EVERY_FAULT.filter((fault) => fault !== "stale" || "stale" in QUESTIONS[question]).map((fault) => ({
    question,
    fault,
  })),
);

/** The faults that every upstream must be fit for, at the question of it that matters most. */
const EVERYWHERE: readonly FaultName[] = [
  "time-out before",
  "time-out after",
  "5xx after",
  "truncated",
  "1 byte a second",
  "wrong data",
  "stale",
];

/** What is tried in every test run. */
export const FAULT_SAMPLE: readonly FaultCell[] = [
  ...(["settle", "submit", "search", "state"] as const).flatMap((question) =>
    EVERYWHERE.map((fault) => ({ question, fault })),
  ),
  { question: "verify", fault: "time-out before" },
  { question: "verify", fault: "wrong data" },
  { question: "settle", fault: "duplicate" },
  { question: "submit", fault: "duplicate" },
  { question: "params", fault: "wrong data" },
  { question: "block", fault: "wrong data" },
  { question: "round", fault: "stale" },
  { question: "receipt", fault: "wrong data" },
  { question: "landed", fault: "stale" },
];

/** `algod, submit`. */
export function questionTitle(question: QuestionName): string {
  return `${QUESTIONS[question].upstream}, ${question}`;
}

export function faultTitle({ question, fault }: FaultCell): string {
  return `${questionTitle(question)}: ${fault}`;
}

export type FaultOutcome = { cell: FaultCell; wrong: string[]; told: Told[]; seconds: number };

/** Cells that one service goes through, one after the other. */
export type FaultCourse = readonly FaultCell[];

/**
 * A few cells of a question are one course, for a service is to go on after one fault and meet the next; so are those that
 * are alone of their question. Those in which it waits for a deadline of its own are courses by themselves, which wait
 * side by side.
 */
export function coursesOf(cells: readonly FaultCell[]): FaultCourse[] {
  const waits = ({ question, fault }: FaultCell) =>
    (QUESTIONS[question].upstream === "facilitator" || question === "round") && WAITING.has(fault);
  const waiting = cells.filter(waits).map((cell) => [cell]);
  const others = cells.filter((cell) => !waits(cell));
  const questions = [...Map.groupBy(others, ({ question }) => question).values()];
  const several = questions.filter(({ length }) => length > 1);
  const singles = questions.filter(({ length }) => length === 1).flat();
  // Those first that take longest.
  return [...waiting, ...[...several, singles].flatMap(inParts)];
}

const MAX_COURSE_LENGTH = 4;

function inParts(cells: readonly FaultCell[]): FaultCourse[] {
  const parts = Math.ceil(cells.length / MAX_COURSE_LENGTH);
  return Array.from({ length: parts }, (_, part) => cells.filter((_, n) => n % parts === part));
}

const WAITING: ReadonlySet<FaultName> = new Set(["time-out before", "time-out after", "1 byte a second"]);
const PATIENCE_MS = 600_000;
/** Rounds for which algod remembers a transaction; a sample that is older has the indexer asked for it. */
export const REMEMBERED_ROUNDS = 1_000;

/**
 * Buys one attestation in each cell, while the first such question meets the fault, and sends the same payment until it
 * is answered. In the end chains and journal are held against all of them; what is wrong then is told of the last.
 */
export async function runFaults(
  { sandbox, databases, turn }: Pick<Stand, "sandbox" | "databases" | "turn">,
  course: FaultCourse,
): Promise<FaultOutcome[]> {
  const outcomes: FaultOutcome[] = [];
  const ended: Ended[] = [];
  await using opened = new AsyncDisposableStack();
  try {
    const deployment = await newDeployment(sandbox, await databases.create("sqlite"));
    opened.defer(() => deployment.close());
    const start = () => turn(() => startService(deployment.settings, { sandbox: true }));
    const service = await persistently(start);
    opened.defer(() => service.close());
    for (const cell of course) {
      const { purchase, ...outcome } = await runFault(sandbox, deployment, service.url, cell);
      outcomes.push(outcome);
      ended.push(purchase);
    }
    await rounds(sandbox, 2);
    await service.close();
    outcomes.at(-1)?.wrong.push(...(await judge(sandbox, deployment, ended)));
  } catch (error) {
    const wrong = [`the course could not be run to its end: ${(error as Error).message}`];
    outcomes.at(-1)?.wrong.push(...wrong);
    outcomes.push(...course.slice(outcomes.length).map((cell) => ({ cell, wrong, told: [], seconds: 0 })));
  }
  return outcomes;
}

async function runFault(
  sandbox: Sandbox,
  { proxies }: Deployment,
  url: string,
  cell: FaultCell,
): Promise<FaultOutcome & { purchase: Ended }> {
  const started = performance.now();
  const question: Question = QUESTIONS[cell.question];
  const { life, end = "delivered", ...rule } = ruleOf(cell);
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const request = requestFor(sandbox, "transaction", question.source);
  const payment = await payerOf(sandbox)(question.rail, await priceOf(url, request, signal), life);
  let met = false;
  const onBefore = () => {
    met = true;
  };
  const heal = proxies[question.upstream].add({ ...rule, onBefore });
  const first = await buy(() => url, request, payment, signal);
  const again = await buy(() => url, request, payment, signal);
  heal();
  const wrong = [
    ...(met ? [] : ["the fault was never met"]),
    ...asPromised(end, first, again),
    ...unexpected(first.told.slice(0, -1), question),
  ];
  const seconds = (performance.now() - started) / 1_000;
  return { cell, wrong, told: first.told, seconds, purchase: endedBy(payment, first) };
}

type Staged = { match: Match; to: number; fault: Fault; life?: Life; end?: End };

function ruleOf({ question, fault }: FaultCell): Staged {
  const { match, wrong, stale }: Question = QUESTIONS[question];
  if (fault === "wrong data") return { match, to: 1, fault: wrong };
  if (fault === "stale") {
    if (!stale) throw new Error(`${question} has no older answer`);
    return { match, to: 1, ...stale };
  }
  return { match, to: 1, fault: FAULTS[fault] };
}

/** What the buyer was told before the end and must not have been. */
function unexpected(told: readonly Told[], { refusals }: Question): string[] {
  const allowed = new Set<Told>([...refusals.map((code) => `503 ${code}`), ...LATE]);
  return told.filter((one) => !allowed.has(one)).map((one) => `the buyer was told ${one}`);
}
