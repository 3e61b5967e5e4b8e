import { type Bundle, noteOf, signedPart, type VerifyReport } from "@attestd/proof";
import {
  circumstancesOf,
  dateline,
  headline,
  type Outcome,
  outcomeWords,
  subjectLine,
} from "@attestd/proof/description";
import { utcTime } from "@attestd/proof/text";
import { estimatedMonth } from "./display.ts";
import { present } from "./present.ts";
import { contradiction, isProven, isVerified, type Judged, ledgerName, recordedTime, signerName } from "./verdict.ts";

/** One line about a file: text, or an id that is shown in full and can be copied. */
export type Fact = { label: string; text?: string; id?: string; link?: { text: string; url: string } };

export const LEVELS = {
  included: "included in a block, which could still be undone",
  safe: "safe: unlikely to be undone",
  finalized: "final",
} as const;

export type Headline = ReturnType<typeof headlineOf>;

/** Returns the first thing to show about what was attested: a failure, if there was one. */
export function headlineOf({ subject, report }: Judged) {
  if (subject === undefined) return undefined;
  const { outcome } = circumstancesOf(subject, report);
  const remarks = subject.transaction && outcome !== "failed" ? subject.transaction.remarks : [];
  return { ...headline(subject, outcome), mark: subject.transaction && MARKS[outcome], remarks };
}

const MARKS: Readonly<Record<Outcome, { icon: string; tone: string } | undefined>> = {
  failed: { icon: "✕", tone: "failed" },
  unknown: { icon: "?", tone: "caution" },
  succeeded: undefined,
  not_applicable: undefined,
};

/** Lists what was attested, where it was recorded and by whom. Only proven facts of a real ledger have links. */
export function factsOf(judged: Judged): Fact[] {
  const { subject, bundle, report } = judged;
  if (subject === undefined || bundle === undefined) return [];
  const { transaction, chain, fingerprint, level, batch } = subject;
  const { attest, attestor } = signedPart(bundle);
  const { block, outcome } = circumstancesOf(subject, report);
  const isReal = isVerified(judged) && !report.warnings.includes("sandbox") && contradiction(judged) === undefined;
  const linked = (of: string, path: string) => {
    const explorer = isReal && EXPLORERS[of];
    return explorer && { link: { text: explorer.text, url: `${explorer.url}/${path}` } };
  };
  const time = block?.time === undefined ? undefined : (dateline(block.time) ?? utcTime(block.time));
  return present<Fact>([
    // The headline above already shows what is proven.
    !isProven(judged) && { label: "What", text: subjectLine(subject, outcome) },
    ...(transaction?.parties ?? []).map(({ role, account }) => ({ label: role, id: account })),
    transaction?.amount && { label: "Amount", text: transaction.amount.text },
    transaction && { label: "Outcome", text: outcomeWords(subject, outcome) },
    time !== undefined && { label: "Time", text: `${time}, by its block's clock` },
    block && { label: "Block", text: `${block.height} of ${chain.label}` },
    block && { label: "Block hash", id: block.hash, ...linked(chain.name, `block/${block.height}`) },
    transaction && { label: "Transaction", id: transaction.id, ...linked(chain.name, `tx/${transaction.id}`) },
    chain.name === "base" && level && { label: "Seen as", text: LEVELS[level] },
    { label: "Fingerprint", id: fingerprint },
    { label: "Recorded", text: recorded(report, bundle) },
    { label: "Record", id: attest.txnId, ...linked("algorand", `tx/${attest.txnId}`) },
    batch && { label: "Batch", text: `item ${batch.place} of ${batch.size}, recorded by their common root` },
    batch && { label: "Root of the batch", id: batch.root },
    isProven(judged) && { label: "Signed by", text: `${signerName(judged)} (${report.attestor.status} key)` },
    { label: isProven(judged) ? "Key" : "Key named", id: report.attestor.kid ?? "" },
    { label: "Attestor's account", id: attestor.algorandAddress },
  ]);
}

function recorded(report: VerifyReport, bundle: Bundle): string {
  const { round } = signedPart(bundle).attest;
  const time = recordedTime(report);
  const month = estimatedMonth(round, noteOf(bundle)?.g ?? "");
  const where = `${ledgerName(report)}, round ${round}`;
  const place = where.charAt(0).toUpperCase() + where.slice(1);
  if (time !== undefined) return `${place}; ${time}`;
  return month === undefined ? place : `${place}; ${month}, estimated from the round`;
}

/** Block explorers by chain name. */
export const EXPLORERS: Readonly<Record<string, NonNullable<Fact["link"]>>> = {
  algorand: { text: "Allo", url: "https://allo.info" },
  base: { text: "Basescan", url: "https://basescan.org" },
};
