import { hash } from "node:crypto";
import type { Call } from "../calls/call.ts";
import { pruned } from "../calls/pruning.ts";
import type { Parts } from "./packing.ts";

/** A row of `calls` with its attempts and evidence, its JSON parsed. Both databases name their columns so. */
export type CallRecord = {
  key: string;
  rail: string;
  payer: string;
  subject_hash: string;
  created_at: number;
  request: object;
  evidence: object | null;
  state: string;
  version: number;
  progress: object;
  bundle_id: string | null;
  bundle: string | null;
  /** Oldest first, `raw` in hex. */
  attempts: readonly { txid: string; raw: string; firstValid: number; lastValid: number; dead: boolean }[];
};

/** As `CallRecord`, with its parts as text. */
export type PartedRow = Omit<CallRecord, keyof Parts> & Parts;

/** JSON of what is fixed when a call is prepared and has no column of its own. */
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

/** The columns that a row's parts are. @throws SyntaxError when one is no JSON */
export function parsed({ request, evidence, progress, attempts, ...columns }: Parts) {
  return {
    ...columns,
    request: JSON.parse(request) as object,
    evidence: evidence === null ? null : (JSON.parse(evidence) as object),
    progress: JSON.parse(progress) as object,
    attempts: JSON.parse(attempts) as CallRecord["attempts"],
  };
}

export function toCall(record: CallRecord): Call {
  const call: object = {
    ...record.request,
    ...record.progress,
    key: record.key,
    rail: record.rail,
    payer: record.payer,
    subjectHash: record.subject_hash,
    evidence: record.evidence ?? undefined,
    createdAt: record.created_at,
    state: record.state,
    version: record.version,
    attempts: record.attempts.map((attempt) => ({ ...attempt, raw: Uint8Array.fromHex(attempt.raw) })),
    ...(record.bundle !== null && { bundle: { id: record.bundle_id, body: record.bundle } }),
  };
  return call as Call;
}

/** @throws SyntaxError when the row's JSON is none */
export function callOf(row: PartedRow): Call {
  return toCall({ ...row, ...parsed(row) });
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
