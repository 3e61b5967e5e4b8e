import {
  ALGORAND_MAINNET,
  type Bundle,
  bundleId,
  type CheckName,
  HISTORY_OLD_AFTER,
  type KeyEntry,
  signedPart,
} from "@attestd/proof";
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
import { fromBase64Url, toHex } from "@attestd/proof/encoding";
import { utcTime, withoutTrailing } from "@attestd/proof/text";
import { estimatedMonth } from "../display.ts";
import { EXPLORERS, LEVELS } from "../facts.ts";
import { pointerUrl } from "../pointer.ts";
import { ascii, hostOf } from "../printable.ts";
import { noteOf, recordedTime } from "../verdict.ts";
import { CHECKED, LIMITS, WARNINGS } from "../words.ts";
import type { Making } from "./making.ts";
import type { Run } from "./sheet.ts";

export type CertificateContents = ReturnType<typeof certificateContents>;

/** A line of its own; an id is in letters of one width. */
export type CertificateLine = { text: string; isId: boolean; url?: string };
export type CertificateRow = { label: string; lines: CertificateLine[] };

/** The parts of a report that a certificate shows: what the note and the receipt state, and which checks there are. */
export type Shown = Parameters<typeof circumstancesOf>[1] & { checks: Partial<Record<CheckName, unknown>> };

/**
 * The text of a bundle's certificate, ASCII: every other character is written as its code point. Pure: the same arguments
 * give the same text, so that a certificate can be compared with one made again from what it carries.
 * @param report of the bundle, offline
 * @param entry of the key that signed it, in a trusted history
 */
export function certificateContents(bundle: Bundle, report: Shown, entry: KeyEntry, making: Making) {
  const subject = subjectOf(bundle);
  const circumstances = circumstancesOf(subject, report);
  const { title, beside } = headline(subject, circumstances.outcome);
  return {
    heading: "Certificate of attestation",
    number: numberOf(bundle),
    lead: ascii(title),
    statement: [
      ...(beside === undefined ? [] : [[{ text: ascii(beside), font: "sans" } as const]]),
      withIds(sentenceOf(subject, circumstances, { id: (id) => `\0${id}\0` })),
    ],
    /** The sentence for programs that show no fonts. */
    sentence: ascii(sentenceOf(subject, circumstances)),
    sections: [
      { heading: "What it certifies", rows: subjectRows(subject, circumstances) },
      { heading: "Record on the ledger", rows: recordRows(bundle, subject, making) },
      { heading: "Attestor", rows: attestorRows(entry, making) },
      { heading: "Verification", rows: verificationRows(bundle, subject, report, making) },
    ],
    closing: closing(bundle, subject, making),
    attestor: hostOf(entry.origin),
    /** Content of the QR code. */
    url: pointerUrl(making.site, bundle),
    codeLabel: `QR code of the address at which the bundle can be checked: ${ascii(pointerUrl(making.site, bundle))}`,
    /** Text across each page of a certificate that is not real. */
    stamp: isOfSandbox(bundle) ? "SANDBOX - NOT REAL" : undefined,
  };
}

