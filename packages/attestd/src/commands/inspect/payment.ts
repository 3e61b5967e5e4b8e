import { decodeMsgpackMap, encodeAddress, getBytes, getInteger, getMap, getString } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import { attempt } from "@attestd/proof/errors";
import { isObject } from "@attestd/proof/json";
import { formatUsdc, isUsdc, railLabel, railOf } from "@attestd/proof/rails";
import { excerpt, utcTime } from "@attestd/proof/text";
import { receiptIn } from "@attestd/web/receipt-file";
import { PaymentPayloadV2Schema, PaymentRequiredV2Schema, type PaymentRequirementsV2 } from "@x402/core/schemas";
import { type Inspection, receiptRows, type Unexplained } from "./rows.ts";

type Rows = Inspection["rows"];

/** The most rows for the members of an offer or a payload. */
const MAX_ROWS = 40;

/**
 * Explains what a payment header of x402 version 2 contains.
 * @param value its JSON
 * @returns undefined for anything else
 */
export function inspectPayment(value: unknown): Inspection | Unexplained | undefined {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, "accepts")) return inspectRequired(value);
  if (Object.hasOwn(value, "accepted") && Object.hasOwn(value, "payload")) return inspectSigned(value);
  const isResponse = typeof value.success === "boolean" && Object.hasOwn(value, "transaction");
  return isResponse ? inspectResponse(value) : undefined;
}

function inspectRequired(value: object): Inspection | Unexplained {
  const { success, data } = PaymentRequiredV2Schema.safeParse(value);
  if (!success) return malformed("PAYMENT-REQUIRED");
  const { resource, accepts, error } = data;
  const rows: Rows = [["for", resource.url]];
  if (resource.description) rows.push(["description", excerpt(resource.description, 200)]);
  if (error) rows.push(["error", excerpt(error, 200)]);
  for (const [index, offer] of accepts.entries()) rows.push(...offerRows(`offer ${index + 1}`, offer));
  const extensions = Object.keys(data.extensions ?? {});
  if (extensions.length > 0) rows.push(["extensions", extensions.join(", ")]);
  return {
    kind: "payment-required",
    title: "PAYMENT-REQUIRED: the payment that a service asks for (x402 version 2)",
    rows: rows.slice(0, MAX_ROWS),
    remarks: ["A payer pays one of the offers, not all."],
    value: { paymentRequired: value },
  };
}

function offerRows(
  label: string,
  { scheme, network, amount, asset, payTo, maxTimeoutSeconds }: PaymentRequirementsV2,
): Rows {
  return [
    [label, `${amountOf(network, asset, amount)} on ${railLabel(network)}, scheme ${scheme}`],
    ["  to", payTo],
    ["  within", `${maxTimeoutSeconds} s`],
  ];
}

function amountOf(network: string, asset: string, amount: string): string {
  const rail = railOf(network);
  const isKnown = rail !== undefined && isUsdc(rail, asset) && /^\d{1,30}$/.test(amount);
  return isKnown ? `${formatUsdc(BigInt(amount))} USDC` : `${excerpt(amount)} units of ${excerpt(asset)}`;
}

function inspectSigned(value: object): Inspection | Unexplained {
  const { success, data } = PaymentPayloadV2Schema.safeParse(value);
  if (!success) return malformed("PAYMENT-SIGNATURE");
  const { accepted, payload, resource } = data;
  const rows: Rows = [...(resource ? [["for", resource.url] as Rows[number]] : []), ...offerRows("accepted", accepted)];
  rows.push(...payloadRows(payload));
  return {
    kind: "payment-signature",
    title: "PAYMENT-SIGNATURE: a signed payment (x402 version 2)",
    rows: rows.slice(0, MAX_ROWS),
    remarks: ["While it is valid, anyone who has it can have it settled once, to the payee above and nobody else."],
    value: { paymentPayload: value },
  };
}

