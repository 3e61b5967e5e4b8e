import type { Bundle, CheckName, KeyEntry } from "@attestd/proof";
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
import { type CertificateLine, type CertificateRow, idRow, row, withIds } from "./lines.ts";
import type { Making } from "./making.ts";
import { attestorRows, closing, identityOf, lookUp, recordRows, verificationRows } from "./sections.ts";
import type { Run } from "./sheet.ts";

/** The text of a certificate, ASCII. */
export type CertificateContents = ReturnType<typeof identityOf> & {
  lead: string;
  statement: Run[][];
  /** The same for programs that show no fonts. */
  sentence: string;
  sections: { heading: string; rows: CertificateRow[] }[];
  closing: ReturnType<typeof closing>;
  codeLabel: string;
  /** Of a batch: its items. */
  table?: CertificateTable;
};

/** A table that goes on over pages. */
export type CertificateTable = {
  heading: string;
  /** `share`: of the width. */
  columns: readonly { label: string; share: number }[];
  /** Lines by row and column. */
  rows: CertificateLine[][][];
};

/** The parts of a report that a certificate shows: what the note and the receipt state, and which checks there are. */
export type Shown = Parameters<typeof circumstancesOf>[1] & {
  checks: Partial<Record<CheckName, unknown>>;
  /** Whether the certificate carries evidence. */
  hasEvidence: boolean;
};

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
  const identity = identityOf(bundle, entry, making);
  const shown = { checks: report.checks, isOfBatch: batch !== undefined, isIncludedOnly: level === "included" };
  const what = transaction ? "transaction" : "block";
  const path = transaction ? `tx/${transaction.id}` : `block/${block?.height}`;
  const ofClosing = {
    intro:
      "This text is a copy; the bundle, which this file carries, is the proof. The certificate's number begins the SHA-256 of the bundle (RFC 8785).",
    inNote: batch ? "root of the batch" : "fingerprint",
    source: lookUp(`Find the ${what} in any explorer of ${chain.label}.`, chain.name, path),
    program: "the bundle",
  };
  return {
    ...identity,
    lead: ascii(title),
    statement: [
      ...(beside === undefined ? [] : [[{ text: ascii(beside), font: "sans" } as const]]),
      withIds(sentenceOf(subject, circumstances, { id: (id) => `\0${id}\0` })),
    ],
    sentence: ascii(sentenceOf(subject, circumstances)),
    sections: [
      { heading: "What it certifies", rows: subjectRows(subject, circumstances) },
      { heading: "Record on the ledger", rows: [...recordRows(bundle, making, report), ...batchRows(batch)] },
      { heading: "Attestor", rows: attestorRows(entry, making) },
      { heading: "Verification", rows: verificationRows(bundle, shown, making) },
    ],
    closing: closing(bundle, ofClosing, identity.url),
    codeLabel: `QR code of the address at which the bundle can be checked: ${ascii(identity.url)}`,
  };
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
