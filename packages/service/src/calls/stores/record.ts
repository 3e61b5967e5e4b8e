import type { Call } from "../call.ts";

/** A row of `calls` with its attempts, its JSON parsed. Both databases name their columns so. */
export type CallRecord = {
  key: string;
  rail: string;
  payer: string;
  subject_hash: string;
  created_at: number;
  request: object;
  state: string;
  version: number;
  progress: object;
  bundle_id: string | null;
  bundle: string | null;
  /** Oldest first, `raw` in hex. */
  attempts: readonly { txid: string; raw: string; firstValid: number; lastValid: number; dead: boolean }[];
};

/** JSON of what is fixed when a call is prepared and has no column of its own. */
export function requestOf({ aliases, subject, payload, requirement, evidence }: Call): string {
  return JSON.stringify({ aliases, subject, payload, requirement, evidence });
}

/** JSON of everything else that has no column or table of its own, also of members that this file does not know. */
export function progressOf(call: Call): string {
  const { key, rail, payer, subjectHash, createdAt, state, version, attempts, bundle, ...rest } = call;
  const { aliases, subject, payload, requirement, evidence, ...progress } = rest;
  return JSON.stringify(progress);
}

export function toCall(record: CallRecord): Call {
  const call: object = {
    ...record.request,
    ...record.progress,
    key: record.key,
    rail: record.rail,
    payer: record.payer,
    subjectHash: record.subject_hash,
    createdAt: record.created_at,
    state: record.state,
    version: record.version,
    attempts: record.attempts.map((attempt) => ({ ...attempt, raw: Uint8Array.fromHex(attempt.raw) })),
    ...(record.bundle !== null && { bundle: { id: record.bundle_id, body: record.bundle } }),
  };
  return call as Call;
}
