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
import { LEVELS } from "../file-facts.ts";
import { present } from "../present.ts";
import { ascii } from "../printable.ts";
import { type CertificateRow, idRow, line, row, withIds } from "./lines.ts";
import type { Making } from "./making.ts";
import { allContents, type CertificateContents, lookUp, type Own } from "./sections.ts";

/** The parts of a report that a certificate shows: what the note and the receipt state, and the checks. */
export type Shown = Parameters<typeof circumstancesOf>[1] & Pick<Own, "checks" | "hasEvidence">;

/**
 * Returns the text of a bundle's certificate. Pure: the same arguments give the same text, so that a certificate can be
 * made again and compared.
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
  const { title, detail: beside } = headline(subject, circumstances.outcome);
  const { chain, transaction, block, batch, level } = subject;
  const what = transaction ? "transaction" : "block";
  const path = transaction ? `tx/${transaction.id}` : `block/${block?.height}`;
  const own: Own = {
    kind: "bundle",
    lead: ascii(title),
    statement: present([
      beside !== undefined && [line(beside)],
      withIds(sentenceOf(subject, circumstances, { id: (id) => `\0${id}\0` })),
    ]),
    sentence: ascii(sentenceOf(subject, circumstances)),
    subject: subjectRows(subject, circumstances),
    batch: present([
      batch && row("Batch", `item ${batch.place} of ${batch.size}, recorded by their common root`),
      batch && idRow("Root", batch.root),
    ]),
    checks: report.checks,
    isOfBatch: batch !== undefined,
    isIncludedOnly: level === "included",
    hasEvidence: report.hasEvidence,
    source: lookUp(`Find the ${what} in any explorer of ${chain.label}.`, chain.name, path),
  };
  return allContents(bundle, own, entry, making);
}

function subjectRows(subject: Subject, { block, outcome }: Circumstances): CertificateRow[] {
  const { chain, transaction, fingerprint, level } = subject;
  const time = block?.time === undefined ? "" : `, ${dateline(block.time) ?? utcTime(block.time)}`;
  const isFailed = outcome === "failed";
  const ended = transaction && row("Outcome", outcomeWords(subject, outcome));
  return present([
    isFailed && ended,
    transaction ? row(isFailed ? "Tried" : "Transaction", subjectTitle(subject)) : row("Chain", chain.label),
    transaction && idRow("Transaction id", transaction.id),
    ...(transaction?.parties ?? []).map(({ role, account }) => idRow(role, account)),
    !isFailed && ended,
    block && row("Block", `${block.height} of ${chain.label}${time}`),
    block && idRow("Block hash", block.hash),
    chain.name === "base" && level && row("Seen as", LEVELS[level]),
    idRow("Fingerprint", fingerprint),
  ]);
}
