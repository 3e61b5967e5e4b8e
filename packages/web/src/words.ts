import type { CheckName, CheckResult, ReceiptStatus, VerifyReport } from "@attestd/proof";

/* Every sentence of the page about a file. `verdict.ts` and `checks.ts` choose between them. */

export type Tone = "neutral" | "passed" | "caution" | "failed";
export type StateName =
  | "empty"
  | "reading"
  | "verified"
  | "warning"
  | "uncompared"
  | "unknown"
  | "revoked"
  | "failed"
  | "altered"
  | "unreadable";

type State = { icon: string; heading: string; tone: Tone };

export const STATES: Readonly<Record<StateName, State>> = {
  empty: { icon: "", heading: "Check an attestation", tone: "neutral" },
  reading: { icon: "", heading: "Reading…", tone: "neutral" },
  verified: { icon: "✓", heading: "Verified", tone: "passed" },
  warning: { icon: "⚠", heading: "Verified, with a warning", tone: "caution" },
  uncompared: { icon: "–", heading: "Words not compared", tone: "caution" },
  unknown: { icon: "?", heading: "Signer unknown", tone: "caution" },
  revoked: { icon: "✕", heading: "Not verified", tone: "failed" },
  failed: { icon: "✕", heading: "Not verified", tone: "failed" },
  altered: { icon: "✕", heading: "Not verified", tone: "failed" },
  unreadable: { icon: "", heading: "Can't read this file", tone: "neutral" },
};

export const SENTENCES = {
  empty: "Drop, paste or choose a bundle or certificate. Nothing leaves this device.",
  signed: (signer: string) => `This file is unchanged, and ${signer} signed it.`,
  signedByRetired: (signer: string, round: number) =>
    `This file is unchanged, and ${signer} signed it with a key current in round ${round}, replaced since.`,
  signedByRevoked: (signer: string, round: number) =>
    `This file is unchanged, and ${signer} signed it with a key withdrawn in round ${round}, after the ledger had recorded it.`,
  byGivenKeys: "The signer is known from the key list that you gave, not from this site.",
  doubted: ({ host, date, why }: { host: string; date: string; why?: string }) =>
    why === undefined
      ? `${host}'s own list, of ${date}, does not have this key: only the list that you gave says that it is ${host}'s.`
      : `The key list that you gave contradicts ${host}'s own, of ${date} (${why}). Whoever made this file could have made the list.`,
  keysConfirmed: "Key list taken: this site's own goes on from it.",
  looking: "Looking for the attestation that the certificate names…",
  stated: (what: string, ledger: string, round: number) =>
    `It states that this ${what} was recorded on ${ledger} in round ${round}.`,
  statedInclusion: (what: string, block: string, ledger: string, round: number) =>
    `It proves that this ${what} is in ${block}, and states that the block was recorded on ${ledger} in round ${round}.`,
  recorded: (what: string, ledger: string, round: number, time?: string) =>
    `This ${what} is recorded on ${ledger} in round ${round}${time === undefined ? "" : `, ${time}`}.`,
  notUploaded: "Nothing was uploaded. Not yet compared with the ledger.",
  compared: (service: string) => `Compared with the ledger by ${service}.`,
  unknown: "Unchanged, but its key is in no history here. Anyone could have made it.",
  noHistory: "This page has no key list yet. Go online once, or drop the signer's key list here.",
  dropHistory: "If you have the signer's key list, drop it here too.",
  revoked: (round: string) => `Key withdrawn in round ${round}; its signature alone can't be believed.`,
  revokedMayAsk: "The ledger check can show that it was recorded before.",
  failedSignature: "Changed after signing, or another file's signature. Don't rely on it.",
  failedContents: "Its parts contradict one another. Don't rely on it.",
  failedKey: "Its key was not this signer's at the time. Don't rely on it.",
  failedLedger: "The chains show something else than this file. Don't rely on it.",
  failedNetwork: "Made for another ledger than the one that is believed here. Don't rely on it.",
  failedForm: "It looks like an attestation, but doesn't have the form of one. Don't rely on it.",
  ledgerTrouble: "Couldn't ask the ledger; the result stands.",
  isNamed: "It is the one that the certificate names.",
  giveNamed:
    "This certificate names one attestation, which can't be fetched here. Drop, paste or choose its file, and it is compared with the certificate.",
  contradiction: (why: string) =>
    `The key list served here takes back what an earlier one said (${why}). This page goes on believing the earlier one.`,
  limits: "It says these bytes were seen on the chain; not that the payment was wanted, lawful or irreversible.",
  mayHaveFailed: "A transaction can be on the chain and have had no effect; an explorer shows its outcome.",
  claims: "What the file claims. Not proven.",
  example: "This is an example, signed with a key that was made for it. It is believed for this example alone.",
} as const;

