import type { Bundle } from "@attestd/proof";
import { CHAIN_NAMES, type Subject, subjectTitle } from "../description.ts";
import { estimatedMonth } from "../ledger-time.ts";
import { pointerUrl } from "../pointer.ts";
import { halves, hostOf, printable } from "../printable.ts";
import { dateOf } from "../trust-basis.ts";
import { doubt, type Judged, ledgerName, ledgerOf, recordedTime, signer } from "../verdict.ts";
import { WARNINGS } from "../words.ts";

/** What a certificate says: ASCII, so that the fonts which every PDF reader has can show it. */
export type CertificateContents = {
  title: string;
  sections: { heading: string; rows: CertificateRow[] }[];
  /** In the QR code. */
  url: string;
  /** Across the page, of what is not real. */
  stamp?: string;
  closing: string[];
};

export type CertificateRow = { label: string; lines: string[]; isId: boolean };

const CLOSING = [
  "This page is a copy; the bundle is the proof, and is attached to this file. To check it without us:",
  "1. Find the Algorand transaction in any explorer. Its note must contain the fingerprint and the key in the note, as above.",
  "2. Run docs/verify (Python, Go, JavaScript) on the bundle with a key history that you saved.",
  "It says that these bytes were seen on the chain; not that the payment was wanted, lawful or irreversible.",
];

/** A certificate is made of verified bundles only. */
export class NotVerified extends Error {
  override readonly name = "NotVerified";
}

/**
 * What stands on the certificate of a bundle.
 * @param checkedAt when it was verified
 * @throws NotVerified for a bundle that is not, or by a key of which no origin is known
 */
export function certificateContents(judged: Judged, checkedAt: Date): CertificateContents {
  const { report, bundle, subject, keys } = judged;
  const entry = signer(judged);
  if (!report.verified || bundle === undefined || subject === undefined || keys === undefined || entry === undefined)
    throw new NotVerified("Only a verified bundle, by a key of a key history, has a certificate.");
  if (doubt(judged)) throw new NotVerified("The key list is contradicted by the one of the same host.");
  const present = keys.history.keys.at(-1) ?? entry;
  return {
    title: ascii(subjectTitle(subject)),
    sections: [
      { heading: "What", rows: whatRows(subject) },
      { heading: "Recorded", rows: recordedRows(judged, bundle) },
      {
        heading: "By",
        rows: [
          text("Attestor", `${hostOf(entry.origin)} (${report.attestor.status} key)`),
          id("Key", entry.kid),
          id("Key in the note", entry.keySha256),
          id("Account", entry.algorandAddress),
        ],
      },
      { heading: "Checked", rows: checkedRows(judged, checkedAt) },
    ],
    url: pointerUrl(present.origin, bundle),
    ...(report.warnings.includes("sandbox") && { stamp: "SANDBOX - NOT REAL" }),
    closing: CLOSING,
  };
}

function whatRows({ chain, transaction, block, fingerprint }: Subject): CertificateRow[] {
  return [
    text("Chain", CHAIN_NAMES[chain]),
    ...(transaction ? [id("Transaction", transaction.id)] : []),
    ...(block ? [text("Block", String(block.height)), id("Block hash", block.hash)] : []),
    id("Fingerprint", fingerprint),
  ];
}

function recordedRows({ report }: Judged, bundle: Bundle): CertificateRow[] {
  const { attest } = bundle;
  const where = ledgerName(report);
  const month = estimatedMonth(attest.round, ledgerOf(bundle) ?? "");
  const time = recordedTime(report) ?? (month && `${month}, estimated from the round`);
  const stated = report.checks.chainAttest === "pass" ? "" : ", as the bundle states";
  return [
    text("Ledger", `${where === "Algorand" ? "Algorand MainNet" : where}, round ${attest.round}${stated}`),
    ...(time === undefined ? [] : [text("Time", time)]),
    id("Transaction", attest.txnId),
  ];
}

function checkedRows({ report, comparedBy, keys }: Judged, checkedAt: Date): CertificateRow[] {
  const day = checkedAt.toISOString().slice(0, 10);
  const isCompared = report.checks.chainAttest === "pass" && comparedBy !== undefined;
  const how = isCompared ? `compared with the ledger by ${comparedBy}` : "offline";
  const historyDay = keys ? dateOf(keys.basis) : "";
  return [
    text("Result", `Verified on ${day}, ${how}`),
    ...report.warnings.map((warning) => text("Warning", WARNINGS[warning](historyDay))),
  ];
}

function text(label: string, line: string): CertificateRow {
  return { label, lines: [ascii(line)], isId: false };
}

function id(label: string, value: string): CertificateRow {
  return { label, lines: [...halves(ascii(value))], isId: true };
}

function ascii(value: string): string {
  return printable(value).replace(/[^\x20-\x7e]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
