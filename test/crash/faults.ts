import type { Sandbox } from "@attestd/sandbox";
import { startService } from "@attestd/service";
import { type Answer, buy, LATE, priceOf } from "./buyer.ts";
import type { TestBed } from "./cell.ts";
import { type Deployment, newDeployment } from "./deployment.ts";
import type { Fault, Match } from "./fault-proxy.ts";
import { answerFaults, type End, type EndedPurchase, endedPurchase, judge, rounds } from "./judge.ts";
import { payerOf, type Validity } from "./payers.ts";
import { retry } from "./process.ts";
import { requestFor } from "./subjects.ts";
import {
  UPSTREAM_REQUEST_NAMES,
  UPSTREAM_REQUESTS,
  type UpstreamRequest,
  type UpstreamRequestName,
  WITHOUT_TRANSACTION,
} from "./upstream-requests.ts";

/** Faults that apply to any answer. */
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
export type FaultCell = { upstreamRequest: UpstreamRequestName; fault: FaultName };

export const EVERY_FAULT = [...(Object.keys(FAULTS) as (keyof typeof FAULTS)[]), "wrong data", "stale"] as const;

/** Every upstream request with every fault; `stale` only where an older answer differs. */
export const FAULT_CELLS: readonly FaultCell[] = UPSTREAM_REQUEST_NAMES.flatMap((upstreamRequest) =>
  EVERY_FAULT.filter((fault) => fault !== "stale" || "stale" in UPSTREAM_REQUESTS[upstreamRequest]).map((fault) => ({
    upstreamRequest,
    fault,
  })),
);

/** The faults that are tested at the most important request of each upstream. */
const EVERYWHERE: readonly FaultName[] = [
  "time-out before",
  "time-out after",
  "5xx after",
  "truncated",
  "1 byte a second",
  "wrong data",
  "stale",
];

/** The cells of every test run. */
export const FAULT_SAMPLE: readonly FaultCell[] = [
  ...(["settle", "submit", "search", "state"] as const).flatMap((upstreamRequest) =>
    EVERYWHERE.map((fault) => ({ upstreamRequest, fault })),
  ),
  { upstreamRequest: "verify", fault: "time-out before" },
  { upstreamRequest: "verify", fault: "wrong data" },
  { upstreamRequest: "settle", fault: "duplicate" },
  { upstreamRequest: "submit", fault: "duplicate" },
  { upstreamRequest: "params", fault: "wrong data" },
  { upstreamRequest: "block", fault: "wrong data" },
  { upstreamRequest: "round", fault: "stale" },
  { upstreamRequest: "receipt", fault: "wrong data" },
  { upstreamRequest: "landed", fault: "stale" },
];

/** `algod, submit`. */
export function upstreamRequestTitle(upstreamRequest: UpstreamRequestName): string {
  return `${UPSTREAM_REQUESTS[upstreamRequest].upstream}, ${upstreamRequest}`;
}

export function faultTitle({ upstreamRequest, fault }: FaultCell): string {
  return `${upstreamRequestTitle(upstreamRequest)}: ${fault}`;
}

export type FaultOutcome = { cell: FaultCell; wrong: string[]; answers: Answer[]; seconds: number };

/** Cells that run on one service, in order. */
export type FaultSequence = readonly FaultCell[];

/**
 * A few cells of a question are one sequence, for a service is to go on after one fault and meet the next; so are those that
 * are alone of their upstreamRequest. Those in which it waits for a deadline of its own are sequences by themselves, which wait
 * side by side.
 */
export function sequencesOf(cells: readonly FaultCell[]): FaultSequence[] {
  const waits = ({ upstreamRequest, fault }: FaultCell) =>
    (UPSTREAM_REQUESTS[upstreamRequest].upstream === "facilitator" || upstreamRequest === "round") &&
    WAITING.has(fault);
  const waiting = cells.filter(waits).map((cell) => [cell]);
  const others = cells.filter((cell) => !waits(cell));
  const requests = [...Map.groupBy(others, ({ upstreamRequest }) => upstreamRequest).values()];
  const several = requests.filter(({ length }) => length > 1);
  const singles = requests.filter(({ length }) => length === 1).flat();
  // The longest first.
  return [...waiting, ...[...several, singles].flatMap(inParts)];
}

const MAX_SEQUENCE_LENGTH = 4;

function inParts(cells: readonly FaultCell[]): FaultSequence[] {
  const parts = Math.ceil(cells.length / MAX_SEQUENCE_LENGTH);
  return Array.from({ length: parts }, (_, part) => cells.filter((_, n) => n % parts === part));
}

