import {
  ALGORAND_MAINNET,
  type BatchHead,
  type Bundle,
  bundleId,
  type CheckName,
  HISTORY_OLD_AFTER,
  type KeyEntry,
  noteOf,
  signedPart,
} from "@attestd/proof";
import { fromBase64Url, toHex } from "@attestd/proof/encoding";
import { withoutTrailing } from "@attestd/proof/text";
import { estimatedMonth } from "../display.ts";
import { EXPLORERS } from "../file-facts.ts";
import { pointerUrl } from "../pointer.ts";
import { present } from "../present.ts";
import { ascii, hostOf } from "../printable.ts";
import { recordedTime } from "../verdict.ts";
import { CHECKED, LIMITS, WARNINGS } from "../words.ts";
import { type CertificateLine, type CertificateRow, type CertificateTable, idRow, line, link, row } from "./lines.ts";
import type { Making } from "./making.ts";

/* The parts that a bundle's certificate and a batch's have in common. */

/** The subject of a certificate: a bundle, or a batch by its head. */
type Certified = Bundle | BatchHead;

/** The part of the text that depends on the subject, in ASCII. */
export type Own = {
  kind: "bundle" | "batch";
  lead: string;
  statement: CertificateLine[][];
  /** The sentence for programs that show no fonts. */
  sentence: string;
  /** The certified transaction or block. */
  subject: CertificateRow[];
  /** The recorded batch. */
  batch: CertificateRow[];
  /** The checks that were made, by name. */
  checks: Partial<Record<CheckName, unknown>>;
  /** Whether the record and the check `inclusion` are about a batch. */
  isOfBatch: boolean;
  /** Whether the block was only "included" when a transaction was attested. */
  isIncludedOnly: boolean;
  /** Whether the certificate holds evidence. */
  hasEvidence: boolean;
  /** How to look up the attested transaction or block. */
  source: CertificateLine[];
  /** For a batch: its items. */
  table?: CertificateTable;
};

/** The text of a certificate, ASCII. */
export type CertificateContents = ReturnType<typeof allContents>;

/** Combines the common text with the subject's own. @param entry of the key that signed it */
export function allContents(certified: Certified, own: Own, entry: KeyEntry, making: Making) {
  const { kind, lead, statement, sentence, table } = own;
  const id = toHex(fromBase64Url(bundleId(certified)).subarray(0, 16));
  /** The content of the QR code. */
  const url = pointerUrl(making.site, certified);
  return {
    kind,
    /** Hex of 16 bytes; differs between certificates. */
    id,
    heading: "Certificate of attestation",
    /** The first 64 bits of its id, in four groups. Anyone with the certified object can compute it. */
    number: id
      .slice(0, 16)
      .toUpperCase()
      .replace(/.{4}(?=.)/g, "$&-"),
    attestor: hostOf(entry.origin),
    url,
    /** Text across each page of a sandbox's certificate. */
    stamp: isOfSandbox(certified) ? "SANDBOX - NOT REAL" : undefined,
    lead,
    statement,
    sentence,
    sections: [
      { heading: "What it certifies", rows: own.subject },
      { heading: "Record on the ledger", rows: [...recordRows(certified, own, making), ...own.batch] },
      { heading: "Attestor", rows: attestorRows(entry, making) },
      { heading: "Verification", rows: verificationRows(certified, own, making) },
    ],
    closing: closing(certified, own, url),
    codeLabel: `QR code of the address at which the ${kind} can be checked: ${ascii(url)}`,
    table,
  };
}

function recordRows(certified: Certified, { hasEvidence }: Own, { ledger }: Making): CertificateRow[] {
  const { attest } = signedPart(certified);
  const month = estimatedMonth(attest.round, noteOf(certified)?.g ?? "");
  const time = recordedTime(ledger ?? {}) ?? (month && `${month}, estimated from the round`);
  const where = isOfSandbox(certified) ? "the sandbox's ledger" : "Algorand MainNet";
  return present([
    row("Ledger", `${where}, round ${attest.round}${ledger ? "" : ", as the bundle states"}`),
    time !== undefined && row("Time", time),
    idRow("Transaction id", attest.txnId),
    hasEvidence &&
      row("Evidence", "in this file (evidence.json), which shows the record without the attestor and without a node"),
  ]);
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

/** For a batch item, `inclusion` is about its batch. */
const IN_BATCH = "place in the batch";

const KEYS = {
  origin: (date: string) => `the attestor's key list, as it was served on ${date}`,
  file: (date: string) => `a key list that the certificate's maker gave, written on ${date}`,
  sandbox: (date: string) => `the sandbox's own key list, written on ${date}`,
  example: () => "the key list of an example",
} as const;

function verificationRows(
  certified: Certified,
  { checks, isOfBatch, isIncludedOnly }: Own,
  { checkedAt, version, keys, ledger }: Making,
): CertificateRow[] {
  const when = recordedTime({ recordedAt: checkedAt });
  const how = ledger ? `, and compared with the ledger by ${ledger.askedOf}` : ", offline";
  const date = keys.date ?? "an unknown date";
  // An old list may lack a revocation.
  const isOld = !keys.date || (Date.parse(checkedAt) - Date.parse(keys.date)) / 1000 > HISTORY_OLD_AFTER;
  const warnings = present([
    isOfSandbox(certified) && WARNINGS.sandbox(),
    isIncludedOnly && WARNINGS.included_only(),
    isOld && WARNINGS.history_old(date),
  ]);
  const checked = Object.keys(CHECKED).filter((name) => name in checks && (ledger || !name.startsWith("chain")));
  return [
    row("Result", `Verified on ${when}, by attestd ${version}${how}`),
    row(
      "Checked",
      checked.map((name) => (isOfBatch && name === "inclusion" ? IN_BATCH : CHECKED[name as CheckName])).join(", "),
    ),
    row("Keys from", KEYS[keys.basis](date)),
    ...warnings.map((warning) => row("Warning", warning)),
    row("Limits", LIMITS),
  ];
}

/** Makes a step of looking something up: a sentence, and the page of an explorer. */
export function lookUp(text: string, chain: string, path: string): CertificateLine[] {
  return [line(text), ...(EXPLORERS[chain] ? [link(`${EXPLORERS[chain].url}/${path}`)] : [])];
}

/** Tells the reader what remains possible when the attestor no longer exists. @param url of the QR code */
function closing(certified: Certified, { kind, isOfBatch, source }: Own, url: string) {
  const isBundle = kind === "bundle";
  const program = isBundle ? "the bundle" : 'an item, which with the head as its member "batch" is a bundle';
  const steps = [
    [
      line(
        `Run one of the programs in docs/verify of attestd's source (JavaScript, Python, Go) on ${program}, with a key list that you saved.`,
      ),
    ],
    [line("While the attestor exists, scan the code, or open its address:"), link(url)],
  ];
  const record = lookUp(
    `Find the record in any explorer of Algorand. Its note must contain the ${isOfBatch ? "root of the batch" : "fingerprint"} and the key in the note.`,
    "algorand",
    `tx/${signedPart(certified).attest.txnId}`,
  );
  return {
    heading: "To check it without the attestor",
    intro: `This text is a copy; the ${kind}, which this file carries, is the proof. The certificate's number begins the SHA-256 of ${isBundle ? "the bundle" : "the batch's head"} (RFC 8785).`,
    // No explorer shows a sandbox.
    steps: isOfSandbox(certified) ? steps : [record, source, ...steps],
  };
}

function isOfSandbox(certified: Certified): boolean {
  return noteOf(certified)?.g !== ALGORAND_MAINNET;
}
