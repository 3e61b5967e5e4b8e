import { railLabel } from "@attestd/proof/rails";
import { utcTime } from "@attestd/proof/text";
import type { Fact } from "./file-facts.ts";
import type { FileRow, RowState } from "./file-rows.ts";
import { present } from "./present.ts";
import { hostOf } from "./printable.ts";
import type { ReceiptFindings } from "./receipt-file.ts";
import { isSandbox } from "./service-status.ts";
import { basisSentence, contradictionOf, doubtSentence, type KeyList } from "./trust-basis.ts";
import { NO_KEY_LIST, STATES, WARNINGS } from "./words.ts";

/** A judged receipt, and the keys that judged it. */
export type JudgedReceipt = { findings: ReceiptFindings; keys: KeyList | undefined };

/** Returns the verdict about a payment's receipt, for people. It follows from the findings; nothing is judged again. */
export function receiptVerdict({ findings, keys }: JudgedReceipt) {
  const { conclusion, receipt, kid } = findings;
  const doubt = keys && contradictionOf(keys, kid);
  const isTest = isSandbox(keys?.history.ledger);
  const state: RowState = conclusion === "verified" && (doubt || isTest) ? "warning" : conclusion;
  const origin = keys?.history.keys.find((key) => key.kid === kid)?.origin;
  const warnings = present([doubt && doubtSentence(doubt), isTest && WARNINGS.sandbox()]);
  const stated: string[] =
    receipt && conclusion === "verified"
      ? [
          ...warnings,
          `This receipt is unchanged, and ${hostOf(origin ?? "")} signed it. It states that the payment below was made, and that what it paid for was delivered.`,
          "It names the payment, not the bundle. Amount and payee are on the payment's own chain, which was not asked. Nothing was uploaded.",
        ]
      : [WHY[conclusion as keyof typeof WHY](findings)];
  const help =
    conclusion === "unknown"
      ? [keys ? "If you have the signer's key list, give it to this page too." : NO_KEY_LIST]
      : [];
  return { state, ...STATES[state], sentences: [...stated, ...help, basisSentence(keys?.basis)] };
}

const WHY = {
  unknown: () => "This is a receipt, but its key is in no history here. Anyone could have made it.",
  revoked: () => "The receipt's key was withdrawn, and a receipt doesn't show that it is older. Don't rely on it.",
  failed: ({ why }: ReceiptFindings) => `Changed after signing, or no receipt: ${why}. Don't rely on it.`,
};

/** Lists the contents of a verified receipt; for any other, only the key that it names. */
export function receiptFacts({ findings }: JudgedReceipt): Fact[] {
  const { receipt, conclusion, kid } = findings;
  const key: Fact[] = kid === undefined ? [] : [{ label: "Signer's key", id: kid }];
  if (receipt === undefined || conclusion !== "verified") return key;
  return [
    { label: "Payment", id: receipt.transaction },
    { label: "Paid on", text: railLabel(receipt.network) },
    { label: "Paid by", id: receipt.payer },
    { label: "Paid for", text: receipt.resourceUrl },
    { label: "Delivered", text: utcTime(receipt.issuedAt) },
    ...key,
  ];
}

/** @param name as the reader knows it */
export function receiptRow(name: string, judged: JudgedReceipt): FileRow {
  const { state, sentences } = receiptVerdict(judged);
  const { receipt, conclusion } = judged.findings;
  if (receipt === undefined || conclusion !== "verified") return { name, state, what: sentences[0] ?? "", when: "" };
  return {
    name,
    state,
    what: `Receipt of a payment on ${railLabel(receipt.network)}`,
    when: utcTime(receipt.issuedAt),
  };
}
