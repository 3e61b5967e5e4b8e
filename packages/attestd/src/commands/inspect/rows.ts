import { type Note, parsePaymentReceipt } from "@attestd/proof";
import { noteFields } from "@attestd/proof/description";
import { railLabel } from "@attestd/proof/rails";
import { utcTime } from "@attestd/proof/text";

/** An explanation of a file. Its texts may be a stranger's. */
export type Inspection = {
  /** The kind of the file, for programs. */
  kind: string;
  title: string;
  rows: [label: string, value: string][];
  /** Sentences below the rows. */
  remarks: string[];
  /** What the file states, for programs. */
  value: object;
};

/** Why a file has no explanation, in a sentence. `broken`: it is of a known kind, but its form is wrong. */
export type Unexplained = { kind: "unknown" | "broken"; why: string };

/** What a note says, member by member. */
export function noteRows(note: Note): Inspection["rows"] {
  return noteFields(note).map(({ member, label, value }) => [`note ${member}`, `${label}: ${value}`]);
}

/** Explains a receipt. @param jws compact. @throws ProofError `format` */
export function inspectReceipt(jws: string): Inspection {
  return {
    kind: "payment-receipt",
    title: "Receipt of a payment",
    rows: receiptRows(jws),
    remarks: ["Amount and payee are on the payment's chain, not in the receipt."],
    value: parsePaymentReceipt(jws),
  };
}

/** The parts of a receipt. @param jws compact. @throws ProofError `format` */
export function receiptRows(jws: string): Inspection["rows"] {
  const { kid, receipt } = parsePaymentReceipt(jws);
  return [
    ["paid on", railLabel(receipt.network)],
    ["paid by", receipt.payer],
    ["transaction", receipt.transaction],
    ["for", receipt.resourceUrl],
    ["delivered", utcTime(receipt.issuedAt)],
    ["signed by", `key ${kid}`],
  ];
}
