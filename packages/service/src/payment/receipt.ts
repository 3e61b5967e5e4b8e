import type { PaymentRequirements, SettleResponse } from "@x402/core/types";
import type { Attestor } from "../attestor/attestor.ts";
import { encodeHeader } from "./header.ts";
import type { Payment } from "./rails/rail.ts";

export type Settled = { success: true; transaction: string } | { success: false; reason: string };

/**
 * Makes the receipt of a settlement for PAYMENT-RESPONSE (x402 v2, SettleResponse).
 *
 * It states what the payment's chain shows, because the facilitator's answer may be lost; so every settlement of the
 * payment gives the same receipt.
 * @returns standard base64 of JSON
 */
export function settlementReceipt(
  { payer }: Pick<Payment, "payer">,
  { network, amount }: PaymentRequirements,
  settled: Settled,
): string {
  const response: SettleResponse = settled.success
    ? { success: true, payer, transaction: settled.transaction, network, amount }
    : {
        success: false,
        errorReason: "settlement_failed",
        errorMessage: settled.reason,
        payer,
        transaction: "",
        network,
      };
  return encodeHeader(response);
}

/** Decodes one of our receipts, for the transports that carry it as JSON. @param receipt value of PAYMENT-RESPONSE */
export function settlementOf(receipt: string): SettleResponse {
  return JSON.parse(Buffer.from(receipt, "base64").toString());
}

/**
 * JSON Schema of the extension's `info`, which every x402 extension has. It is short, because it is sent in a header.
 */
const RECEIPT_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    receipt: {
      type: "object",
      properties: { format: { const: "jws" }, signature: { type: "string" } },
      required: ["format", "signature"],
    },
  },
  required: ["receipt"],
};

/** What a signed receipt adds to the settlement. */
export type Delivery = {
  /** The purchased resource: the HTTP endpoint, over whichever transport it was bought. */
  resourceUrl: string;
  /** When it was delivered, Unix ms. */
  at: number;
};

/**
 * Adds the attestor's signature to the receipt of a successful settlement (x402 extension `offer-receipt`, section 5).
 * @param receipt of `settlementReceipt`
 * @returns standard base64 of JSON, under 8 KB, which is the longest header that some clients accept
 */
export async function signReceipt(
  receipt: string,
  { resourceUrl, at }: Delivery,
  attestor: Pick<Attestor, "signReceipt">,
  signal: AbortSignal,
): Promise<string> {
  const settlement = settlementOf(receipt);
  const { network, transaction, payer } = settlement;
  if (!settlement.success || payer === undefined) throw new Error("only a payment that was made is signed for");
  const issuedAt = Math.floor(at / 1000);
  const signature = await attestor.signReceipt(
    { type: "x402-receipt", version: 1, network, resourceUrl, payer, transaction, issuedAt },
    signal,
  );
  const extension = { info: { receipt: { format: "jws", signature } }, schema: RECEIPT_SCHEMA };
  return encodeHeader({ ...settlement, extensions: { "offer-receipt": extension } });
}
