import { type CheckRow, checkRows } from "../src/checks.ts";
import { factsOf, noteFields } from "../src/facts.ts";
import { isBelieved, isVerified } from "../src/file-verdict.ts";
import { printable } from "../src/printable.ts";
import { doubt, type Judged, verdictOf } from "../src/verdict.ts";
import { CHECKS, SENTENCES } from "../src/words.ts";
import { button, h } from "./dom.ts";
import { checkList, disclosure, factList, fieldList, heading, saveKeysButton } from "./parts.ts";

export type ResultActions = {
  askLedger(pressed: HTMLButtonElement): void;
  saveCertificate(): void;
  printCertificate(): void;
  saveBundle(): void;
  startOver(): void;
};

export type Result = {
  judged: Judged;
  /** UTF-8 of the bundle. */
  bytes: Uint8Array;
  /** Whether a certificate's QR code named this bundle. */
  isNamed: boolean;
  /** Why the ledger could not be asked. */
  ledgerTrouble?: string;
  /** Host that the ledger check sends the file to. */
  service: string;
};

/** The view of a judged file: the verdict, the actions, what was attested, the checks, the rest. */
export function resultView(result: Result, actions: ResultActions): Node[] {
  const { judged } = result;
  const verdict = verdictOf(judged);
  const rows = checkRows(judged);
  return [
    h(
      "section",
      { class: "verdict", "data-tone": verdict.tone, "data-state": verdict.state },
      heading(verdict.heading, verdict.icon),
      ...verdict.sentences.map((sentence) => h("p", {}, printable(sentence))),
      result.isNamed && h("p", {}, SENTENCES.isNamed),
      result.ledgerTrouble !== undefined && h("p", {}, `${SENTENCES.ledgerTrouble} ${printable(result.ledgerTrouble)}`),
      actionRow(result, verdict.mayAskLedger, actions),
    ),
    ...(isBelieved(judged) ? believed(judged, rows) : refused(judged, rows)),
    ...(judged.bundle === undefined ? [] : [rawJson(result.bytes)]),
    ...(isBelieved(judged) ? [withoutThisSite(judged)] : []),
    limits(judged),
  ];
}

function actionRow({ judged, ledgerTrouble, service }: Result, mayAsk: boolean, actions: ResultActions): HTMLElement {
  const verified = isBelieved(judged);
  const asks = mayAsk && judged.comparedBy === undefined && judged.keys?.basis.basis !== "example";
  // A file that may be a stranger's gets no certificate, which would look like a proof.
  const certifies = isVerified(judged) && doubt(judged) === undefined;
  const hint = h("p", { class: "hint", id: "ledger-hint" }, `The ledger check sends this file to ${service}.`);
  const again = button("Check another", actions.startOver, { class: verified ? "quiet" : "" });
  if (!verified && !asks) return h("div", { class: "actions" }, again);
  return h(
    "div",
    {},
    h(
      "div",
      { class: "actions" },
      asks &&
        button(ledgerTrouble === undefined ? "Check on the ledger" : "Try again", actions.askLedger, {
          class: "primary",
          "aria-describedby": "ledger-hint",
        }),
      certifies && button("Save certificate", actions.saveCertificate),
      !verified && again,
    ),
    asks && hint,
    verified &&
      h(
        "div",
        { class: "actions more" },
        certifies && button("Print certificate", actions.printCertificate, { class: "quiet" }),
        button("Save bundle", actions.saveBundle, { class: "quiet" }),
        again,
      ),
  );
}

function believed(judged: Judged, rows: readonly CheckRow[]): Node[] {
  const { subject, bundle } = judged;
  return [
    h("h2", {}, "What was attested"),
    factList(factsOf(judged)),
    h("h2", {}, "Checks"),
    checkList(rows),
    ...(subject?.transaction && subject.transaction.fields.length > 0
      ? [disclosure("Decoded transaction", fieldList(subject.transaction.fields))]
      : []),
    ...(bundle === undefined ? [] : [noteDetails(bundle.attest.note)]),
  ];
}

/** Failed checks come first; the file's claims are folded away and labelled as such. */
function refused(judged: Judged, rows: readonly CheckRow[]): Node[] {
  const failed = rows.filter(({ result }) => result === "fail");
  const passed = rows.filter(({ result }) => result === "pass");
  const unchecked = rows.filter(({ result }) => result === "not_checked");
  const count = (list: readonly CheckRow[], what: string) =>
    `${list.length} check${list.length === 1 ? "" : "s"} ${what}`;
  return [
    ...(failed.length === 0 ? [] : [h("h2", {}, "What failed"), checkList(failed), ...schemaReasons(judged)]),
    ...(passed.length === 0 ? [] : [disclosure(count(passed, "passed"), checkList(passed))]),
    ...(unchecked.length === 0 ? [] : [disclosure(count(unchecked, "not made"), checkList(unchecked))]),
    ...(judged.bundle === undefined ? [] : [disclosure(SENTENCES.claims, factList(factsOf(judged)))]),
  ];
}

function schemaReasons({ report }: Judged): Node[] {
  return report.failures
    .filter(({ check, message }) => check === "schema" && message !== undefined)
    .map(({ message }) => h("p", { class: "hint" }, `${CHECKS.schema.label}: ${printable(message ?? "")}`));
}

function noteDetails(note: string): HTMLElement {
  const fields = noteFields(note);
  return disclosure("Note on the ledger", h("pre", {}, printable(note)), ...(fields ? [fieldList(fields)] : []));
}

function rawJson(bytes: Uint8Array): HTMLElement {
  const text = new TextDecoder().decode(bytes);
  let pretty = text;
  try {
    pretty = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Shown unchanged.
  }
  return disclosure("JSON", h("pre", {}, pretty.split("\n").map(printable).join("\n")));
}

function withoutThisSite({ keys }: Judged): HTMLElement {
  return disclosure(
    "How to verify without this site",
    h(
      "div",
      {},
      h("p", {}, "Save the bundle and the key list now; both stay good when this site is gone."),
      keys && h("p", { class: "actions" }, saveKeysButton(keys)),
      h("pre", {}, "npx attestd verify bundle.json --keys keys.json"),
      h(
        "p",
        {},
        "Or run one of the verifiers of docs/verify (Python, Go, JavaScript), which are a page of code each. Or look up the record in any Algorand explorer: its note holds the fingerprint.",
      ),
    ),
  );
}

function limits({ report, bundle }: Judged): HTMLElement {
  const outcomeIsOpen =
    bundle !== undefined && "source" in bundle && !("inclusion" in bundle && "receipt" in bundle.inclusion);
  return h(
    "footer",
    { class: "limits" },
    h("p", {}, SENTENCES.limits),
    report.verified && outcomeIsOpen && h("p", {}, SENTENCES.mayHaveFailed),
  );
}
