import { divisionOf } from "../../calls/apart.ts";
import type { Call, KeptBundle } from "../../calls/call.ts";
import { isAtRest } from "../../calls/machine.ts";
import { begunEvidence } from "../evidence.ts";
import { evidenceRow, progressOf, requestOf } from "../record.ts";

/*
 * Calls as they cross to the worker and back: rows, with JSON as text. To clone a whole call would cost both threads more
 * than all their other work on it.
 */

/** A new row of `calls`, and every name that the call holds: its key and its aliases. */
export type NewRow = ReturnType<typeof newRow>;

/** What a transition writes: the row's new values, the attempt that may be new or dead, and a bundle that was just sealed. */
export type MovedRow = ReturnType<typeof movedRow>;

/** @param call as it is first committed */
export function newRow(call: Call) {
  const { key, aliases, rail, payer, subjectHash, createdAt, state, version, requirement } = call;
  const [request, progress, amount] = [requestOf(call), progressOf(call), BigInt(requirement.amount)];
  const evidence = evidenceRow(call);
  const evidenceHash = evidence?.hash ?? null;
  return {
    names: [key, ...aliases],
    evidence,
    row: { key, rail, payer, subjectHash, createdAt, amount, request, evidenceHash, state, version, progress },
  };
}

/** @param call after a transition, its version one above the stored one */
export function movedRow(call: Call) {
  const { key, state, version, bundle, attempts, evidence, refund } = call;
  const last = attempts.at(-1);
  const kept = bundle && keptRow(key, bundle);
  return {
    row: { key, state, version, progress: progressOf(call) },
    dropsEvidence: evidence === undefined,
    name: refund,
    rests: isAtRest(call),
    bundle: kept,
    begun: kept ? begunEvidence(call) : [],
    attempt: last && { ...last, key, place: attempts.length - 1, dead: last.dead ? 1 : 0 },
  };
}

/** A bundle that was just sealed, with its parts; undefined for one that is kept already. */
function keptRow(key: string, bundle: KeptBundle) {
  const division = divisionOf(bundle);
  if (!division) return undefined;
  const { body = null, bytes, parts } = division;
  return {
    row: { key, id: bundle.id, body, bytes, parts: parts.length },
    parts: parts.map(({ id = null, text }, place) => ({ bundleId: bundle.id, place, id, bytes: text.length, text })),
  };
}
