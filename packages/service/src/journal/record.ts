import { hash } from "node:crypto";
import { keptBundle } from "../calls/apart.ts";
import type { Call, CallAttempt } from "../calls/call.ts";
import { APART } from "../calls/call.ts";
import { pruned } from "../calls/pruning.ts";
import type { Evidence } from "../subjects/product.ts";
import type { Parts } from "./packing.ts";

/** A row of `calls` with its attempts and evidence. Both databases name their columns so. */
export type PartedRow = Parts & {
  key: string;
  rail: string;
  created_at: number;
  state: string;
  version: number;
  /** JSON; `APART` where it is not in the row. */
  evidence: string | null;
  bundle_id: string | null;
  answer_bytes: number | null;
  parts: number | null;
};

/** JSON of what is fixed when a call begins and has no column of its own. */
export function requestOf({ aliases, subject, payload, requirement }: Call): string {
  return JSON.stringify({ aliases, subject, payload, requirement });
}

/** JSON of the evidence of a new call, its length, and its SHA-256 in hex, under which it is kept. */
export function evidenceRow({ evidence }: Call): { hash: string; bytes: number; content: string } | undefined {
  if (!evidence || evidence === APART) return undefined;
  const content = JSON.stringify(evidence);
  return { hash: hash("sha256", content), bytes: content.length, content };
}

/** @param json as `evidenceRow` makes it */
export function evidenceIn(json: string | undefined): Evidence | undefined {
  return json === undefined ? undefined : JSON.parse(json);
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
    ...(row.bundle_id !== null && {
      bundle: keptBundle(row.bundle_id, {
        body: row.bundle ?? undefined,
        bytes: row.answer_bytes ?? 0,
        parts: { length: row.parts ?? 0 },
      }),
    }),
  };
  return call as Call;
}

/** The parts of a row whose call is pruned. @throws Error when the call is not at rest */
export function prunedParts(row: PartedRow): Parts {
  const call = pruned(callOf(row));
  const attempts = call.attempts.map((attempt) => ({ ...attempt, raw: attempt.raw.toHex() }));
  return {
    payer: call.payer,
    subject_hash: call.subjectHash,
    request: requestOf(call),
    progress: progressOf(call),
    bundle: row.bundle,
    attempts: JSON.stringify(attempts),
  };
}
