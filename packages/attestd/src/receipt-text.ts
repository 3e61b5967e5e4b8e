import { railLabel } from "@attestd/proof/rails";
import { utcTime } from "@attestd/proof/text";
import { hostOf } from "@attestd/web/printable";
import type { ReceiptFindings } from "@attestd/web/receipt-file";
import { historyOf } from "@attestd/web/trust-basis";
import type { TrustedKeys } from "./keys-file.ts";
import type { Terminal } from "./terminal.ts";

/** Why a receipt is not believed, in one line. */
export function receiptTrouble({ conclusion, why }: ReceiptFindings): string | undefined {
  switch (conclusion) {
    case "verified":
      return undefined;
    case "unknown":
      return "its key is in no history here; anyone could have made it";
    case "revoked":
      return "its key was withdrawn, and a receipt does not show that it is older";
    case "failed":
      return `changed after signing, or no receipt: ${why}`;
  }
}

/** The lines below the verdict of a receipt. @param out shortens ids */
export function receiptEvidence(
  findings: ReceiptFindings,
  trusted: TrustedKeys | undefined,
  out: Pick<Terminal, "short">,
): string[] {
  const { receipt, kid = "", conclusion } = findings;
  const trouble = receiptTrouble(findings);
  if (receipt === undefined || conclusion !== "verified") return trouble === undefined ? [] : [trouble];
  const origin = historyOf(trusted?.trust)?.keys.find((key) => key.kid === kid)?.origin;
  return [
    `receipt of the payment ${out.short(receipt.transaction)} on ${railLabel(receipt.network)}, by ${out.short(receipt.payer)}`,
    `for ${receipt.resourceUrl}, delivered ${utcTime(receipt.issuedAt)}`,
    `signed by ${origin === undefined ? "" : `${hostOf(origin)}, `}key ${out.short(kid)}`,
    "It names the payment, not the bundle; amount and payee are on the payment's chain.",
  ];
}