const WAITING: ReadonlySet<FaultName> = new Set(["time-out before", "time-out after", "1 byte a second"]);
const PATIENCE_MS = 600_000;
/** Rounds for which algod returns a transaction. For an older sample the service requests it from the indexer. */
export const REMEMBERED_ROUNDS = 1_000;

/**
 * Buys one attestation in each cell, with the fault at the first such request, and sends the same payment until it is
 * answered. Checks chains and journal at the end; their faults are listed with the last cell.
 */
export async function runFaults(
  { sandbox, databases, turn, settleMs }: Pick<TestBed, "sandbox" | "databases" | "turn" | "settleMs">,
  sequence: FaultSequence,
): Promise<FaultOutcome[]> {
  const outcomes: FaultOutcome[] = [];
  const ended: EndedPurchase[] = [];
  await using opened = new AsyncDisposableStack();
  try {
    const deployment = await newDeployment(sandbox, await databases.create("sqlite"));
    opened.defer(() => deployment.close());
    const start = () =>
      turn(() => startService(deployment.settings, { sandbox: true, ...(settleMs !== undefined && { settleMs }) }));
    const service = await retry(start);
    opened.defer(() => service.close());
    for (const cell of sequence) {
      const { purchase, ...outcome } = await runFault(sandbox, deployment, service.url, cell);
      outcomes.push(outcome);
      ended.push(purchase);
    }
    await rounds(sandbox, 2);
    await service.close();
    outcomes.at(-1)?.wrong.push(...(await judge(sandbox, deployment, ended)));
  } catch (error) {
    const wrong = [`the sequence could not be completed: ${(error as Error).message}`];
    outcomes.at(-1)?.wrong.push(...wrong);
    outcomes.push(...sequence.slice(outcomes.length).map((cell) => ({ cell, wrong, answers: [], seconds: 0 })));
  }
  return outcomes;
}

async function runFault(
  sandbox: Sandbox,
  { proxies }: Deployment,
  url: string,
  cell: FaultCell,
): Promise<FaultOutcome & { purchase: EndedPurchase }> {
  const started = performance.now();
  const upstreamRequest: UpstreamRequest = UPSTREAM_REQUESTS[cell.upstreamRequest];
  const { validity, end = "delivered", ...rule } = ruleOf(cell);
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const request = await requestFor(sandbox, "transaction", upstreamRequest.source);
  const payment = await payerOf(sandbox)(
    upstreamRequest.rail,
    await priceOf(url, request, signal, upstreamRequest.rail),
    validity,
  );
  let met = false;
  const onBefore = () => {
    met = true;
  };
  using healing = new DisposableStack();
  if (upstreamRequest.withoutTransaction)
    healing.defer(
      proxies.facilitator.add({
        match: { path: /^\/settle$/ },
        to: Number.POSITIVE_INFINITY,
        fault: WITHOUT_TRANSACTION,
      }),
    );
  healing.defer(proxies[upstreamRequest.upstream].add({ ...rule, onBefore }));
  const first = await buy(() => url, request, payment, signal);
  const again = await buy(() => url, request, payment, signal);
  const wrong = [
    ...(met ? [] : ["the fault never happened"]),
    ...answerFaults(end, first, again),
    ...unexpected(first.answers.slice(0, -1), upstreamRequest),
  ];
  const seconds = (performance.now() - started) / 1_000;
  return { cell, wrong, answers: first.answers, seconds, purchase: endedPurchase(payment, first) };
}

type Staged = { match: Match; to: number; fault: Fault; validity?: Validity; end?: End };

function ruleOf({ upstreamRequest, fault }: FaultCell): Staged {
  const { match, wrong, stale }: UpstreamRequest = UPSTREAM_REQUESTS[upstreamRequest];
  if (fault === "wrong data") return { match, to: 1, fault: wrong };
  if (fault === "stale") {
    if (!stale) throw new Error(`${upstreamRequest} has no older answer`);
    return { match, to: 1, ...stale };
  }
  return { match, to: 1, fault: FAULTS[fault] };
}

/** Answers before the last that the buyer must not get. */
function unexpected(answers: readonly Answer[], { refusals }: UpstreamRequest): string[] {
  const allowed = new Set<Answer>([...refusals.map((code) => `503 ${code}`), ...LATE]);
  return answers.filter((one) => !allowed.has(one)).map((one) => `the buyer got ${one}`);
}
