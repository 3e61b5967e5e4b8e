import {
  type Bundle,
  type CheckName,
  type KeyEntry,
  mayAskChain,
  type Note,
  parseNote,
  type VerifyReport,
} from "@attestd/proof";
import type { CertificateJudgement } from "./certificate/making.ts";
import type { Subject } from "./description.ts";
import { conclusionOfFile, ledgerName, makersWord, recordedTime } from "./file-verdict.ts";
import { hostOf } from "./printable.ts";
import { basisSentence, type Doubt, dateOf, doubtOf, type KeyList } from "./trust-basis.ts";
import { SENTENCES, STATES, type StateName, type Tone, WARNINGS, WORDS_OF_CERTIFICATE } from "./words.ts";

/** A file that was judged, and by which keys. */
export type Judged = {
  report: VerifyReport;
  /** Undefined where the schema failed. */
  bundle: Bundle | undefined;
  subject: Subject | undefined;
  keys: KeyList | undefined;
  /** For a certificate: whether its words are those of its bundle. */
  certificate?: CertificateJudgement | undefined;
  /** Host of the service that compared it with the chains, after that. */
  comparedBy?: string;
};

export type Verdict = {
  state: StateName;
  tone: Tone;
  icon: string;
  heading: string;
  sentences: string[];
  /** Whether the ledger check is offered: no offline check failed that it could not outweigh. */
  mayAskLedger: boolean;
};

const ONLINE: readonly CheckName[] = ["chainSource", "chainAttest"];

/** The verdict for people. It follows from the report; nothing is judged again here. */
export function verdictOf(judged: Judged): Verdict {
  const { report, bundle } = judged;
  const concluded = conclusionOfFile(judged);
  const state = concluded === "verified" && doubt(judged) ? "warning" : concluded;
  return {
    state,
    ...STATES[state],
    sentences: [...conclusion(state, judged), basisSentence(judged.keys?.basis)],
    mayAskLedger: bundle !== undefined && state !== "unknown" && mayAskChain(report),
  };
}

/** What another known list says against the key list, about the signer of this file. */
export function doubt({ report, keys }: Judged): Doubt | undefined {
  return keys && doubtOf(keys, report.attestor.kid);
}

function conclusion(state: StateName, judged: Judged): string[] {
  const { report, keys } = judged;
  switch (state) {
    case "verified":
    case "warning":
      return [...warnings(judged), ...verified(judged), ...certified(judged)];
    case "altered":
      return [WORDS_OF_CERTIFICATE.fail];
    case "uncompared":
      return [
        WORDS_OF_CERTIFICATE.notCompared(judged.certificate?.words === "not_checked" ? judged.certificate.why : ""),
        ...warnings(judged),
        ...verified(judged),
      ];
    case "unknown":
      return [SENTENCES.unknown, keys ? SENTENCES.dropHistory : SENTENCES.noHistory];
    case "revoked": {
      const round = String(signer(judged)?.revokedRound);
      return [SENTENCES.revoked(round), ...(mayAskChain(report) ? [SENTENCES.revokedMayAsk] : [])];
    }
    default:
      return [refusal(report)];
  }
}

function verified(judged: Judged): string[] {
  const { report, bundle, subject, keys, comparedBy } = judged;
  if (bundle === undefined || subject === undefined) return [];
  const { round } = bundle.attest;
  const [what, ledger] = [whatOf(subject), ledgerName(report)];
  const isRecorded = report.checks.chainAttest === "pass";
  const block = `block ${subject.block?.height} of ${subject.chain.label}`;
  const statement =
    subject.block && subject.transaction
      ? SENTENCES.statedInclusion(what, block, ledger, round)
      : SENTENCES.stated(what, ledger, round);
  return [
    signature(judged, round),
    // The author of the file could have written the list too.
    ...(keys?.basis.basis === "file" ? [SENTENCES.byGivenKeys] : []),
    isRecorded ? SENTENCES.recorded(what, ledger, round, recordedTime(report)) : statement,
    comparedBy === undefined ? SENTENCES.notUploaded : SENTENCES.compared(comparedBy),
  ];
}

function certified({ certificate }: Judged): string[] {
  return certificate?.words === "pass" ? [makersWord(certificate.making)] : [];
}

function signature(judged: Judged, round: number): string {
  const entry = signer(judged);
  const name = signerName(judged);
  if (entry?.revokedRound !== undefined) return SENTENCES.signedByRevoked(name, entry.revokedRound);
  return entry?.untilRound === undefined ? SENTENCES.signed(name) : SENTENCES.signedByRetired(name, round);
}

function warnings(judged: Judged): string[] {
  const { report, keys } = judged;
  const example = keys?.basis.basis === "example" ? [SENTENCES.example] : [];
  const found = doubt(judged);
  return [
    ...(found ? [SENTENCES.doubted(found)] : []),
    ...report.warnings.map((warning) => WARNINGS[warning](keys ? dateOf(keys.basis) : "")),
    ...example,
  ];
}

function refusal({ failures }: VerifyReport): string {
  const failed = new Set(failures.map(({ check }) => check));
  if (failed.has("schema")) return SENTENCES.failedForm;
  if (failed.has("signature")) return SENTENCES.failedSignature;
  const all = [...failed];
  const ofLedger = failures.filter(({ check, pointer }) => check === "note" && pointer === "/attest/note/g");
  if (ofLedger.length > 0 && failures.every((one) => one.check === "keyTrust" || ofLedger.includes(one)))
    return SENTENCES.failedNetwork;
  if (all.every((check) => ONLINE.includes(check))) return SENTENCES.failedLedger;
  return all.every((check) => check === "keyTrust") ? SENTENCES.failedKey : SENTENCES.failedContents;
}

/** `Base transaction`, `Algorand block`. */
export function whatOf({ chain, transaction }: Subject): string {
  return `${chain.label} ${transaction ? "transaction" : "block"}`;
}

/** The history's entry of the key that the file names. */
export function signer({ report, keys }: Judged): KeyEntry | undefined {
  return keys?.history.keys.find(({ kid }) => kid === report.attestor.kid);
}

/** The attestor's host, from the key history. */
export function signerName(judged: Judged): string {
  const origin = signer(judged)?.origin;
  return origin === undefined ? "an unknown signer" : hostOf(origin);
}

/** CAIP-2 of the ledger that the bundle's note names; undefined when the note is malformed. */
export function ledgerOf(bundle: Bundle): string | undefined {
  return noteOf(bundle)?.g;
}

/** The parsed note of a bundle; undefined when it is malformed. */
export function noteOf({ attest }: Bundle): Note | undefined {
  try {
    return parseNote(attest.note);
  } catch {
    return undefined;
  }
}
