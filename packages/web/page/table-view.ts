import type { BatchAnswer, BatchItem, KeyHistory } from "@attestd/proof";
import { type FileRow, totalOf } from "../src/file-rows.ts";
import { printable } from "../src/printable.ts";
import { basisSentence, contradictionOf, doubtSentence, type KeyList } from "../src/trust-basis.ts";
import type { Judged } from "../src/verdict.ts";
import { NO_CERTIFICATES, STATES } from "../src/words.ts";
import { actions, button, type Child, h, verdictSection } from "./dom.ts";
import { type GivenFile, MAX_FILES } from "./given-files.ts";
import { icon } from "./icons.ts";
import { heading } from "./parts.ts";

/** `item`: the item of a batch that it is, verified. */
export type Row = FileRow & GivenFile & { item?: { judged: Judged; bundle: BatchItem } };

/** A batch whose items were all given and verified. */
export type WholeBatch = { answer: BatchAnswer; judged: readonly Judged[]; history: KeyHistory };

/** Many files that were checked, the worst first. */
export type Table = {
  rows: readonly Row[];
  /** How many were to be checked: fewer were when it was stopped. */
  given: number;
  wasStopped: boolean;
  /** Whether there were more than are checked at once. */
  leftOut: boolean;
  /** Whether a certificate's QR code named the batch. */
  isNamed: boolean;
  /** The batch that it is of, whole. */
  batch: WholeBatch | undefined;
  /** Whether what makes certificates could not be loaded. */
  hasNoCertificates?: boolean;
};

export type TableActions = {
  startOver(): void;
  saveBatchCertificate(table: Table, pressed: HTMLButtonElement): void;
  openRow(table: Table, row: Row): void;
};

const COLUMNS = ["File", "Verdict", "What", "When"];

/** The view of many files: their verdicts together, then one row each. */
export function tableView(table: Table, keys: KeyList | undefined, can: TableActions): Child[] {
  const { rows, given, wasStopped, leftOut, isNamed, batch } = table;
  const total = totalOf(rows);
  const found = keys && contradictionOf(keys, keys.history.keys.at(-1)?.kid);
  return [
    verdictSection(
      { tone: total.tone, state: "table" },
      heading(total.heading, total.icon),
      h("p", {}, `${total.counts.join(", ")}.`),
      found && h("p", {}, doubtSentence(found)),
      table.hasNoCertificates && h("p", {}, NO_CERTIFICATES),
      isNamed && h("p", {}, "This is the batch that the certificate names."),
      wasStopped &&
        h("p", {}, `Stopped: ${rows.length} of ${given} files were checked. Give the others again to check them.`),
      leftOut && h("p", {}, `Only the first ${MAX_FILES} files were checked. Give the others by themselves.`),
      h(
        "p",
        {},
        `Nothing was uploaded. Not yet compared with the ledger: open a file to do so. ${basisSentence(keys?.basis)}`,
      ),
      actions(
        batch && button("Save certificate of the batch", (pressed) => can.saveBatchCertificate(table, pressed)),
        button("Check others", can.startOver),
      ),
    ),
    // Styles turn rows into blocks on phones; without the roles these would no longer be rows of a table.
    h(
      "table",
      { class: "files", role: "table" },
      h(
        "thead",
        { role: "rowgroup" },
        h("tr", { role: "row" }, ...COLUMNS.map((name) => h("th", { role: "columnheader", scope: "col" }, name))),
      ),
      h("tbody", { role: "rowgroup" }, ...rows.map((row) => rowView(row, () => can.openRow(table, row)))),
    ),
  ];
}

function rowView({ name, state, what, when }: Row, open: () => void): HTMLElement {
  const { icon: sign, heading: word, tone } = STATES[state];
  const cell = (...children: Child[]) => h("td", { role: "cell" }, ...children);
  return h(
    "tr",
    { role: "row", "data-verdict": state, "data-mark": tone },
    cell(button(printable(name), open, { class: "quiet" })),
    cell(h("span", { class: "mark" }, icon(sign || "–"), h("span", { class: "word" }, word))),
    cell(printable(what)),
    cell(printable(when)),
  );
}
