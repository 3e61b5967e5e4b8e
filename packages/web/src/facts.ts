import { parseNote } from "@attestd/proof";
import { subjectTitle } from "./description.ts";
import type { Field } from "./fields.ts";
import { isBelieved, isVerified, recordedTime } from "./file-verdict.ts";
import { estimatedMonth } from "./ledger-time.ts";
import { doubt, type Judged, ledgerName, ledgerOf, signer, signerName } from "./verdict.ts";
import { OUTCOMES } from "./words.ts";

/** One line of what a file says: text, or an id that is shown whole and can be copied. */
export type Fact = { label: string; text?: string; id?: string; link?: { text: string; url: string } };

const LEVELS = {
  included: "included in a block, which could still be undone",
  safe: "safe: unlikely to be undone",
  finalized: "final",
} as const;

/** What was attested, where it was recorded and by whom; with links only where it is proven, and real. */
export function factsOf(judged: Judged): Fact[] {
  const { subject, bundle, report } = judged;
  if (subject === undefined || bundle === undefined) return [];
  const { transaction, block, chain, fingerprint } = subject;
  const isReal = isVerified(judged) && !report.warnings.includes("sandbox") && doubt(judged) === undefined;
  const linked = (name: "source" | "block" | "record") => (isReal ? { link: explorerLink(name, judged) } : {});
  const level = levelOf(judged);
  return [
    { label: "What", text: subjectTitle(subject) },
    ...(transaction ? [{ label: "Transaction", id: transaction.id, ...linked("source") }] : []),
    ...(report.receipt ? [{ label: "Outcome", text: OUTCOMES[report.receipt.status] }] : []),
    ...(block
      ? [
          { label: "Block", text: `${block.height} of ${chain.label}` },
          { label: "Block hash", id: block.hash, ...linked("block") },
        ]
      : []),
    ...(level === undefined ? [] : [{ label: "Seen as", text: level }]),
    { label: "Fingerprint", id: fingerprint },
    { label: "Recorded", text: recorded(judged) },
    { label: "Record", id: bundle.attest.txnId, ...linked("record") },
    ...(isBelieved(judged)
      ? [
          { label: "Signed by", text: `${signerName(judged)} (${report.attestor.status} key)` },
          { label: "Key", id: signer(judged)?.kid ?? "" },
        ]
      : [{ label: "Key named", id: report.attestor.kid ?? "" }]),
    { label: "Account", id: bundle.attestor.algorandAddress },
  ];
}

function recorded({ report, bundle }: Judged): string {
  const round = bundle?.attest.round ?? 0;
  const time = recordedTime(report);
  const month = bundle && estimatedMonth(round, ledgerOf(bundle) ?? "");
  const where = `${ledgerName(report)}, round ${round}`;
  const place = where.charAt(0).toUpperCase() + where.slice(1);
  if (time !== undefined) return `${place}; ${time}`;
  return month === undefined ? place : `${place}; ${month}, estimated from the round`;
}

function levelOf({ bundle, subject }: Judged): string | undefined {
  if (bundle === undefined || subject?.chain.name !== "base") return undefined;
  try {
    const note = parseNote(bundle.attest.note);
    return "l" in note ? LEVELS[note.l] : undefined;
  } catch {
    return undefined;
  }
}

function explorerLink(name: "source" | "block" | "record", { subject, bundle }: Judged): { text: string; url: string } {
  const transaction = (chain: string, id: string) =>
    chain === "base"
      ? { text: "Basescan", url: `https://basescan.org/tx/${id}` }
      : { text: "Allo", url: `https://allo.info/tx/${id}` };
  if (name === "record") return transaction("algorand", bundle?.attest.txnId ?? "");
  const chain = subject?.chain.name ?? "algorand";
  if (name === "source") return transaction(chain, subject?.transaction?.id ?? "");
  return chain === "base"
    ? { text: "Basescan", url: `https://basescan.org/block/${subject?.block?.height}` }
    : { text: "Allo", url: `https://allo.info/block/${subject?.block?.height}` };
}

const NOTE_LABELS: Readonly<Record<string, string>> = {
  a: "Key (SHA-256)",
  b: "Block hash",
  c: "Chain",
  g: "Ledger",
  h: "Fingerprint",
  l: "Confirmation seen",
  n: "Height",
  p: "Payment (commitment)",
  t: "Transaction",
  k: "Key entry (SHA-256)",
};

/** The note's members in words; undefined where it is no note of ours. */
export function noteFields(note: string): Field[] | undefined {
  try {
    return Object.entries(parseNote(note)).map(([name, value]) => ({
      label: `${NOTE_LABELS[name] ?? name} (${name})`,
      value: String(value),
    }));
  } catch {
    return undefined;
  }
}
