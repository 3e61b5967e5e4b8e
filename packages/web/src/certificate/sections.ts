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
import { EXPLORERS } from "../facts.ts";
import { pointerUrl } from "../pointer.ts";
import { present } from "../present.ts";
import { hostOf } from "../printable.ts";
import { recordedTime } from "../verdict.ts";
import { CHECKED, LIMITS, WARNINGS } from "../words.ts";
import { type CertificateLine, type CertificateRow, idRow, line, link, row } from "./lines.ts";
import type { Making } from "./making.ts";

/* What the certificate of a bundle and that of a whole batch have in common. */

/** What a certificate is of: a bundle, or a batch by its head. */
export type Certified = Bundle | BatchHead;

/** The first 64 bits of its id, in four groups: anyone who has it can compute it. */
function numberOf(certified: Certified): string {
  const digits = toHex(fromBase64Url(bundleId(certified)).subarray(0, 8)).toUpperCase();
  return digits.replace(/.{4}(?=.)/g, "$&-");
}

export function recordRows(
  certified: Certified,
  { ledger }: Making,
  { hasEvidence }: { hasEvidence: boolean },
): CertificateRow[] {
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

export function attestorRows(entry: KeyEntry, { status, site }: Making): CertificateRow[] {
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

/**
 * @param of.checks those that were made, by name
 * @param of.isOfBatch whether `inclusion` is about a batch
 * @param of.isIncludedOnly whether a transaction was seen only as "included"
 */
export function verificationRows(
  certified: Certified,
  of: { checks: Partial<Record<CheckName, unknown>>; isOfBatch: boolean; isIncludedOnly: boolean },
  { checkedAt, version, keys, ledger }: Making,
): CertificateRow[] {
  const when = recordedTime({ recordedAt: checkedAt });
  const how = ledger ? `, and compared with the ledger by ${ledger.askedOf}` : ", offline";
  const date = keys.date ?? "an unknown date";
  // An old list may lack a revocation.
  const isOld = !keys.date || (Date.parse(checkedAt) - Date.parse(keys.date)) / 1000 > HISTORY_OLD_AFTER;
  const warnings = present([
    isOfSandbox(certified) && WARNINGS.sandbox(),
    of.isIncludedOnly && WARNINGS.included_only(),
    isOld && WARNINGS.history_old(date),
  ]);
  const checked = Object.keys(CHECKED).filter((name) => name in of.checks && (ledger || !name.startsWith("chain")));
  return [
    row("Result", `Verified on ${when}, by attestd ${version}${how}`),
    row(
      "Checked",
      checked.map((name) => (of.isOfBatch && name === "inclusion" ? IN_BATCH : CHECKED[name as CheckName])).join(", "),
    ),
    row("Keys from", KEYS[keys.basis](date)),
    ...warnings.map((warning) => row("Warning", warning)),
    row("Limits", LIMITS),
  ];
}

/** The step of looking something up in an explorer: a sentence, and the explorer's page of it. */
export function lookUp(text: string, chain: string, path: string): CertificateLine[] {
  return [line(text), ...(EXPLORERS[chain] ? [link(`${EXPLORERS[chain].url}/${path}`)] : [])];
}

/**
 * What its reader can do when the attestor no longer exists.
 * @param of.intro what of the file is the proof
 * @param of.inNote what the record's note has of it
 * @param of.source how to look up what was attested
 * @param of.program what to run a verifier's program on
 * @param url of `identityOf`
 */
export function closing(
  certified: Certified,
  of: { intro: string; inNote: string; source: CertificateLine[]; program: string },
  url: string,
) {
  const steps = [
    [
      line(
        `Run one of the programs in docs/verify of attestd's source (JavaScript, Python, Go) on ${of.program}, with a key list that you saved.`,
      ),
    ],
    [line("While the attestor exists, scan the code, or open its address:"), link(url)],
  ];
  const record = lookUp(
    `Find the record in any explorer of Algorand. Its note must contain the ${of.inNote} and the key in the note.`,
    "algorand",
    `tx/${signedPart(certified).attest.txnId}`,
  );
  return {
    heading: "To check it without the attestor",
    intro: of.intro,
    // No explorer has what is in a sandbox.
    steps: isOfSandbox(certified) ? steps : [record, of.source, ...steps],
  };
}

/** What every certificate has of what it is of: who signed it, its number, the code that leads to it. */
export function identityOf(certified: Certified, entry: KeyEntry, { site }: Making) {
  return {
    heading: "Certificate of attestation",
    number: numberOf(certified),
    attestor: hostOf(entry.origin),
    /** Content of the QR code. */
    url: pointerUrl(site, certified),
    /** Text across each page of a certificate that is not real. */
    stamp: isOfSandbox(certified) ? "SANDBOX - NOT REAL" : undefined,
  };
}

function isOfSandbox(certified: Certified): boolean {
  return noteOf(certified)?.g !== ALGORAND_MAINNET;
}
