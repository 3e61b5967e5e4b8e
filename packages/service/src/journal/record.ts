import { createHash } from "node:crypto";
import { type Division, divisionOf, evidenceDivision, keptBundle } from "../calls/apart.ts";
import { APART, type Call, type CallAttempt } from "../calls/call.ts";
import type { BatchItemEvidence, Evidence } from "../subjects/product.ts";

/** A row of `calls`, unpacked, with its attempts and evidence. Both databases name their columns so. */
export type PartedRow = {
  key: string;
  rail: string;
  payer: string;
  subject_hash: string;
  payload_sha256: string;
  created_at: number;
  state: string;
  version: number;
  /** JSON. */
  request: string;
  progress: string;
  /** `deliveredOf`. */
  delivered: string | null;
  /** JSON of those that stand apart, oldest first, `raw` in hex. */
  attempts: string;
  /** JSON; `APART` where it is not in the row. */
  evidence: string | null;
  bundle_id: string | null;
  answer_bytes: number | null;
  parts: number | null;
};

/** The columns of a row that are packed. */
export type Packed = { request: Uint8Array; delivered: Uint8Array | null };

/** JSON of what is fixed when a call begins and has no column of its own. */
export function requestOf({ aliases, subject, payload, requirement }: Call): string {
  return JSON.stringify({ aliases, subject, payload, requirement });
}

/** JSON of the evidence of a new call, its length, and its SHA-256 in hex, under which it is kept; apart from it the items of a large batch. */
export function evidenceRow({ evidence }: Call) {
  if (!evidence || evidence === APART) return undefined;
  const { content, items } = evidenceDivision(evidence);
  const all = createHash("sha256").update(content);
  for (const item of items) all.update(item);
  return { row: { hash: all.digest("hex"), bytes: content.length, content }, items };
}

/** @param json as `evidenceRow` makes it */
export function evidenceIn(json: string | undefined): Evidence | undefined {
  return json === undefined ? undefined : JSON.parse(json);
}

/** @param texts JSON of each */
export function evidenceItemsIn(texts: readonly string[]): BatchItemEvidence[] {
  return texts.map((text) => JSON.parse(text));
}

/**
 * JSON of everything else that has no column or table of its own, also of members that this file does not know. From the
 * delivery on it has the attempts, without their bytes, and not the receipt.
 */
export function progressOf(call: Call): string {
  const { key, rail, payer, subjectHash, payloadSha256, createdAt, state, version, attempts, bundle, ...rest } = call;
  const { aliases, subject, payload, requirement, evidence, receipt, ...progress } = rest;
  if (!bundle) return JSON.stringify({ ...progress, receipt });
  return JSON.stringify({ ...progress, attempts: attempts.map(({ raw, ...attempt }) => attempt) });
}

/** A bundle that was just sealed as it is written; undefined for one that was read from a row. */
export function deliveryOf({ bundle, receipt = "" }: Call): (Division & { id: string; delivered: string }) | undefined {
  const division = bundle && divisionOf(bundle);
  return division && { ...division, id: bundle.id, delivered: deliveredOf(receipt, division.body) };
}

/** What a receipt of ours begins with, decoded; no base64 does. */
const DECODED = "{";

/** Receipt and body of a bundle in one text: the receipt in a line, decoded, since zstd shortens base64 of base64 too little. */
function deliveredOf(receipt: string, body: string | undefined): string {
  const decoded = Buffer.from(receipt, "base64").toString();
  const isDecoded = decoded.startsWith(DECODED) && !decoded.includes("\n") && encoded(decoded) === receipt;
  return [isDecoded ? decoded : receipt, ...(body === undefined ? [] : [body])].join("\n");
}

function encoded(receipt: string): string {
  return receipt.startsWith(DECODED) ? Buffer.from(receipt).toString("base64") : receipt;
}

/** @param delivered of a row @returns its receipt, and the body of its bundle unless that stands apart */
export function deliveredIn(delivered: string): { receipt: string; body: string | undefined } {
  const end = delivered.indexOf("\n");
  if (end < 0) return { receipt: encoded(delivered), body: undefined };
  return { receipt: encoded(delivered.slice(0, end)), body: delivered.slice(end + 1) };
}

/** @throws SyntaxError when the row's JSON is none */
export function callOf(row: PartedRow): Call {
  const { attempts: kept, ...progress } = JSON.parse(row.progress) as { attempts?: Omit<CallAttempt, "raw">[] };
  const apart = JSON.parse(row.attempts) as (Omit<CallAttempt, "raw"> & { raw: string })[];
  const attempts = apart.map((attempt) => ({ ...attempt, raw: Uint8Array.fromHex(attempt.raw) }));
  const delivered = row.delivered === null ? undefined : deliveredIn(row.delivered);
  const call: object = {
    ...JSON.parse(row.request),
    ...progress,
    key: row.key,
    rail: row.rail,
    payer: row.payer,
    subjectHash: row.subject_hash,
    payloadSha256: row.payload_sha256,
    evidence: row.evidence === null ? undefined : JSON.parse(row.evidence),
    createdAt: row.created_at,
    state: row.state,
    version: row.version,
    attempts: kept?.map((attempt) => ({ ...attempt, raw: new Uint8Array() })) ?? attempts,
    ...(row.bundle_id !== null && {
      receipt: delivered?.receipt,
      bundle: keptBundle(row.bundle_id, {
        body: delivered?.body,
        bytes: row.answer_bytes ?? 0,
        parts: { length: row.parts ?? 0 },
      }),
    }),
  };
  return call as Call;
}
