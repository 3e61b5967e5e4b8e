import { fromUtf8 } from "@attestd/proof/encoding";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { z } from "zod";
import type { FacilitatorSettings } from "../config/facilitators.ts";
import { hasCode, type RequestOutcome, ServiceError } from "../lib/errors.ts";
import type { HttpAnswer } from "../providers/exchange.ts";
import { HttpProvider } from "../providers/http.ts";
import { isProviderError, type ProviderError } from "../providers/provider.ts";
import { ended } from "../providers/quorum.ts";
import { facilitatorAuth, withoutCredential } from "./facilitator-auth.ts";

export type FacilitatorError = ServiceError<"facilitator_failed">;

/** @param ending how the request ended */
export function facilitatorFailed(
  message: string,
  ending: FacilitatorError["details"]["ending"] = "unreachable",
  { cause, retryAfterMs }: { cause?: unknown; retryAfterMs?: number | undefined } = {},
): FacilitatorError {
  return new ServiceError("facilitator_failed", message, { details: { ending, retryAfterMs }, cause });
}

export type VerifyAnswer = { valid: true } | { valid: false; reason: string };

/** A hint, never proof: only the payment's chain shows whether it was made. */
export type SettleAnswer = {
  success: boolean;
  reason?: string | undefined;
  /** It sent the payment to its chain, and does not know the result yet. */
  isPending?: boolean;
  /** How long it asked us to wait before asking again, in ms. */
  retryAfterMs?: number | undefined;
  /** The transaction that it claims to have sent: of any form, and unchecked. */
  transaction?: string | undefined;
};

/** Reasons of a pending settlement: sent and not confirmed (CDP, PayAI), or requested before (PayAI). */
const PENDING_REASONS: readonly unknown[] = ["settlement_pending", "duplicate_settlement"];

/** Ends the wait for a settlement's answer: the chain shows what happened to the payment. */
export class DecidedByChain extends Error {
  constructor() {
    super("the chain shows what became of the payment");
  }
}

/** A facilitator as one rail uses it (x402 v2, facilitator interface). Payments come from `forwardedPayment`. */
export interface Facilitator {
  /** @throws facilitator_failed; the signal's reason when the signal was aborted, except by a time-out */
  verify(payment: PaymentPayload, requirement: PaymentRequirements, signal: AbortSignal): Promise<VerifyAnswer>;
  /** Sends one request, never repeated or duplicated here. @throws as `verify` does */
  settle(payment: PaymentPayload, requirement: PaymentRequirements, signal: AbortSignal): Promise<SettleAnswer>;
  /** Lists what it settles. @throws as `verify` does */
  supported(signal: AbortSignal): Promise<SupportedKind[]>;
}

const JSON_BODY = { "content-type": "application/json" };

/** Like @x402/core: some facilitators write `null` where others omit a member. */
const text = z.string().nullish();
const VerifyResponse = z.object({ isValid: z.boolean(), invalidReason: text, invalidMessage: text });
const SettleResponse = z.object({
  success: z.boolean(),
  errorReason: text,
  errorMessage: text,
  // Another form of it must not make the answer unreadable.
  transaction: z.unknown().optional(),
});
/** A network on which a facilitator settles scheme `exact` of version 2, and its additions to an offer. */
const SupportedKind = z
  .object({
    x402Version: z.literal(2),
    scheme: z.literal("exact"),
    network: z.string(),
    extra: z.record(z.string(), z.unknown()).nullish(),
  })
  .transform(({ network, extra }) => ({ network, extra: extra ?? {} }));
export type SupportedKind = z.infer<typeof SupportedKind>;
/** Kinds are read one by one, because an unreadable kind of another network must not matter. */
const SupportedResponse = z.object({ kinds: z.array(z.unknown()) });

const VERIFY_MS = 60_000;
/** The time-out of settling, in ms. Facilitators wait for the payment's chain: some answer after 100 s. */
export const SETTLE_MS = 120_000;
const SUPPORTED_MS = 15_000;
/** The limit of an answer, in bytes. An answer has a few hundred; a list of kinds some ten thousand. */
const MAX_BYTES = 1024 * 1024;
/** How much of a facilitator's own text is logged and passed on, in characters. */
const MAX_CHARACTERS = 300;

/**
 * Makes a client that asks a facilitator over HTTP. Each operation has its own connections, so that none waits for
 * another. `watchFacilitator` adds the circuit breakers.
 *
 * @x402/core's client is not used because it follows redirects and reads answers of any size: a payment must reach no
 *   host but the one that the operator named.
 * @param now Unix ms
 */