/** About a certificate's own words, beside the bundle in it. */
export const WORDS_OF_CERTIFICATE = {
  label: "Certificate",
  pass: (checkedOn: string, ledger?: { askedOf: string; time?: string | undefined }) =>
    `The certificate's words are those of its bundle. By its maker's word alone it was checked on ${checkedOn}, ${ledger ? `and compared with the ledger by ${ledger.askedOf}${ledger.time ? `, which recorded it at ${ledger.time}` : ""}` : "offline"}.`,
  fail: "The certificate's words are not those of its bundle: it was changed, or saved again by another program. Don't rely on it.",
  notCompared: (why: string) =>
    `The bundle in this certificate is unchanged; the certificate's own words could not be compared with it: ${why}. Don't rely on them.`,
  passed: "Its words are those of its bundle.",
  failed: "Its words are not those of its bundle.",
  otherLayout: "another version of attestd made it",
  noName: "they name the attestor, whom only a key list that has its key tells",
  otherSite: (host: string) => `they lead to ${host}, which the key list does not name`,
} as const;

/** Which key list a verdict rests on. */
export const RESTS_ON = {
  origin: (name: string, date: string) => `Rests on the key list of ${name}, fetched on ${date}.`,
  file: (name: string, date: string) => `Rests on the key list in ${name}, written on ${date}.`,
  sandbox: (name: string, date: string) => `Rests on the sandbox's key list in ${name}, written on ${date}.`,
  kid: () => "Rests on the key that was named; whether it was withdrawn does not show.",
  example: () => "Rests on the key list of the example.",
  none: "Rests on no key list: none was given.",
} as const;

/** The outcome of a transaction whose receipt is in the bundle. */
export const OUTCOMES: Readonly<Record<ReceiptStatus, string>> = {
  succeeded: "succeeded, as its receipt says",
  failed: "failed, as its receipt says",
  unknown: "not known: its receipt is of a type that is not read here",
};

export const WARNINGS = {
  sandbox: () => "Sandbox, not real.",
  included_only: () => 'Seen only as "included" on Base; could be undone.',
  transaction_failed: () => "The transaction failed: its receipt says that it had no effect.",
  history_old: (date: string) => `Key list is from ${date}; later withdrawals don't show.`,
} satisfies Record<VerifyReport["warnings"][number], (date: string) => string>;

export const UNREADABLE = {
  notJson: (line: number) => `Not JSON (line ${line}).`,
  notText: "Not JSON: it isn't text.",
  notBundle: "Not an attestd bundle.",
  noBundleInside: "This certificate carries no bundle. Ask for the bundle's file.",
  tooLarge: (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB; bundles are smaller.`,
  badKeys: (why: string) => `A key list that can't be believed: ${why}.`,
  gone: "The browser couldn't open it.",
  otherBundle: "Another attestation than the one on the certificate.",
} as const;

export const RESULTS: Readonly<Record<CheckResult, { icon: string; word: string }>> = {
  pass: { icon: "✓", word: "Passed" },
  fail: { icon: "✕", word: "Failed" },
  not_checked: { icon: "–", word: "Not checked" },
};

type CheckWords = { label: string; pass: string; fail: string };

/** `checks.ts` has longer sentences for `keyTrust`, `chainAttest` and `schema`. */
export const CHECKS: Readonly<Record<CheckName, CheckWords>> = {
  schema: {
    label: "Form",
    pass: "This is an attestd bundle, version 1.",
    fail: "Missing, extra or malformed field",
  },
  keyTrust: { label: "Signer", pass: "The current key of", fail: "In no key history here." },
  signature: {
    label: "Signature",
    pass: "The signature matches the contents.",
    fail: "It does not match the contents.",
  },
  hashPreimage: {
    label: "Fingerprint",
    pass: "The transaction has the stated SHA-256 fingerprint.",
    fail: "Its fingerprint differs from the stated one.",
  },
  transactionId: {
    label: "Transaction id",
    pass: "The bytes give the stated id.",
    fail: "They give another id.",
  },
  blockHash: {
    label: "Block hash",
    pass: "The header gives the stated block hash.",
    fail: "It gives another hash.",
  },
  inclusion: {
    label: "Inclusion",
    pass: "The path leads from transaction to block.",
    fail: "The path leads elsewhere.",
  },
  note: {
    label: "Note",
    pass: "The note states the same fingerprint, key and chain.",
    fail: "The note states something else",
  },
  chainSource: { label: "Source chain", pass: "Found on", fail: "Found, but different." },
  chainAttest: { label: "Ledger", pass: "Found on", fail: "Found, but different." },
};

export const CHECK_SENTENCES = {
  current: (signer: string) => `The current key of ${signer}.`,
  retired: (signer: string, round: number, until: number) =>
    `A key of ${signer}, current in round ${round}, replaced in ${until}.`,
  revokedAfter: (signer: string, round: number) => `A key of ${signer}, withdrawn in round ${round}, later than this.`,
  unconfirmed: (signer: string) => `The file names a key of ${signer}; unconfirmed.`,
  revoked: (signer: string, round: string) => `A key of ${signer}, withdrawn: ${round}.`,
  outsideSpan: (signer: string, span: string) => `A key of ${signer}, but only ${span}.`,
  otherAccount: "The account is not the one of this key.",
  blockFingerprint: "The block's header has the stated SHA-256 fingerprint.",
  foundSource: (chain: string) => `Found on ${chain}, identical.`,
  foundRecord: (ledger: string, round: number) => `Found on ${ledger} in round ${round}, same note and sender.`,
  notFound: "Not found.",
  ledgerNotAsked: "Only the ledger check asks the chains.",
  otherChain: "The service does not follow this chain.",
  formFirst: "The form must be right first.",
  noKeys: "There is no key list here.",
} as const;
