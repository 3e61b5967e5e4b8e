import {
  ALGORAND_MAINNET,
  type Bundle,
  HISTORY_OLD_AFTER,
  isProofError,
  type KeyEntry,
  type ReceiptStatus,
} from "@attestd/proof";
import { readReceiptStatus } from "@attestd/proof/base";
import { type Subject, subjectOf, subjectTitle } from "@attestd/proof/description";
import { fromBase64 } from "@attestd/proof/encoding";
import { estimatedMonth } from "../display.ts";
import { pointerUrl } from "../pointer.ts";
import { ascii, halves, hostOf } from "../printable.ts";
import { noteOf, recordedTime } from "../verdict.ts";
import { OUTCOMES, WARNINGS } from "../words.ts";
import type { Making } from "./making.ts";

export type CertificateContents = ReturnType<typeof certificateContents>;

export type CertificateRow = { label: string; lines: string[]; isId: boolean };

const CLOSING = [
  "This page is a copy; the bundle is the proof, and is attached to this file. To check it without us:",
  "1. Find the Algorand transaction in any explorer. Its note must contain the fingerprint and the key in the note, as above.",
  "2. Run docs/verify (Python, Go, JavaScript) on the bundle with a key history that you saved.",
  "It says that these bytes were seen on the chain; not that the payment was wanted, lawful or irreversible.",
];

/**
 * The text of a bundle's certificate: ASCII, because the fonts that every PDF reader has can show it. Pure: the same
 * arguments give the same text, so that a certificate can be compared with one made again from what it carries.
 * @param entry of the key that signed it, in a trusted history
 */
export function certificateContents(bundle: Bundle, entry: KeyEntry, making: Making) {
  const subject = subjectOf(bundle);
  const outcome = outcomeOf(bundle);
  return {
    title: ascii(subjectTitle(subject)),
    sections: [
      { heading: "What", rows: [...whatRows(subject), ...(outcome ? [text("Outcome", OUTCOMES[outcome])] : [])] },
      { heading: "Recorded", rows: recordedRows(bundle, making) },
      {
        heading: "By",
        rows: [
          text("Attestor", `${hostOf(entry.origin)} (${making.status} key)`),
          id("Key", entry.kid),
          id("Key in the note", entry.keySha256),
          id("Account", entry.algorandAddress),
        ],
      },
      { heading: "Checked", rows: checkedRows(bundle, making) },
    ],
    /** Content of the QR code. */
    url: pointerUrl(making.site, bundle),
    /** Text across the page of a certificate that is not real. */
    stamp: isOfSandbox(bundle) ? "SANDBOX - NOT REAL" : undefined,
    closing: CLOSING,
  };
}

function whatRows({ chain, transaction, block, fingerprint }: Subject): CertificateRow[] {
  return [
    text("Chain", chain.label),
    ...(transaction ? [id("Transaction", transaction.id)] : []),
    ...(block ? [text("Block", String(block.height)), id("Block hash", block.hash)] : []),
    id("Fingerprint", fingerprint),
  ];
}

/** Undefined when the bundle has no receipt, or one that does not fit the transaction: the check `inclusion` fails then. */
function outcomeOf(bundle: Bundle): ReceiptStatus | undefined {
  if (!("inclusion" in bundle) || !("receipt" in bundle.inclusion) || !bundle.inclusion.receipt) return undefined;
  const [receipt, transaction] = [bundle.inclusion.receipt.bytesBase64, bundle.source.txnBytesBase64];
  try {
    return readReceiptStatus(fromBase64(receipt), fromBase64(transaction));
  } catch (error) {
    if (!isProofError(error, "malformed")) throw error;
    return undefined;
  }
}

function recordedRows(bundle: Bundle, { ledger }: Making): CertificateRow[] {
  const { attest } = bundle;
  const month = estimatedMonth(attest.round, noteOf(bundle)?.g ?? "");
  const time = recordedTime(ledger ?? {}) ?? (month && `${month}, estimated from the round`);
  const where = isOfSandbox(bundle) ? "the sandbox's ledger" : "Algorand MainNet";
  return [
    text("Ledger", `${where}, round ${attest.round}${ledger ? "" : ", as the bundle states"}`),
    ...(time === undefined ? [] : [text("Time", time)]),
    id("Transaction", attest.txnId),
  ];
}

const KEYS = {
  origin: (date: string) => `By the key list that was served on ${date}`,
  file: (date: string) => `By a key list that its maker gave, written on ${date}`,
  sandbox: (date: string) => `By the sandbox's own key list, written on ${date}`,
  example: () => "By the key list of an example",
} as const;

function checkedRows(bundle: Bundle, making: Making): CertificateRow[] {
  const { checkedOn, keys, ledger } = making;
  const how = ledger ? `compared with the ledger by ${ledger.askedOf}` : "offline";
  const date = keys.date ?? "an unknown date";
  // An old list may lack a revocation.
  const isOld = !keys.date || (Date.parse(checkedOn) - Date.parse(keys.date)) / 1000 > HISTORY_OLD_AFTER;
  const note = noteOf(bundle);
  const warnings = [
    ...(isOfSandbox(bundle) ? [WARNINGS.sandbox()] : []),
    ...(note && "l" in note && note.l === "included" ? [WARNINGS.included_only()] : []),
    ...(outcomeOf(bundle) === "failed" ? [WARNINGS.transaction_failed()] : []),
    ...(isOld ? [WARNINGS.history_old(date)] : []),
  ];
  return [
    text("Result", `Verified on ${checkedOn}, ${how}`),
    text("Keys", KEYS[keys.basis](date)),
    ...warnings.map((warning) => text("Warning", warning)),
  ];
}

function isOfSandbox(bundle: Bundle): boolean {
  return noteOf(bundle)?.g !== ALGORAND_MAINNET;
}

function text(label: string, line: string): CertificateRow {
  return { label, lines: [ascii(line)], isId: false };
}

function id(label: string, value: string): CertificateRow {
  return { label, lines: [...halves(ascii(value))], isId: true };
}
