import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { z } from "zod";
import type { FacilitatorSettings } from "../config.ts";
import { HttpProvider } from "../providers/http.ts";
import { ProviderError } from "../providers/provider.ts";
import { ended } from "../providers/quorum.ts";

/** The facilitator could not be asked, or its answer could not be understood. Says nothing about the payment. */
export class FacilitatorError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "FacilitatorError";
  }
}

export type VerifyAnswer = { valid: true } | { valid: false; reason: string };

/** Never proof of anything: what became of a payment is told by its chain. */
export type SettleAnswer = { success: boolean; reason?: string };

/** A facilitator as one rail uses it (x402 v2, facilitator interface). */
export interface Facilitator {
  verify(payload: PaymentPayload, requirement: PaymentRequirements, signal: AbortSignal): Promise<VerifyAnswer>;
  /** Never retried here, and never hedged. */
  settle(payload: PaymentPayload, requirement: PaymentRequirements, signal: AbortSignal): Promise<SettleAnswer>;
  /** What it settles: networks of scheme `exact` in version 2, with what it adds to an offer. */
  supported(signal: AbortSignal): Promise<{ network: string; extra: Record<string, unknown> }[]>;
}

const JSON_BODY = { "content-type": "application/json" };

const VerifyResponse = z.object({
  isValid: z.boolean(),
  invalidReason: z.string().optional(),
  invalidMessage: z.string().optional(),
});
const SettleResponse = z.object({
  success: z.boolean(),
  errorReason: z.string().optional(),
  errorMessage: z.string().optional(),
});
const SupportedResponse = z.object({
  kinds: z.array(
    z.object({
      x402Version: z.number(),
      scheme: z.string(),
      network: z.string(),
      extra: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});

/** A settlement waits for the payment's chain, and may be long in coming. */
const TIMEOUT_MS = 60_000;

/**
 * Asks a facilitator over HTTP.
 *
 * Ours rather than @x402/core's client, because that one follows redirects and reads answers of any size: a payment
 * must reach the host that the operator named, and no other.
 */
export function httpFacilitator({ url, auth }: FacilitatorSettings): Facilitator {
  const provider = new HttpProvider({ url, timeoutMs: TIMEOUT_MS, ...(auth && { headers: { authorization: auth } }) });

  async function ask<S extends z.ZodType>(
    path: string,
    answer: S,
    signal: AbortSignal,
    body?: unknown,
  ): Promise<z.infer<S>> {
    try {
      const request =
        body === undefined
          ? { path }
          : { path, method: "POST" as const, headers: JSON_BODY, body: JSON.stringify(body) };
      // A refusal may come with a status of its own and is an answer all the same.
      return provider.read(await provider.request(request, signal), answer);
    } catch (error) {
      // Also when the caller's own deadline ended it: that is the facilitator's doing.
      const cause = signal.aborted ? ended(signal, "a payment") : error;
      if (cause instanceof ProviderError)
        throw new FacilitatorError(`the facilitator gave no answer: ${cause.message}`, cause);
      throw cause;
    }
  }

  const request = (paymentPayload: PaymentPayload, paymentRequirements: PaymentRequirements) => ({
    x402Version: 2,
    paymentPayload,
    paymentRequirements,
  });
  return {
    async verify(payload, requirement, signal) {
      const answer = await ask("/verify", VerifyResponse, signal, request(payload, requirement));
      if (answer.isValid) return { valid: true };
      return { valid: false, reason: answer.invalidMessage ?? answer.invalidReason ?? "refused by the facilitator" };
    },
    async settle(payload, requirement, signal) {
      const answer = await ask("/settle", SettleResponse, signal, request(payload, requirement));
      const reason = answer.errorMessage ?? answer.errorReason;
      return { success: answer.success, ...(reason !== undefined && { reason }) };
    },
    async supported(signal) {
      const { kinds } = await ask("/supported", SupportedResponse, signal);
      return kinds
        .filter(({ x402Version, scheme }) => x402Version === 2 && scheme === "exact")
        .map(({ network, extra }) => ({ network, extra: extra ?? {} }));
    },
  };
}
