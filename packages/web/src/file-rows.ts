import { signedPart } from "@attestd/proof";
import { circumstancesOf, subjectLine } from "@attestd/proof/description";
import { utcTime } from "@attestd/proof/text";
import { isProven, type Judged, verdictOf } from "./verdict.ts";
import { STATES } from "./words.ts";

export type RowState = keyof typeof STATES;

/** One of many files in a table. */
export type FileRow = {
  name: string;
  state: RowState;
  /** What was attested, or why it is not shown. */
  what: string;
  when: string;
};

/** The worst state first, so that nothing bad hides behind something good. */
const ORDER: readonly RowState[] = [
  "failed",
  "altered",
  "revoked",
  "elsewhere",
  "unreadable",
  "unknown",
  "uncompared",
  "warning",
  "warning_found",
];

/** @param name as the reader knows it */
export function rowOf(name: string, judged: Judged): FileRow {
  const { state, sentences } = verdictOf(judged);
  if (!isProven(judged) || judged.subject === undefined) return { name, state, what: sentences[0] ?? "", when: "" };
  const { outcome } = circumstancesOf(judged.subject, judged.report);
  return { name, state, what: subjectLine(judged.subject, outcome), when: whenOf(judged) };
}

export function sortedRows<R extends FileRow>(rows: readonly R[]): R[] {
  const rank = ({ state }: FileRow) => (ORDER.includes(state) ? ORDER.indexOf(state) : ORDER.length);
  return rows.toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the verdict about many files together. */
export function totalOf(rows: readonly FileRow[]): { heading: string; tone: string; icon: string; counts: string[] } {
  const tones = new Set(rows.map(({ state }) => STATES[state].tone));
  const good = rows.filter(({ state }) => /^(verified|warning)/.test(state)).length;
  const byHeading = Map.groupBy(sortedRows(rows), ({ state }) => STATES[state].heading);
  const worst = tones.has("failed") ? "failed" : tones.size === 1 && tones.has("passed") ? "passed" : "caution";
  return {
    heading: `${good} of ${rows.length} files verified`,
    tone: worst,
    icon: { failed: "✕", passed: "✓", caution: "⚠" }[worst],
    counts: [...byHeading].map(([heading, of]) => `${of.length} × ${heading}`),
  };
}

/** Returns the time of its block, as far as the file says; else the record's round. */
function whenOf({ report, bundle, subject }: Judged): string {
  const time = subject && circumstancesOf(subject, report).block?.time;
  if (time === undefined) return bundle ? `recorded in round ${signedPart(bundle).attest.round}` : "";
  return utcTime(time).replace(/:\d\d UTC$/, " UTC");
}
