import type { Logger } from "pino";
import { type Call, type CallState, liveAttempt } from "../../calls/call.ts";
import type { Journal } from "../../calls/journal.ts";
import { isFinal } from "../../calls/machine.ts";
import type { RunnerOptions } from "../../calls/runner.ts";
import { count, during, observe, shift, timed } from "../../observe/metrics/meter.ts";
import { currentContext } from "../../observe/tracing/context.ts";
import { summaryOf as subjectSummary } from "../../subjects/subject.ts";
import { problemOfVerdict, type Verifier } from "../../verification/verifier.ts";

/* Wrappers that count what parts of the service do, without changing it. */

/** Counts and measures the commits for which paid calls wait. */
export function observedJournal<J extends Pick<Journal, "insert" | "update">>(journal: J): J {
  for (const operation of ["insert", "update"]) shift("commitsWaiting", { operation }, 0);
  const observed = <T>(operation: string, commit: () => Promise<T>) =>
    during("commitsWaiting", { operation }, () => timed("commitSeconds", { operation }, commit));
  return {
    ...journal,
    insert: (...given: Parameters<Journal["insert"]>) => observed("insert", () => journal.insert(...given)),
    update: (after: Call) => observed("update", () => journal.update(after)),
  };
}

/** Counts each transition, and logs one line for each call that ends. */
export function transitionObserver(log: Pick<Logger, Level>): NonNullable<RunnerOptions["onTransition"]> {
  return (before, after) => {
    const { rail, state, createdAt } = after;
    count("transitions", { rail, state });
    if (state === before?.state || !(isFinal(state) || state === "owed")) return;
    const subject = after.subject.kind;
    count("calls", { rail, subject, outcome: state });
    if (state === "done") observe("callSeconds", { rail, subject }, (Date.now() - createdAt) / 1000);
    if (!isFinal(state)) return;
    // The loop continues until the payment is final, which takes many minutes on Base.
    const { span } = currentContext() ?? {};
    span?.add({ "attestd.outcome": state });
    span?.end(state === "done" ? undefined : state);
    log[LEVELS[state] ?? "info"](summaryOf(after), "paid call ended");
  };
}

type Level = "info" | "warn" | "error";

/** Log levels of the ends at which an operator should look. */
const LEVELS: Readonly<Partial<Record<CallState, Level>>> = { void: "warn", loss: "error" };

/** Summarizes a call for the operator. Nothing in it except the bundle's id lets anyone pay or fetch a bundle. */
function summaryOf(call: Call) {
  const { key, state: outcome, reason, rail, payer, requirement, facilitator, settlements, proof } = call;
  const { network, amount } = requirement;
  const subject = subjectSummary(call.subject);
  return {
    ...{ key, outcome, reason, subject, rail, network, payer, amount, facilitator, settlements },
    payment: proof?.transaction,
    attestation: liveAttempt(call)?.txid,
    attempts: call.attempts.length,
    ...{ round: call.round, bundle: call.bundle?.id, ms: Date.now() - call.createdAt },
    stages: currentContext()?.call.stages,
  };
}

/** Counts verifications by their verdicts. */
export function observedVerifier(verifier: Verifier): Verifier {
  return {
    async verify(body, types, options) {
      const counted = (verdict: string, type = types[0] ?? "transaction-attestation") =>
        count("verifications", { type, verdict });
      try {
        const verdict = await verifier.verify(body, types, options);
        const type = "report" in verdict ? verdict.report.type : undefined;
        counted(problemOfVerdict(verdict) ? "rejected" : "verified", type);
        return verdict;
      } catch (error) {
        counted("undecided");
        throw error;
      }
    },
  };
}
