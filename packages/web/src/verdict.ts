import {
  ALGORAND_MAINNET,
  type Bundle,
  type CheckName,
  type Conclusion,
  conclusionOf,
  isOfLedger,
  type KeyEntry,
  mayAskChain,
  ONLINE_CHECKS,
  signedPart,
  type VerifyReport,
} from "@attestd/proof";
import { circumstancesOf, headline, type Subject } from "@attestd/proof/description";
import type { CertificateJudgement } from "./certificate/making.ts";
import { present } from "./present.ts";
import { hostOf } from "./printable.ts";
import { type StakeTrust, stakeOf, stakeSentence } from "./stake.ts";
import {
  basisSentence,
  type Contradiction,
  contradictionOf,
  dateOf,
  doubtSentence,
  type KeyList,
} from "./trust-basis.ts";
import { NO_KEY_LIST, STATES, WARNINGS } from "./words.ts";

/** The findings about a file: its bundle's report and, for a certificate, the comparison of its text. */
export type FileFindings = { report: VerifyReport; certificate?: CertificateJudgement | undefined };

/** A judged file, and the keys that judged it. */
export type Judged = FileFindings & {
  /** Undefined if the schema check failed. */
  bundle: Bundle | undefined;
  subject: Subject | undefined;
  keys: KeyList | undefined;
  /** What was trusted about the ledger's stake. */
  stake?: readonly StakeTrust[];
  /** The evidence used in the judgement: JSON in UTF-8. */
  evidence?: Uint8Array | undefined;
  /** Host of the service that compared it with the chains after the offline check. */
  comparedBy?: string;
};

/**
 * The conclusion about a file. `altered`: a certificate whose text does not match its bundle. `uncompared`: a
 * certificate whose text could not be compared.
 */
export type FileConclusion = Conclusion | "altered" | "uncompared";

/** Returns the conclusion that both the page and the command show. */
export function conclusionOfFile({ report, certificate }: FileFindings): FileConclusion {
  if (!report.verified || certificate === undefined || certificate.words === "pass") return conclusionOf(report);
  return certificate.words === "fail" ? "altered" : "uncompared";
}

/** Whether the whole file is verified: the bundle and, for a certificate, all text. */
export function isVerified({ report, certificate }: FileFindings): boolean {
  return report.verified && (certificate === undefined || certificate.words === "pass");
}

/** Whether the bundle's statements are shown as proven, even if a certificate's text could not be compared. */
export function isProven({ report, certificate }: FileFindings): boolean {
  return report.verified && certificate?.words !== "fail";
}

/** Describes a certificate's own text. What its bundle does not prove is shown as its maker's statement. */
export function certificateSentence(judgement: CertificateJudgement): string {
  if (judgement.words === "fail")
    return "The certificate's text does not match its bundle: it was changed, or saved again by another program. Don't rely on it.";
  if (judgement.words === "not_checked")
    return `The bundle in this certificate is unchanged, but the certificate's own text could not be compared with it: ${judgement.why}. Don't rely on it.`;
  const { checkedAt, ledger } = judgement.making;
  const time = ledger?.recordedAt ? `, which recorded it at ${recordedTime(ledger)}` : "";
  const how = ledger ? `and compared with the ledger by ${ledger.askedOf}${time}` : "offline";
  return `The certificate's text matches its bundle. Only its maker states that it was checked on ${recordedTime({ recordedAt: checkedAt })}, ${how}.`;
}

/**
 * Returns when the ledger recorded it, to the second, in UTC; undefined before the ledger check, and without evidence.
 */
export function recordedTime(report: {
  recordedAt?: string | undefined;
  recordedBy?: { time: string } | undefined;
}): string | undefined {
  const recordedAt = report.recordedAt ?? report.recordedBy?.time;
  return recordedAt && `${recordedAt.slice(0, 10)} ${recordedAt.slice(11, 19)} UTC`;
}

/** Names the ledger for people: a sandbox's ledger is not called Algorand. */
export function ledgerName({ warnings }: Pick<VerifyReport, "warnings">): string {
  return warnings.includes("sandbox") ? "the sandbox's ledger" : "Algorand";
}

export type Verdict = ReturnType<typeof verdictOf>;

/** Returns the verdict for people. It follows from the report; nothing is judged again. */
export function verdictOf(judged: Judged) {
  const { report, bundle } = judged;
  const concluded = conclusionOfFile(judged);
  const doubted = concluded === "verified" && contradiction(judged) ? "warning" : concluded;
  const isGood = doubted === "verified" || doubted === "warning";
  const state = isGood && isOnLedger(report) ? (`${doubted}_found` as const) : doubted;
  return {
    state,
    ...STATES[state],
    sentences: [...conclusion(doubted, judged), basisSentence(judged.keys?.basis)],
    /** Whether the ledger check is offered: it can outweigh every failed offline check. */
    mayAskLedger: bundle !== undefined && doubted !== "unknown" && mayAskChain(report),
    /** Whether another key list could tell who signed it. */
    needsKeys: doubted === "unknown" || doubted === "elsewhere",
  };
}

/** Whether the ledger itself was asked, and has the record. */
export function isOnLedger({ checks }: Pick<VerifyReport, "checks">): boolean {
  return checks.chainAttest === "pass";
}