/** The first 64 bits of the bundle's id, in four groups: anyone who has the bundle can compute it. */
export function numberOf(bundle: Bundle): string {
  const digits = toHex(fromBase64Url(bundleId(bundle)).subarray(0, 8)).toUpperCase();
  return digits.replace(/.{4}(?=.)/g, "$&-");
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

function recordRows(bundle: Bundle, { batch }: Subject, { ledger }: Making): CertificateRow[] {
  const { attest } = signedPart(bundle);
  const month = estimatedMonth(attest.round, noteOf(bundle)?.g ?? "");
  const time = recordedTime(ledger ?? {}) ?? (month && `${month}, estimated from the round`);
  const where = isOfSandbox(bundle) ? "the sandbox's ledger" : "Algorand MainNet";
  return [
    row("Ledger", `${where}, round ${attest.round}${ledger ? "" : ", as the bundle states"}`),
    ...(time === undefined ? [] : [row("Time", time)]),
    idRow("Transaction id", attest.txnId),
    ...(batch
      ? [row("Batch", `item ${batch.place} of ${batch.size}, recorded by their common root`), idRow("Root", batch.root)]
      : []),
  ];
}

const STATUS_WORDS = {
  current: "its current key",
  retired: "a key that it has replaced since",
  revoked: "a key that was withdrawn after this record",
} as const;

function attestorRows(entry: KeyEntry, { status, site }: Making): CertificateRow[] {
  return [
    row("Signed by", `${hostOf(entry.origin)}, with ${STATUS_WORDS[status]} (ML-DSA-65)`),
    idRow("Key", entry.kid),
    idRow("Key in the note", entry.keySha256),
    idRow("Account", entry.algorandAddress),
    { label: "Contact", lines: [link(`${withoutTrailing(site, "/")}/.well-known/security.txt`)] },
  ];
}

/** Of an item `inclusion` is about its batch. */
const IN_BATCH = "place in the batch";

const KEYS = {
  origin: (date: string) => `the attestor's key list, as it was served on ${date}`,
  file: (date: string) => `a key list that the certificate's maker gave, written on ${date}`,
  sandbox: (date: string) => `the sandbox's own key list, written on ${date}`,
  example: () => "the key list of an example",
} as const;

function verificationRows(
  bundle: Bundle,
  { level, batch }: Subject,
  { checks }: Shown,
  { checkedAt, version, keys, ledger }: Making,
): CertificateRow[] {
  const when = recordedTime({ recordedAt: checkedAt });
  const how = ledger ? `, and compared with the ledger by ${ledger.askedOf}` : ", offline";
  const date = keys.date ?? "an unknown date";
  // An old list may lack a revocation.
  const isOld = !keys.date || (Date.parse(checkedAt) - Date.parse(keys.date)) / 1000 > HISTORY_OLD_AFTER;
  const warnings = [
    ...(isOfSandbox(bundle) ? [WARNINGS.sandbox()] : []),
    ...(level === "included" ? [WARNINGS.included_only()] : []),
    ...(isOld ? [WARNINGS.history_old(date)] : []),
  ];
  const checked = Object.keys(CHECKED).filter((name) => name in checks && (ledger || !name.startsWith("chain")));
  return [
    row("Result", `Verified on ${when}, by attestd ${version}${how}`),
    row(
      "Checked",
      checked.map((name) => (batch && name === "inclusion" ? IN_BATCH : CHECKED[name as CheckName])).join(", "),
    ),
    row("Keys from", KEYS[keys.basis](date)),
    ...warnings.map((warning) => row("Warning", warning)),
    row("Limits", LIMITS),
  ];
}

/** What its reader can do when the attestor no longer exists. */
function closing(bundle: Bundle, { chain, transaction, block, batch }: Subject, { site }: Making) {
  const steps = [
    [
      line(
        "Run one of the programs in docs/verify of attestd's source (JavaScript, Python, Go) on the bundle, with a key list that you saved.",
      ),
    ],
    [line("While the attestor exists, scan the code, or open its address:"), link(pointerUrl(site, bundle))],
  ];
  const found = (text: string, of: string, path: string) => [
    line(text),
    ...(EXPLORERS[of] ? [link(`${EXPLORERS[of].url}/${path}`)] : []),
  ];
  const source = transaction ? `tx/${transaction.id}` : `block/${block?.height}`;
  const what = transaction ? "transaction" : "block";
  const lookUps = [
    found(
      `Find the record in any explorer of Algorand. Its note must contain the ${batch ? "root of the batch" : "fingerprint"} and the key in the note.`,
      "algorand",
      `tx/${signedPart(bundle).attest.txnId}`,
    ),
    found(`Find the ${what} in any explorer of ${chain.label}.`, chain.name, source),
  ];
  return {
    heading: "To check it without the attestor",
    intro:
      "This text is a copy; the bundle, which this file carries, is the proof. The certificate's number begins the SHA-256 of the bundle (RFC 8785).",
    // No explorer has what is in a sandbox.
    steps: isOfSandbox(bundle) ? steps : [...lookUps, ...steps],
  };
}

function isOfSandbox(bundle: Bundle): boolean {
  return noteOf(bundle)?.g !== ALGORAND_MAINNET;
}

/** A sentence in which ids stand between NUL characters. */
function withIds(sentence: string): Run[] {
  return sentence
    .split("\0")
    .map((text, index) => ({ text: ascii(text), font: index % 2 === 0 ? ("sans" as const) : ("mono" as const) }))
    .filter(({ text }) => text !== "");
}

function row(label: string, text: string): CertificateRow {
  return { label: ascii(label), lines: [line(text)] };
}

function idRow(label: string, text: string): CertificateRow {
  return { label: ascii(label), lines: [{ text: ascii(text), isId: true }] };
}

function line(text: string): CertificateLine {
  return { text: ascii(text), isId: false };
}

function link(url: string): CertificateLine {
  return { text: ascii(url), isId: true, url: ascii(url) };
}
