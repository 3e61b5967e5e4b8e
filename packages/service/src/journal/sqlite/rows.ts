import type { Call } from "../../calls/call.ts";
import { isAtRest } from "../../calls/machine.ts";
import { begunEvidence } from "../evidence.ts";
import { deliveryOf, evidenceRow, progressOf, requestOf } from "../record.ts";

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
  const { key, aliases, rail, payer, subjectHash, payloadSha256, createdAt, state, version, requirement } = call;
  const [request, progress, amount] = [requestOf(call), progressOf(call), BigInt(requirement.amount)];
  const evidence = evidenceRow(call);
  const evidenceHash = evidence?.row.hash ?? null;
  const fixed = { key, rail, payer, subjectHash, payloadSha256, createdAt, amount, request, evidenceHash };
  return { names: [key, ...aliases], evidence, row: { ...fixed, state, version, progress } };
}

/** @param call after a transition, its version one above the stored one */
export function movedRow(call: Call) {
  const { key, state, version, bundle, attempts, evidence, refund } = call;
  const last = bundle ? undefined : attempts.at(-1);
  const delivery = deliveryOf(call);
  return {
    row: { key, state, version, progress: progressOf(call), open: isAtRest(call) ? 0 : 1 },
    dropsEvidence: evidence === undefined,
    name: refund,
    delivery,
    begun: delivery ? begunEvidence(call) : [],
    attempt: last && { ...last, key, place: attempts.length - 1, dead: last.dead ? 1 : 0 },
  };
}
