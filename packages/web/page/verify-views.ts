import type { Pointer } from "../src/pointer.ts";
import { printable } from "../src/printable.ts";
import { type JudgedReceipt, receiptFacts, receiptVerdict } from "../src/receipt-verdict.ts";
import { STATES } from "../src/words.ts";
import { aboutView } from "./about.ts";
import { actions, button, type Child, h, verdictSection } from "./dom.ts";
import type { GivenFiles } from "./given-files.ts";
import { chooseButton, factList, folderButton, heading } from "./parts.ts";
import type { Result, ResultActions } from "./result-actions.ts";
import { resultView } from "./result-view.ts";
import type { Site } from "./site.ts";
import { type Table, type TableActions, tableView } from "./table-view.ts";

export type State =
  /** `hasEvidence`: evidence or a checkpoint was given, and no bundle. `isLooking`: the bundle that the pointer names is being fetched. */
  | { name: "empty"; pointer?: Pointer | undefined; isLooking?: boolean; hasEvidence?: boolean }
  /** Files that were checked, of those that were given. */
  | { name: "reading"; done: number; total: number }
  /** `table`: of which it was opened. */
  | { name: "unreadable"; why: string; table?: Table | undefined }
  | { name: "judged"; result: Result; table?: Table | undefined }
  /** `blob`: its file. */
  | { name: "receipt"; receipt: JudgedReceipt; blob: Blob; table?: Table | undefined }
  | { name: "table"; table: Table };
type Shown<Name> = Extract<State, { name: Name }>;

export type Actions = TableActions & {
  take(given: GivenFiles): void;
  showExample(): void;
  cancel(): void;
  backTo(table: Table): void;
  ofResult(result: Result): ResultActions;
};

const EMPTY = "Drop, paste or choose bundles, certificates or whole folders. Nothing leaves this device.";
const GIVE_BUNDLE = "Added. Now give the bundle that it is of.";
export const LOOKING = "Looking for the attestation that the certificate names…";
const GIVE_NAMED =
  "This certificate names one attestation, which can't be fetched here. Drop, paste or choose its file, and it is compared with the certificate.";

export function verifyView(state: State, site: Site, can: Actions): Child[] {
  switch (state.name) {
    case "empty":
      return emptyView(state, site, can);
    case "reading":
      return readingView(state, site, can);
    case "unreadable":
      return unreadableView(state, can);
    case "judged":
      return [back(state.table, can), ...resultView(state.result, can.ofResult(state.result))];
    case "receipt":
      return [back(state.table, can), ...receiptView(state.receipt, can)];
    case "table":
      return tableView(state.table, site.keys.current, can);
  }
}

/** Leads from a file back to the table that it was opened from. */
function back(table: Table | undefined, can: Pick<Actions, "backTo">): Child {
  if (table === undefined) return undefined;
  const label = `Back to the ${table.rows.length} files`;
  return h(
    "p",
    { class: "back" },
    button(label, () => can.backTo(table), { class: "quiet" }),
  );
}

function emptyView({ pointer, isLooking, hasEvidence }: Shown<"empty">, site: Site, can: Actions): Child[] {
  const choose = chooseButton("Choose files", can.take, { class: "primary" });
  return [
    h(
      "div",
      { class: "drop" },
      heading(STATES.empty.heading),
      hasEvidence && h("p", {}, GIVE_BUNDLE),
      h("p", {}, pointer === undefined ? EMPTY : isLooking ? LOOKING : GIVE_NAMED),
      actions(
        ...choose,
        ...(pointer === undefined ? folderButton("Choose a folder", can.take) : []),
        pointer === undefined && button("Example", can.showExample),
      ),
    ),
    aboutView(site),
  ];
}

function readingView({ done, total }: Shown<"reading">, site: Site, can: Actions): Child[] {
  site.announce(STATES.reading.heading);
  const progress = h("p", { id: "progress" }, total === 1 ? "" : `${done} of ${total} files`);
  return [
    h("div", { class: "drop" }, heading(STATES.reading.heading), progress, actions(button("Cancel", can.cancel))),
  ];
}

/** Shows how many files have been checked, while they are. */
export function showProgress(done: number, total: number): void {
  const progress = document.getElementById("progress");
  if (progress && total > 1) progress.textContent = `${done} of ${total} files`;
}

function receiptView(receipt: JudgedReceipt, can: Actions): Child[] {
  const { tone, state, icon, heading: title, sentences } = receiptVerdict(receipt);
  const isGood = receipt.findings.conclusion === "verified";
  return [
    verdictSection(
      { tone, state },
      heading(title, icon),
      ...sentences.map((sentence) => h("p", {}, printable(sentence))),
      !isGood && factList(receiptFacts(receipt)),
      actions(
        ...(state === "unknown" ? chooseButton("Choose a key list", can.take) : []),
        button("Check another", can.startOver),
      ),
    ),
    isGood && h("h2", {}, "What was paid"),
    isGood && factList(receiptFacts(receipt)),
  ];
}

function unreadableView({ why, table }: Shown<"unreadable">, can: Actions): Child[] {
  const { heading: title, tone } = STATES.unreadable;
  return [
    back(table, can),
    verdictSection(
      { tone, state: "unreadable" },
      heading(title),
      h("p", {}, why),
      h(
        "p",
        {},
        "Bundles, receipts and key lists are .json files; a certificate is a .pdf or .svg file that carries its bundle.",
      ),
      actions(button("Check another", can.startOver)),
    ),
  ];
}