/** Returns how another known list contradicts the key list about this file's signer. */
export function contradiction({ report, keys }: Judged): Contradiction | undefined {
  return keys && contradictionOf(keys, report.attestor.kid);
}

function conclusion(state: FileConclusion, judged: Judged): string[] {
  const { report, keys, certificate } = judged;
  const ofCertificate = certificate ? [certificateSentence(certificate)] : [];
  switch (state) {
    case "verified":
    case "warning":
      return [...warnings(judged), ...verified(judged), ...ofCertificate];
    case "altered":
      return ofCertificate;
    case "uncompared":
      return [...ofCertificate, ...warnings(judged), ...verified(judged)];
    case "unknown":
      return [
        "Unchanged, but its key is in no history here. Anyone could have made it.",
        keys ? "If you have the signer's key list, give it to this page too." : NO_KEY_LIST,
      ];
    case "elsewhere":
      return [elsewhere(report), "Anyone could have made it, too: check it with the keys of its own attestor."];
    case "revoked":
      return present([
        `Key withdrawn in round ${signer(judged)?.revokedRound}; its signature alone can't be believed.`,
        mayAskChain(report) && "The ledger check can show that it was recorded before.",
      ]);
    case "failed":
      return [`${refusal(report)} Don't rely on it.`];
  }
}

function verified(judged: Judged): string[] {
  const { report, bundle, subject, keys, comparedBy } = judged;
  if (bundle === undefined || subject === undefined) return [];
  const { chain, block, batch } = subject;
  const { round } = signedPart(bundle).attest;
  const among = batch ? `, one of a batch of ${batch.size},` : "";
  const record = `recorded${among} on ${ledgerName(report)} in round ${round}`;
  // The subject of the note: for an inclusion, the block.
  const what = `${chain.label} ${block ? "block" : "transaction"}`;
  const time = recordedTime(report);
  const signed = report.recordedBy && `: stake of more than ${stakeOf(report)} signed for its block`;
  const rests = stakeSentence(report, judged.stake ?? []);
  return present([
    `This file is unchanged, and ${signerName(judged)} signed it${keyPhrase(signer(judged), round)}.`,
    // The author of the file could have written the list too.
    keys?.basis.basis === "file" && "The signer is known from the key list that you gave, not from this site.",
    // Only an inclusion is checked for being in the block.
    report.checks.inclusion === "pass" &&
      block &&
      `It proves that this ${chain.label} transaction is in block ${block.height}.`,
    isOnLedger(report) || signed !== undefined
      ? `This ${what} is ${record}${time === undefined ? "" : `, ${time}`}${signed ?? ""}.`
      : `It states that this ${what} was ${record}.`,
    rests,
    comparedBy === undefined
      ? "Nothing was uploaded. Not yet compared with the ledger."
      : `Compared with the ledger by ${comparedBy}.`,
  ]);
}

function keyPhrase(entry: KeyEntry | undefined, round: number): string {
  if (entry?.revokedRound !== undefined)
    return ` with a key withdrawn in round ${entry.revokedRound}, after the ledger had recorded it`;
  return entry?.untilRound === undefined ? "" : ` with a key current in round ${round}, replaced since`;
}

function warnings(judged: Judged): string[] {
  const { report, keys, subject } = judged;
  const found = contradiction(judged);
  const failed = subject && circumstancesOf(subject, report).outcome === "failed";
  return present([
    failed && `${headline(subject, "failed").title}.`,
    found && doubtSentence(found),
    ...report.warnings
      .filter((warning) => !failed || warning !== "transaction_failed")
      .map((warning) => WARNINGS[warning](keys ? dateOf(keys.basis) : "")),
    keys?.basis.basis === "example" &&
      "This is an example, signed with a key that was made for it. It is trusted for this example only.",
  ]);
}

/** Says which ledger an intact file belongs to, if it is not the trusted keys' ledger. */
export function elsewhere({ failures }: VerifyReport): string {
  const { stated, computed } = failures.find(isOfLedger) ?? {};
  if (stated === ALGORAND_MAINNET)
    return "Unchanged, but made for Algorand MainNet, and the keys here are a sandbox's.";
  return computed === ALGORAND_MAINNET
    ? "Unchanged, but made in a sandbox, not for Algorand MainNet: nothing real is in it."
    : "Unchanged, but made in another sandbox, or in this one before it was started with --fresh.";
}

function refusal({ failures }: VerifyReport): string {
  const failed = new Set(failures.map(({ check }) => check));
  if (failed.has("schema")) return "It looks like an attestation, but doesn't have the form of one.";
  if (failed.has("signature")) return "Changed after signing, or another file's signature.";
  if (failed.size === 0) return "Its evidence contradicts it.";
  if (failed.isSubsetOf(new Set<CheckName>(ONLINE_CHECKS))) return "The chains differ from this file.";
  return failures.every(({ check }) => check === "keyTrust")
    ? "Its key was not this signer's at the time."
    : "Its parts contradict one another.";
}

/** Returns the history's entry of the key that the file names. */
export function signer({ report, keys }: Judged): KeyEntry | undefined {
  return keys?.history.keys.find(({ kid }) => kid === report.attestor.kid);
}

/** Returns the attestor's host, from the key history. */
export function signerName(judged: Judged): string {
  const origin = signer(judged)?.origin;
  return origin === undefined ? "an unknown signer" : hostOf(origin);
}
