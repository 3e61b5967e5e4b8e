import { MAX_BATCH_BYTES, MAX_BUNDLE_BYTES } from "@attestd/proof";
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http";
import { isPaymentRequiredV2 } from "@x402/core/schemas";
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import { parseObject, readBody } from "./body.ts";
import { AttestError, type ItemAtFault, type Problem } from "./errors.ts";
import { clockError } from "./lifetime.ts";

/** A source chain by its name, such as `algorand` or `base`. */
export type ChainName = string;

/** A request to a paid route. */
export type PaidRequest =
  | { path: "/attest"; body: { txid: string; chain?: ChainName; require?: "succeeded" } }
  | { path: "/attest-batch"; body: { items: { txid: string; chain?: ChainName }[]; require?: "succeeded" } }
  | { path: "/attest-block"; body: { chain: ChainName; height: number } }
  | { path: "/prove-tx-inclusion"; body: { chain: ChainName; txId: string; height: number } };

/** A request for a batch. */
export type BatchRequest = Extract<PaidRequest, { path: "/attest-batch" }>;

export type Answer =
  | { kind: "bundle"; bytes: Uint8Array; receipt: SettleResponse | undefined }
  /** `aheadMs`: how far the service's clock is ahead of this device's; see `clockError`. */
  | { kind: "payment_required"; paymentRequired: PaymentRequired; aheadMs: number }
  | { kind: "problem"; problem: Problem };

/**
 * Sends one request to its route.
 * @param header value of PAYMENT-SIGNATURE; without it the service answers with its offers
 * @param now this device's clock, ms since 1970
 * @throws AttestError `unreachable` without a complete answer: the service may have carried out the request
 * @throws AttestError `unexpected_answer` for an answer that no attestd service gives
 */
export async function postRequest(
  fetch: typeof globalThis.fetch,
  service: string,
  { path, body: content }: PaidRequest,
  { header, signal, now = Date.now }: { header?: string; signal: AbortSignal; now?: () => number },
): Promise<Answer> {
  let response: Response;
  let body: Uint8Array;
  let aheadMs: number;
  try {
    response = await fetch(`${service}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(header && { "payment-signature": header }) },
      body: JSON.stringify(content),
      // A redirect would send the payment to a host that the caller did not choose.
      redirect: "manual",
      signal,
    });
    aheadMs = clockError(response.headers.get("date"), now());
    body = await readBody(response, path === "/attest-batch" ? MAX_BATCH_BYTES : MAX_BUNDLE_BYTES);
  } catch (error) {
    if (error instanceof AttestError) throw error;
    throw new AttestError("unreachable", `No answer from ${service}.`, { cause: error });
  }
  if (response.status === 200) return { kind: "bundle", bytes: body, receipt: readReceipt(response.headers) };
  if (response.status === 402)
    return { kind: "payment_required", paymentRequired: readOffers(response.headers), aheadMs };
  return { kind: "problem", problem: readProblem(response, body) };
}

function readOffers(headers: Headers): PaymentRequired {
  const decoded = decodeOr(headers.get("payment-required"), decodePaymentRequiredHeader);
  if (!isPaymentRequiredV2(decoded)) {
    const message = "The answer is 402 without a PAYMENT-REQUIRED header of x402 version 2.";
    throw new AttestError("unexpected_answer", message);
  }
  return decoded;
}

/** Reads the receipt. A missing or unreadable one must not fail the delivery. */
function readReceipt(headers: Headers): SettleResponse | undefined {
  const decoded = decodeOr(headers.get("payment-response"), decodePaymentResponseHeader);
  return typeof decoded?.transaction === "string" ? decoded : undefined;
}

function decodeOr<T>(value: string | null, decode: (value: string) => T): T | undefined {
  try {
    return value === null ? undefined : decode(value);
  } catch {
    return undefined;
  }
}

/** The members of an error answer. */
export function readProblem(response: Response, body: Uint8Array): Problem {
  const json = parseObject(body);
  const retryAfterMs = readRetryAfter(response.headers.get("retry-after"));
  const retry = json.retry as { sameHeader?: unknown } | null | undefined;
  return {
    status: response.status,
    code: typeof json.code === "string" ? json.code : `http_${response.status}`,
    ...(typeof json.detail === "string" && { detail: json.detail }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    sameHeader: retry?.sameHeader === true,
    ...(Array.isArray(json.items) && { items: json.items.filter(isItemAtFault) }),
  };
}

function isItemAtFault(item: unknown): item is ItemAtFault {
  const { index, code } = (item ?? {}) as Partial<ItemAtFault>;
  return Number.isSafeInteger(index) && typeof code === "string";
}

/** RFC 9110, 10.2.3: whole seconds, or a date. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,7}$/.test(value)) return Number(value) * 1000;
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(0, until - Date.now());
}
