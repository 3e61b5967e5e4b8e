import type { Bundle, KeyEntry } from "@attestd/proof";
import {
  type Circumstances,
  circumstancesOf,
  dateline,
  headline,
  outcomeWords,
  type Subject,
  sentenceOf,
  subjectOf,
  subjectTitle,
} from "@attestd/proof/description";
import { utcTime } from "@attestd/proof/text";
import { LEVELS } from "../facts.ts";
import { ascii } from "../printable.ts";
import { type CertificateRow, idRow, line, row, withIds } from "./lines.ts";
import type { Making } from "./making.ts";
import { type CertificateContents, lookUp, type Own, wholeContents } from "./sections.ts";

/** The parts of a report that a certificate shows: what the note and the receipt state, and which checks there are. */
export type Shown = Parameters<typeof circumstancesOf>[1] & Pick<Own, "checks" | "hasEvidence">;

/**
 * The text of a bundle's certificate. Pure: the same arguments give the same text, so that a certificate can be compared
 * with one made again from what it carries.
 * @param report of the bundle, offline
 * @param entry of the key that signed it, in a trusted history
 */
export function certificateContents(
  bundle: Bundle,
  report: Shown,
  entry: KeyEntry,
  making: Making,
): CertificateContents {
  const subject = subjectOf(bundle);
  const circumstances = circumstancesOf(subject, report);
  const { title, beside } = headline(subject, circumstances.outcome);
  const { chain, transaction, block, batch, level } = subject;
  const what = transaction ? "transaction" : "block";
  const path = transaction ? `tx/${transaction.id}` : `block/${block?.height}`;
  const own: Own = {
    kind: "bundle",
    lead: ascii(title),
    statement: [
      ...(beside === undefined ? [] : [[line(beside)]]),
      withIds(sentenceOf(subject, circumstances, { id: (id) => `\0${id}\0` })),
    ],
    sentence: ascii(sentenceOf(subject, circumstances)),
    subject: subjectRows(subject, circumstances),
    batch: batchRows(batch),
    checks: report.checks,
    isOfBatch: batch !== undefined,
    isIncludedOnly: level === "included",
    hasEvidence: report.hasEvidence,
    source: lookUp(`Find the ${what} in any explorer of ${chain.label}.`, chain.name, path),
  };
  return wholeContents(bundle, own, entry, making);
}

function batchRows(batch: Subject["batch"]): CertificateRow[] {
  if (batch === undefined) return [];
  return [
    row("Batch", `item ${batch.place} of ${batch.size}, recorded by their common root`),
    idRow("Root", batch.root),
  ];
}

function subjectRows(subject: Subject, { block, outcome }: Circumstances): CertificateRow[] {
  const { chain, transaction, fingerprint, level } = subject;
  const time = block?.time === undefined ? "" : `, ${dateline(block.time) ?? utcTime(block.time)}`;
  return [
    ...(transaction
      ? [
          ...(outcome === "failed" ? [row("Outcome", outcomeWords(subject, outcome))] : []),
          row(outcome === "failed" ? "Tried" : "Transaction", subjectTitle(subject)),
          idRow("Transaction id", transaction.id),
          ...transaction.parties.map(({ role, account }) => idRow(role, account)),
          ...(outcome === "failed" ? [] : [row("Outcome", outcomeWords(subject, outcome))]),
        ]
      : [row("Chain", chain.label)]),
    ...(block ? [row("Block", `${block.height} of ${chain.label}${time}`), idRow("Block hash", block.hash)] : []),
    ...(level && chain.name === "base" ? [row("Seen as", LEVELS[level])] : []),
    idRow("Fingerprint", fingerprint),
  ];
}
