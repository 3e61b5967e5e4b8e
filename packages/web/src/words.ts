import type { CheckName, VerifyReport } from "@attestd/proof";

/* Texts that several views, the command or certificates share. */

/** The states of a file, and the heading of each. */
export const STATES = {
  empty: { icon: "", heading: "Check an attestation", tone: "neutral" },
  reading: { icon: "", heading: "Reading…", tone: "neutral" },
  verified: { icon: "✓", heading: "Verified", tone: "passed" },
  /** The ledger was asked, and has the record. */
  verified_found: { icon: "✓✓", heading: "Verified, and found on the ledger", tone: "passed" },
  warning: { icon: "⚠", heading: "Verified, with a warning", tone: "caution" },
  warning_found: { icon: "⚠✓", heading: "Found on the ledger, with a warning", tone: "caution" },
  uncompared: { icon: "–", heading: "Text not compared", tone: "caution" },
  unknown: { icon: "?", heading: "Signer unknown", tone: "caution" },
  elsewhere: { icon: "?", heading: "Made for another ledger", tone: "caution" },
  revoked: { icon: "✕", heading: "Not verified", tone: "failed" },
  failed: { icon: "✕", heading: "Not verified", tone: "failed" },
  altered: { icon: "✕", heading: "Not verified", tone: "failed" },
  unreadable: { icon: "", heading: "Can't read this file", tone: "neutral" },
} as const satisfies Record<string, Record<"icon" | "heading" | "tone", string>>;

export const LIMITS =
  "It says these bytes were seen on the chain; not that the payment was wanted, lawful or irreversible.";
export const NO_CERTIFICATES =
  "No certificate was made: the part of this page that makes them couldn't be loaded; the result stands. Go online, load the page again, and give it the file again.";
export const NO_KEY_LIST =
  "This page has no key list yet. Go online once and load it again, or give it the signer's key list.";

/** Why the page has no evidence of a bundle. */
export const EVIDENCE = {
  notYet: "No evidence yet: no state proof attests the round of the record so far. Try again in some minutes.",
  none: "This site has no evidence of this bundle.",
  unreachable: "Couldn't fetch the evidence; the result stands.",
} as const;

/** What each check looks at, in a few words. */
export const CHECKED: Readonly<Record<CheckName, string>> = {
  schema: "form",
  keyTrust: "signer's key",
  signature: "signature",
  hashPreimage: "fingerprint",
  transactionId: "transaction id",
  blockHash: "block hash",
  inclusion: "place in the block",
  note: "note",
  chainSource: "same on its chain",
  chainAttest: "record on the ledger",
};

/** Warnings of the page, the command and certificates. */
export const WARNINGS = {
  sandbox: () => "Sandbox, not real.",
  included_only: () => 'Seen only as "included" on Base; could be undone.',
  transaction_failed: () => "The transaction failed on its chain.",
  history_old: (date: string) => `Key list is from ${date}; later withdrawals don't show.`,
} satisfies Record<VerifyReport["warnings"][number], (date: string) => string>;

export const UNREADABLE = {
  notJson: (line: number) => `Not JSON (line ${line}).`,
  notText: (why: string) => `Not JSON: ${why}.`,
  notBundle: "No bundle, receipt or key list of attestd.",
  notWholeBatch: (pointer: string, why: string) => `Not the whole answer of a batch: ${pointer} ${why}.`,
  beforePdf: (bytes: number) =>
    `A PDF with ${bytes} bytes before its header, %PDF-: another program has changed it. Ask for the file as it was made.`,
  encryptedPdf: "An encrypted PDF: save it without a password, or ask for the bundle's file.",
  noBundleInside: "This certificate carries no bundle. Ask for the bundle's file.",
  tooLarge: (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB; bundles are smaller.`,
  badKeys: (why: string) => `Not a valid key list: ${why}.`,
  gone: "The browser couldn't open it. Choose the file again.",
  tooMany: "Not read: together the files have more than 256 MB. Check it by itself.",
  otherBundle: "This is not the attestation that the certificate names.",
} as const;
