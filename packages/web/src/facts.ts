import { parseNote } from "@attestd/proof";
import { subjectTitle } from "./description.ts";
import type { Field } from "./fields.ts";
import { isBelieved, isVerified, ledgerName, recordedTime } from "./file-verdict.ts";
import { estimatedMonth } from "./ledger-time.ts";
import { doubt, type Judged, ledgerOf, noteOf, signer, signerName } from "./verdict.ts";
import { OUTCOMES } from "./words.ts";

/** One line about a file: text, or an id that is shown in full and can be copied. */
export type Fact = { label: string; text?: string; id?: string; link?: { text: string; url: string } };

const LEVELS = {
  included: "included in a block, which could still be undone",
  safe: "safe: unlikely to be undone",
  finalized: "final",
} as const;

/** What was attested, where it was recorded and by whom. Only proven facts of a real ledger have links. */
export function factsOf(judged: Judged): Fact[] {
  const { subject, bundle, report } = judged;
  if (subject === undefined || bundle === undefined) return [];
  const { transaction, block, chain, fingerprint } = subject;
  const isReal = isVerified(judged) && !report.warnings.includes("sandbox") && doubt(judged) === undefined;
  const linked = (of: string, path: string) => {
    const link = isReal ? explorerLink(of, path) : undefined;
    return link && { link };
  };
  const level = levelOf(judged);
  return [
    { label: "What", text: subjectTitle(subject) },
    ...(transaction
      ? [{ label: "Transaction", id: transaction.id, ...linked(chain.name, `tx/${transaction.id}`) }]
      : []),
    ...(report.receipt ? [{ label: "Outcome", text: OUTCOMES[report.receipt.status] }] : []),
    ...(block
      ? [
          { label: "Block", text: `${block.height} of ${chain.label}` },
          { label: "Block hash", id: block.hash, ...linked(chain.name, `block/${block.height}`) },
        ]
      : []),
    ...(level === undefined ? [] : [{ label: "Seen as", text: level }]),
    { label: "Fingerprint", id: fingerprint },
    { label: "Recorded", text: recorded(judged) },
    { label: "Record", id: bundle.attest.txnId, ...linked("algorand", `tx/${bundle.attest.txnId}`) },
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
  const note = bundle && subject?.chain.name === "base" ? noteOf(bundle) : undefined;
  return note && "l" in note ? LEVELS[note.l] : undefined;
}

/** Block explorers by the name of their chain. */
const EXPLORERS: Readonly<Record<string, NonNullable<Fact["link"]>>> = {
  algorand: { text: "Allo", url: "https://allo.info" },
  base: { text: "Basescan", url: "https://basescan.org" },
};

function explorerLink(chain: string, path: string): Fact["link"] {
  const explorer = EXPLORERS[chain];
  return explorer && { text: explorer.text, url: `${explorer.url}/${path}` };
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

/** The note's members with labels; undefined when the note is malformed. */
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
