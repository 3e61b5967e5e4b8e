import { answerBytes } from "../subjects/batch-answer.ts";
import type { BatchEvidence, Evidence } from "../subjects/product.ts";
import { APART, type Call, type KeptBundle } from "./call.ts";

/*
 * A stranger decides how large a source is. So the row of a call holds no large part: evidence and bundles above a bound stand
 * apart, bundles and the items of batches in parts, and are read only by whom they are for, one after the other. Looking a call up
 * costs the same whatever was bought.
 */

/** Bytes of the JSON of evidence, or of a bundle, that a row holds at most; what is longer stands apart. */
export const MAX_IN_ROW = 32 * 1024;
/** Characters of a part, but for the items of a batch, each of which is a part of its own. */
const PART = 64 * 1024;

/** A part of a bundle; `id` where it is an item of a batch. */
export type BundlePart = { id?: string; text: string };

/** How a sealed bundle is kept. */
export type Division = {
  /** What the row holds. */
  body: string | undefined;
  /** Of the whole answer. */
  bytes: number;
  parts: readonly BundlePart[];
};

/** Divides a bundle that was just sealed. @returns undefined for one that was read from a row: it is kept already */
export function divisionOf({ body, items, apart }: KeptBundle): Division | undefined {
  if (body === undefined || apart) return undefined;
  if (items)
    return {
      body,
      parts: items,
      bytes: answerBytes(
        body,
        items.map(({ text }) => text),
      ),
    };
  if (body.length <= MAX_IN_ROW) return { body, parts: [], bytes: Buffer.byteLength(body) };
  const parts = Array.from({ length: Math.ceil(body.length / PART) }, (_, i) => ({
    text: body.slice(i * PART, (i + 1) * PART),
  }));
  return { body: undefined, parts, bytes: body.length };
}

/** A call as its row gives it back: without what stands apart, and without what is written once. */
export function rowOf(call: Call): Call {
  const { evidence, bundle } = call;
  const division = bundle && divisionOf(bundle);
  return {
    ...call,
    evidence: evidence && ofRow(evidence),
    ...(bundle && division && { bundle: keptBundle(bundle.id, division) }),
  };
}

/** @param division of the bundle, or as much of it as its row has */
export function keptBundle(
  id: string,
  { body, bytes, parts }: Pick<Division, "body" | "bytes"> & { parts: { length: number } },
): KeptBundle {
  return {
    id,
    ...(body !== undefined && { body }),
    ...(parts.length > 0 && { apart: { parts: parts.length, bytes } }),
  };
}

/** Evidence as its row has it: of a large batch the head alone. */
function ofRow(evidence: Evidence | typeof APART): Evidence | typeof APART {
  if (evidence === APART || !isLarge(evidence)) return evidence;
  return evidence.kind === "batch" ? headOf(evidence) : APART;
}

/** The evidence of a batch without its items. */
function headOf({ items: _, ...head }: BatchEvidence): BatchEvidence {
  return head;
}

/** How evidence is kept: the JSON of it, or of a large batch that of its head and of each item. */
export function evidenceDivision(evidence: Evidence): { content: string; items: readonly string[] } {
  if (evidence.kind !== "batch" || !evidence.items || !isLarge(evidence))
    return { content: JSON.stringify(evidence), items: [] };
  return { content: JSON.stringify(headOf(evidence)), items: evidence.items.map((item) => JSON.stringify(item)) };
}

/** Whether evidence is too large for its row, by the evidence: each commit of its call asks. */
const large = new WeakMap<Evidence, boolean>();

function isLarge(evidence: Evidence): boolean {
  return large.getOrInsertComputed(evidence, () => {
    let bytes = 0;
    // Item by item, so that no text of all of them is made.
    for (const part of evidence.kind === "batch" ? (evidence.items ?? []) : [evidence]) {
      bytes += JSON.stringify(part).length;
      if (bytes > MAX_IN_ROW) return true;
    }
    return false;
  });
}