export function httpFacilitator(settings: FacilitatorSettings, now = Date.now): Facilitator {
  const { url } = settings;
  const { host } = new URL(url);
  const credential = facilitatorAuth(settings, now);
  const askVerify = operation("/verify", VerifyResponse, VERIFY_MS);
  const askSettle = operation("/settle", SettleResponse, SETTLE_MS);
  const askSupported = operation("/supported", SupportedResponse, SUPPORTED_MS);

  return {
    async verify(paymentPayload, paymentRequirements, signal) {
      const { answer, isOk, reason } = await askVerify(signal, { x402Version: 2, paymentPayload, paymentRequirements });
      const { isValid, invalidMessage, invalidReason } = answer;
      if (isValid && !isOk)
        throw facilitatorFailed(`${host} answers that a payment is valid, with a failure status`, "unreadable");
      if (isValid) return { valid: true };
      return { valid: false, reason: reason(invalidMessage, invalidReason) ?? "refused by the facilitator" };
    },
    async settle(paymentPayload, paymentRequirements, signal) {
      const asked = await askSettle(signal, { x402Version: 2, paymentPayload, paymentRequirements });
      const { success, errorMessage, errorReason, transaction } = asked.answer;
      return {
        success: success && asked.isOk,
        reason: asked.reason(errorMessage, errorReason),
        ...(isPending(asked.answer) && { isPending: true }),
        retryAfterMs: asked.retryAfterMs,
        transaction: isTransactionId(transaction) ? transaction : undefined,
      };
    },
    async supported(signal) {
      const { answer, isOk } = await askSupported(signal);
      if (!isOk) throw facilitatorFailed(`${host} lists what it settles, with a failure status`, "unreadable");
      return answer.kinds.flatMap((kind) => SupportedKind.safeParse(kind).data ?? []);
    },
  };

  /**
   * Makes a function that requests a complete answer, with its status and the part of the other side's text that may be
   * logged.
   */
  function operation<S extends z.ZodType>(path: string, schema: S, timeoutMs: number) {
    const provider = new HttpProvider({ url, timeoutMs, breaker: undefined });
    return async (signal: AbortSignal, body?: object) => {
      const authorization = credential(body ? "POST" : "GET", path);
      const headers = { ...(body && JSON_BODY), ...(authorization !== undefined && { authorization }) };
      const post = body && { method: "POST" as const, body: JSON.stringify(body) };
      try {
        // A refusal may have any status, and is still an answer (as in @x402/core).
        const given = await provider.request({ path, headers, maxBytes: MAX_BYTES, anyStatus: true, ...post }, signal);
        const read = readJson(given, schema);
        const isOk = given.status >= 200 && given.status <= 299;
        const reason = (...texts: (string | null | undefined)[]) => brief(texts.find(Boolean), authorization);
        const retryAfterMs = retryAfter(given, now());
        if (read?.success && !(isAboutUs(given.status) && !isPending(read.data)))
          return { isOk, answer: read.data, reason, retryAfterMs };
        if (!isOk)
          throw facilitatorFailed(`${host} ${refusal(given, authorization, now())}`, given.status, { retryAfterMs });
        const message = `${host} answered ${path} with data that cannot be read`;
        throw facilitatorFailed(message, "unreadable", { cause: read?.error });
      } catch (error) {
        // A caller's deadline counts as the facilitator's failure.
        const cause = signal.aborted ? ended(signal, "a payment") : error;
        if (isProviderError(cause))
          throw facilitatorFailed(`the facilitator gave no answer: ${cause.message}`, howItEnded(cause), { cause });
        throw cause;
      }
    };
  }
}

/**
 * Whether a status is about the facilitator or us, not about a payment: credentials, a used-up account, too many
 * requests, a defect. PayAI's such answers look like verdicts, and @x402/core believes them: a payer would be asked for
 * another payment, and the operator would not learn of it.
 */
function isAboutUs(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status >= 500;
}

function isPending(answer: unknown): boolean {
  const { data } = SettleResponse.safeParse(answer);
  return data?.success === false && PENDING_REASONS.includes(data.errorReason);
}

/** Returns how a request without an answer ended: `late` when the caller's deadline or our own ended it. */
function howItEnded({ cause }: ProviderError): RequestOutcome {
  return hasCode(cause, "upstream_unanswered") ? cause.details.ending : "late";
}

/** Whether a facilitator's `transaction` may be an id on any rail: many write an empty text for none. */
function isTransactionId(transaction: unknown): transaction is string {
  return typeof transaction === "string" && /^\w{1,100}$/.test(transaction);
}

/** @returns undefined when the answer is not JSON. No integers are read, so rounding does no harm */
function readJson<S extends z.ZodType>({ body }: HttpAnswer, schema: S): z.ZodSafeParseResult<z.infer<S>> | undefined {
  try {
    return schema.safeParse(JSON.parse(fromUtf8(body)));
  } catch {
    return undefined;
  }
}

/** The limit of a facilitator's Retry-After, in ms: a longer wait is treated as an outage, and it is asked again. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Reads Retry-After (RFC 9110, section 10.2.3): seconds or a date. @param now Unix ms */
function retryAfter({ retryAfter: text = "", date }: HttpAnswer, now: number): number | undefined {
  const base = Date.parse(date ?? "") || now;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - base;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/** The difference between two clocks that is worth a note, in seconds. A token is dated back by more. */
const MIN_SKEW = 20;

/** Describes an answer without a verdict, for the operator's log. @param now Unix ms */
function refusal({ status, body, date }: HttpAnswer, credential: string | undefined, now: number): string {
  // JSON may write a slash as \/.
  const text = Buffer.from(body.subarray(0, 4 * MAX_CHARACTERS)).toString();
  const reason = brief(text.replaceAll("\\/", "/"), credential);
  const skew = Math.round((Date.parse(date ?? "") - now) / 1000);
  const order = skew > 0 ? "ahead of" : "behind";
  const clocks = Math.abs(skew) >= MIN_SKEW ? ` (its clock is ${Math.abs(skew)} s ${order} ours)` : "";
  return `answered HTTP ${status}${clocks}${reason ? `: ${reason}` : ""}`;
}

/** Shortens a facilitator's text for logs and callers: one line of printable characters, without our secret. */
function brief(text: string | null | undefined, credential: string | undefined): string | undefined {
  const line =
    text &&
    withoutCredential(text, credential)
      .replace(/[\p{C}\s]+/gu, " ")
      .trim();
  if (!line) return undefined;
  return line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS - 1)}…`;
}
