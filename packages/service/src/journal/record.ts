import { hash } from "node:crypto";
import type { Call, CallAttempt } from "../calls/call.ts";
import { pruned } from "../calls/pruning.ts";
import type { Parts } from "./packing.ts";

/** A row of `calls` with its attempts and evidence. Both databases name their columns so. */
export type PartedRow = Parts & {
  key: string;
  rail: string;
  created_at: number;
  state: string;
  version: number;
  bundle_id: string | null;
};

/** JSON of what is fixed when a call begins and has no column of its own. */
export function requestOf({ aliases, subject, payload, requirement }: Call): string {
  return JSON.stringify({ aliases, subject, payload, requirement });
}

/** JSON of the evidence, and the SHA-256 of that in hex, under which it is kept. */
export function evidenceRow({ evidence }: Call): { hash: string; content: string } | undefined {
  if (!evidence) return undefined;
  const content = JSON.stringify(evidence);
  return { hash: hash("sha256", content), content };
}

/** JSON of everything else that has no column or table of its own, also of members that this file does not know. */
export function progressOf(call: Call): string {
  const { key, rail, payer, subjectHash, createdAt, state, version, attempts, bundle, ...rest } = call;
  const { aliases, subject, payload, requirement, evidence, ...progress } = rest;
  return JSON.stringify(progress);
}

/** @throws SyntaxError when the row's JSON is none */
export function callOf(row: PartedRow): Call {
  const attempts = JSON.parse(row.attempts) as (Omit<CallAttempt, "raw"> & { raw: string })[];
  const call: object = {
    ...JSON.parse(row.request),
    ...JSON.parse(row.progress),
    key: row.key,
    rail: row.rail,
    payer: row.payer,
    subjectHash: row.subject_hash,
    evidence: row.evidence === null ? undefined : JSON.parse(row.evidence),
    createdAt: row.created_at,
    state: row.state,
    version: row.version,
    attempts: attempts.map((attempt) => ({ ...attempt, raw: Uint8Array.fromHex(attempt.raw) })),
    ...(row.bundle !== null && { bundle: { id: row.bundle_id, body: row.bundle } }),
  };
  return call as Call;
}

/** The parts of a row whose call is pruned. @throws Error when the call is not at rest */
export function prunedParts(row: PartedRow): Parts {
  // Evidence may be megabytes, and is dropped.
  const call = pruned(callOf({ ...row, evidence: null }));
  const attempts = call.attempts.map((attempt) => ({ ...attempt, raw: attempt.raw.toHex() }));
  return {
    payer: call.payer,
    subject_hash: call.subjectHash,
    request: requestOf(call),
    evidence: null,
    progress: progressOf(call),
    bundle: row.bundle,
    attempts: JSON.stringify(attempts),
  };
}
