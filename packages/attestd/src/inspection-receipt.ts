import { parsePaymentReceipt } from "@attestd/proof";
import { railLabel } from "@attestd/proof/rails";
import { utcTime } from "@attestd/proof/text";
import type { Inspection } from "./inspection-rows.ts";

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