function payloadRows(payload: Record<string, unknown>): Rows {
  const { authorization, paymentGroup, transaction } = payload;
  if (isObject(authorization)) {
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    return [
      ["signed", "an authorization to move USDC (EIP-3009)"],
      ["  from", shown(from)],
      ["  to", shown(to)],
      ["  value", shown(value)],
      ["  valid", `${time(validAfter)} to ${time(validBefore)}`],
      ["  nonce", shown(nonce)],
    ];
  }
  if (Array.isArray(paymentGroup)) {
    return [
      ["signed", `a group of ${paymentGroup.length} Algorand transactions`],
      ...paymentGroup.slice(0, 16).map((one, index) => [`  ${index + 1}`, groupMember(one)] as Rows[number]),
    ];
  }
  if (typeof transaction === "string") {
    const bytes = attempt("malformed", () => fromBase64(transaction));
    return [["signed", bytes ? `a Solana transaction of ${bytes.length} bytes` : "a transaction that is not base64"]];
  }
  const names = Object.keys(payload).slice(0, 10);
  return [["signed", `something with ${names.map((name) => excerpt(name)).join(", ")}`]];
}

/** Describes one transaction of a group, and says whether it is signed. */
function groupMember(text: unknown): string {
  const signed = typeof text === "string" && attempt("malformed", () => decodeMsgpackMap(fromBase64(text)));
  const transaction = signed && getMap(signed, "txn");
  if (!signed || !transaction) return "not a transaction";
  return (
    attempt("malformed", () => {
      const sender = getBytes(transaction, "snd", 32);
      const receiver = getBytes(transaction, "arcv", 32) ?? getBytes(transaction, "rcv", 32);
      const amount = getInteger(transaction, "aamt") || getInteger(transaction, "amt");
      const asset = getInteger(transaction, "xaid");
      const hasSignature = ["sig", "msig", "lsig"].some((name) => signed.has(name));
      return [
        getString(transaction, "type") ?? "no type",
        `${amount}${asset ? ` of asset ${asset}` : ""}`,
        sender && `from ${encodeAddress(sender)}`,
        receiver && `to ${encodeAddress(receiver)}`,
        `rounds ${getInteger(transaction, "fv")} to ${getInteger(transaction, "lv")}`,
        hasSignature ? "signed" : "not signed yet",
      ]
        .filter(Boolean)
        .join(", ");
    }) ?? "not a transaction"
  );
}

function time(seconds: unknown): string {
  const text = shown(seconds);
  return /^\d{1,12}$/.test(text) ? utcTime(Number(text)) : text;
}

/** The text of a member of any type: a string as it is, anything else as JSON. */
function shown(member: unknown): string {
  return excerpt(typeof member === "string" ? member : (JSON.stringify(member) ?? "nothing"));
}

function inspectResponse(value: Record<string, unknown>): Inspection | Unexplained {
  const { success, transaction, network, payer, amount, errorReason } = value;
  if (typeof transaction !== "string" || typeof network !== "string") return malformed("PAYMENT-RESPONSE");
  const rows: Rows = [
    ["settled", success ? "yes" : "no"],
    ["on", railLabel(network)],
    ["transaction", excerpt(transaction) || "none"],
  ];
  if (typeof payer === "string") rows.push(["payer", excerpt(payer)]);
  if (typeof amount === "string") rows.push(["amount", excerpt(amount)]);
  if (typeof errorReason === "string") rows.push(["reason", excerpt(errorReason, 200)]);
  const jws = receiptIn(value);
  if (jws !== undefined)
    rows.push(...receiptRows(jws).map(([label, text]): Rows[number] => [`receipt: ${label}`, text]));
  return {
    kind: "payment-response",
    title: "PAYMENT-RESPONSE: how a payment was settled (x402 version 2)",
    rows,
    remarks: jws === undefined ? ["It has no signed receipt."] : ["`attestd verify` checks the receipt in it."],
    value: { settlement: value },
  };
}

function malformed(header: string): Unexplained {
  return { kind: "broken", why: `It looks like ${header}, but not of x402 version 2.` };
}
