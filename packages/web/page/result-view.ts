import { type Bundle, noteOf, signedPart } from "@attestd/proof";
import { circumstancesOf, noteFields } from "@attestd/proof/description";
import { type CheckRow, checkRows } from "../src/checks.ts";
import { factsOf, type Headline, headlineOf } from "../src/file-facts.ts";
import { printable } from "../src/printable.ts";
import { contradiction, isProven, isVerified, type Judged, type Verdict, verdictOf } from "../src/verdict.ts";
import { LIMITS, NO_CERTIFICATES } from "../src/words.ts";
import { actions, button, type Child, h, verdictSection } from "./dom.ts";
import { icon } from "./icons.ts";
import { checkList, chooseButton, disclosure, factList, fieldList, heading, saveKeysButton } from "./parts.ts";
import type { Result, ResultActions } from "./result-actions.ts";

/** The view of a judged file: the verdict, the actions, what was attested, the checks, the rest. */
export function resultView(result: Result, can: ResultActions): Child[] {
  const { judged } = result;
  const verdict = verdictOf(judged);
  const rows = checkRows(judged);
  // Whom to ask for a key list: the key is all that is known of an unknown signer.
  const { kid } = judged.report.attestor;
  return [
    verdictSection(
      verdict,
      heading(verdict.heading, verdict.icon),
      ...verdict.sentences.map((sentence) => h("p", {}, printable(sentence))),
      result.isNamed && h("p", {}, "This is the attestation that the certificate names."),
      result.ledgerTrouble !== undefined &&
        h("p", {}, `Couldn't ask the ledger; the result stands. ${printable(result.ledgerTrouble)}`),
      result.evidenceTrouble !== undefined && h("p", {}, result.evidenceTrouble),
      result.hasNoCertificates && h("p", {}, NO_CERTIFICATES),
      verdict.needsKeys && kid !== undefined && factList([{ label: "Signer's key", id: kid }]),
      ...actionRows(result, verdict, can),
    ),
    ...(isProven(judged) ? proven(judged, rows) : refused(judged, rows)),
    judged.bundle && rawJson(result.bytes),
    isProven(judged) && withoutThisSite(judged),
    limits(judged),
  ];
}

function actionRows({ judged, ledgerTrouble, service }: Result, verdict: Verdict, can: ResultActions): Child[] {
  const isGood = isProven(judged);
  const asks = verdict.mayAskLedger && judged.comparedBy === undefined && judged.keys?.basis.basis !== "example";
  // A file that may be a stranger's gets no certificate, which would look like a proof.
  const certifies = isVerified(judged) && contradiction(judged) === undefined;
  // Only what this site delivered is here, and it could not tell of another's.
  const { evidence } = judged;
  const fetches = certifies && evidence === undefined && ["origin", "sandbox"].includes(judged.keys?.basis.basis ?? "");
  const ask = { class: "primary", "aria-describedby": "ledger-hint" };
  const quiet = { class: "quiet" };
  const again = button("Check another", can.startOver, isGood ? quiet : {});
  return [
    actions(
      asks && button(ledgerTrouble === undefined ? "Check on the ledger" : "Try again", can.askLedger, ask),
      certifies && button("Save certificate", () => void can.saveCertificate()),
      ...(verdict.needsKeys ? chooseButton("Choose a key list", can.take) : []),
      !isGood && again,
    ),
    asks && h("p", { class: "hint", id: "ledger-hint" }, `The ledger check sends this file to ${service}.`),
    isGood &&
      h(
        "div",
        { class: "actions more" },
        certifies && button("Print certificate", () => void can.printCertificate(), quiet),
        button("Save bundle", can.saveBundle, quiet),
        evidence && button("Save evidence", () => can.saveEvidence(evidence), quiet),
        fetches && button("Fetch evidence", can.fetchEvidence, quiet),
        again,
      ),
  ];
}

function proven(judged: Judged, rows: readonly CheckRow[]): Child[] {
  const { subject, bundle } = judged;
  const fields = subject?.transaction?.fields ?? [];
  return [
    h("h2", {}, "What was attested"),
    headlineView(headlineOf(judged)),
    factList(factsOf(judged)),
    h("h2", {}, "Checks"),
    checkList(rows),
    fields.length > 0 && disclosure("Decoded transaction", fieldList(fields)),
    bundle && noteDetails(bundle),
  ];
}

function headlineView(headline: Headline): Child {
  if (headline === undefined) return undefined;
  const { title, detail, mark, remarks } = headline;
  return h(
    "div",
    mark ? { class: "headline notice", "data-tone": mark.tone } : { class: "headline" },
    h("h3", {}, mark && icon(mark.icon), printable(title)),
    detail !== undefined && h("p", {}, `${printable(detail)}.`),
    ...remarks.map((remark) => h("p", { class: "hint" }, printable(remark))),
  );
}

/** Failed checks come first; the file's claims are folded away and labelled as such. */
function refused(judged: Judged, rows: readonly CheckRow[]): Child[] {
  const { pass = [], fail, not_checked: unchecked = [] } = Object.groupBy(rows, ({ result }) => result);
  const folded = (list: readonly CheckRow[], what: string) =>
    list.length > 0 && disclosure(`${list.length} check${list.length === 1 ? "" : "s"} ${what}`, checkList(list));
  return [
    ...(fail ? [h("h2", {}, "What failed"), checkList(fail), ...schemaReasons(judged)] : []),
    folded(pass, "passed"),
    folded(unchecked, "not made"),
    judged.bundle && disclosure("What the file claims. Not proven.", factList(factsOf(judged))),
  ];
}

function schemaReasons({ report }: Judged): Node[] {
  return report.failures
    .filter(({ check, message }) => check === "schema" && message !== undefined)
    .map(({ message }) => h("p", { class: "hint" }, `Form: ${printable(message ?? "")}`));
}

function noteDetails(bundle: Bundle): HTMLElement {
  const note = noteOf(bundle);
  const fields = (note ? noteFields(note) : []).map(({ member, label, value }) => ({
    label: `${label} (${member})`,
    value,
  }));
  return disclosure(
    "Note on the ledger",
    h("pre", {}, printable(signedPart(bundle).attest.note)),
    fields.length > 0 && fieldList(fields),
  );
}

function rawJson(bytes: Uint8Array): HTMLElement {
  const pretty = JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), null, 2);
  return disclosure("JSON", h("pre", {}, pretty.split("\n").map(printable).join("\n")));
}

function withoutThisSite({ keys }: Judged): HTMLElement {
  return disclosure(
    "How to verify without this site",
    h("p", {}, "Save the bundle and the key list now; both stay good when this site is gone."),
    keys && h("p", { class: "actions" }, saveKeysButton(keys)),
    h("p", {}, "In a clone of attestd, after npm ci:"),
    h("pre", {}, "npx attestd verify bundle.json --keys keys.json"),
    h(
      "p",
      {},
      "Or run one of the verifiers of docs/verify (Python, Go, JavaScript), which are a page of code each. Or look up the record in any Algorand explorer: its note holds the fingerprint.",
    ),
  );
}

function limits({ report, subject }: Judged): HTMLElement {
  const isOpen = subject?.transaction !== undefined && circumstancesOf(subject, report).outcome === "unknown";
  return h(
    "footer",
    { class: "limits" },
    h("p", {}, LIMITS),
    report.verified &&
      isOpen &&
      h("p", {}, "A transaction can be on the chain and have had no effect; an explorer shows its outcome."),
  );
}
