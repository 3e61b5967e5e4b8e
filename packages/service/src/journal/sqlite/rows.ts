import type { Call } from "../../calls/call.ts";
import { isAtRest } from "../../calls/machine.ts";
import { type CallRecord, evidenceRow, progressOf, requestOf, toCall } from "../record.ts";

/*
 * Calls as the thread that writes them gets and gives them: rows, with JSON as text. To copy a whole call from one thread
 * to the other would cost both of them more than everything else that is done for it.
 */

/** A new row of `calls`, and every name that the call holds: its key and its aliases. */
export type NewRow = ReturnType<typeof newRow>;

/** What a transition writes: the row's new values, and the attempt that may be new or dead. */
export type MovedRow = ReturnType<typeof movedRow>;

/** A row that was read with the columns of `CALL`. */
export type FoundRow = Omit<CallRecord, "request" | "evidence" | "progress" | "attempts"> & {
  request: string;
  evidence: string | null;
  progress: string;
  attempts: string;
};

/** The columns of a call, its evidence and its attempts. */
export const CALL = `
  calls.*, (SELECT content FROM evidence WHERE hash = calls.evidence_hash) AS evidence, (
    SELECT json_group_array(
      json_object('txid', txid, 'raw', hex(raw), 'firstValid', first_valid, 'lastValid', last_valid, 'dead',
        json(iif(dead, 'true', 'false'))) ORDER BY place)
    FROM attempts WHERE attempts.key = calls.key
  ) AS attempts`;

/** @param call as it is first committed */
export function newRow(call: Call) {
  const { key, aliases, rail, payer, subjectHash, createdAt, state, version } = call;
  const [request, progress] = [requestOf(call), progressOf(call)];
  const evidence = evidenceRow(call);
  const evidenceHash = evidence?.hash ?? null;
  return {
    names: [key, ...aliases],
    evidence,
    row: { key, rail, payer, subjectHash, createdAt, request, evidenceHash, state, version, progress },
  };
}

/** @param call after a transition, its version one above the stored one */
export function movedRow(call: Call) {
  const { key, state, version, bundle, attempts, evidence, refund } = call;
  const last = attempts.at(-1);
  return {
    row: { key, state, version, progress: progressOf(call) },
    dropsEvidence: evidence === undefined,
    name: refund,
    // Columns that have indexes, which are left alone until there is something to write in them.
    ends: (bundle !== undefined || isAtRest(call)) && {
      key,
      open: isAtRest(call) ? 0 : 1,
      bundleId: bundle?.id ?? null,
      bundle: bundle?.body ?? null,
    },
    attempt: last && { ...last, key, place: attempts.length - 1, dead: last.dead ? 1 : 0 },
  };
}

/** @throws SyntaxError when the row's JSON is none */
export function callOf(row: FoundRow): Call {
  const { request, evidence, progress, attempts } = row;
  return toCall({
    ...row,
    request: JSON.parse(request),
    evidence: evidence === null ? null : JSON.parse(evidence),
    progress: JSON.parse(progress),
    attempts: JSON.parse(attempts),
  });
}
