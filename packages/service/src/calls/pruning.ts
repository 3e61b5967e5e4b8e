import { hash } from "node:crypto";
import { canonicalize, type JsonObject } from "@attestd/proof/json";
import type { PaymentPayload } from "@x402/core/types";
import type { Call } from "./call.ts";
import { isAtRest } from "./machine.ts";

/*
 * A call at rest keeps what a replay and an audit need: its names, what was bought and at what price, where the payment and
 * the attestation stand, receipt and bundle. Of the payload a replay needs only whether another one has the same bytes.
 */

/** What a journal does for calls at rest. */
export interface PruningJournal {
  /** How many of them have rows that are as they were written: those whose turn to be packed has not come. */
  unpacked(): Promise<number>;

  /** The calls at rest that are not pruned and began before a time (Unix ms), and the bytes that they take, packed. */
  prunable(before: number): Promise<{ calls: number; bytes: number }>;

  /**
   * Prunes calls at rest (`pruned`) that began before a time (Unix ms), the oldest first. MUST change no other call, and none
   * twice, however many replicas prune at once.
   *
   * @returns how many were at hand: `limit` when there may be more
   */
  prune(before: number, limit: number): Promise<number>;
}

/** The SHA-256 of a payment's scheme payload in canonical JSON, base64url. */
export function payloadSha256({ payload }: Pick<PaymentPayload, "payload">): string {
  return hash("sha256", canonicalize(payload as JsonObject), "base64url");
}

/** Whether two payloads bring byte for byte the same payment. @param known of a payment, or of a call that may be pruned */
export function isSame(
  known: Pick<Call, "payload" | "payloadSha256">,
  { payload }: { readonly payload: PaymentPayload },
): boolean {
  if (!known.payload) return known.payloadSha256 === payloadSha256(payload);
  return canonicalize(known.payload.payload as JsonObject) === canonicalize(payload.payload as JsonObject);
}

/**
 * A call without its payload and the bytes of its attestation transactions, which the ledger has.
 *
 * @throws Error when the call is not at rest
 */
export function pruned(call: Call): Call {
  if (!isAtRest(call)) throw new Error(`the call of ${call.key} is ${call.state} and may not be pruned`);
  const { payload, ...rest } = call;
  if (!payload) return call;
  return {
    ...rest,
    payload: undefined,
    payloadSha256: payloadSha256(payload),
    attempts: call.attempts.map((attempt) => ({ ...attempt, raw: new Uint8Array() })),
  };
}
