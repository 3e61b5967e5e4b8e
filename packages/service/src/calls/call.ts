import { hash } from "node:crypto";
import { canonicalize, type JsonObject } from "@attestd/proof/json";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { SealedBundle } from "../attestor/attestor.ts";
import type { Attempt } from "../ledger/ledger.ts";
import { ServiceError } from "../lib/errors.ts";
import type { RailName } from "../payment/rails/rail.ts";
import type { Evidence } from "../subjects/product.ts";
import type { Subject } from "../subjects/subject.ts";

/**
 * The state of a paid call. Whatever leaves the process is committed before it leaves; `paid` and `confirmed`, which their
 * chains show, are committed together with what follows, and alone only where that fails or takes long:
 *
 * - `settling`: a settlement may have left the process; from here on another payment is never asked for
 * - `paid`: the payment was seen on its chain
 * - `signed`: the attestation transaction's bytes are fixed
 * - `confirmed`: it is on the ledger
 * - `done`: the bundle is fixed; every replay gives these bytes
 * - `owed`: paid, and cannot be attested now; tried again for ever
 * - `void`: provably unpaid, for ever; a new payment may be asked for
 * - `refunded`: the operator paid it back
 * - `loss`: the payment vanished for ever after the bundle was delivered
 */
export type CallState = "settling" | "paid" | "signed" | "confirmed" | "done" | "owed" | "void" | "refunded" | "loss";

/** Fixed when the call is first committed. */
export type CallRequest = {
  /** The payment key (docs/format.md, P): the identity of the call on every route and transport. */
  readonly key: string;
  /** Further keys that this payment alone may use, such as its Algorand group id. */
  readonly aliases: readonly string[];
  readonly rail: RailName;
  readonly payer: string;
  readonly subject: Subject;
  /** `requestHash(subject)`. */
  readonly subjectHash: string;
  readonly payload: PaymentPayload;
  /** Our own requirement, which the facilitator verifies and settles by. */
  readonly requirement: PaymentRequirements;
  readonly evidence: Evidence;
  /**
   * The facilitator (`facilitatorId`) that is asked to settle: the one that verified the payment, later the one that was asked
   * last. Absent where the payment was adopted.
   */
  readonly facilitator?: string;
  /** Unix ms. */
  readonly createdAt: number;
};

/** The payment on its chain. */
export type PaymentProof = {
  /** Transaction id on the payment's chain. */
  transaction: string;
  /** Round, block number or slot. */
  height: number;
  /** Whether no reorganisation can undo it any more. */
  final: boolean;
};

/** An attestation transaction of a call, and whether it is proved that it can never be confirmed. */
export type CallAttempt = Attempt & { dead: boolean };

/** In place of evidence that stands apart (apart.ts; `Journal.evidenceOf`). */
export const APART = "apart";

/** A delivered bundle as a row has it. */
export type KeptBundle = {
  readonly id: string;
  /** The JSON as it is delivered; of a batch that of its head; absent where it stands apart. */
  readonly body?: string;
  /** Where the answer has parts: their number, and the bytes of all of it. */
  readonly apart?: { readonly parts: number; readonly bytes: number };
} & Pick<SealedBundle, "items" | "sources">;

export type Call = Omit<CallRequest, "evidence" | "payload"> & {
  /** Undefined when the call is final: it is never needed again. `APART` where it is too large for the row. */
  readonly evidence: Evidence | typeof APART | undefined;
  /** Undefined when the call is pruned (pruning.ts). */
  readonly payload: PaymentPayload | undefined;
  /** By which a payment is known that comes again byte for byte. */
  readonly payloadSha256: string;
  state: CallState;
  /** Counts the commits; an update names the version it follows. */
  version: number;
  /** How often a settlement was begun. */
  settlements: number;
  proof?: PaymentProof;
  /**
   * Every attestation transaction ever signed for this call, oldest first. At most the last one is alive. From the delivery on
   * without their bytes, which the ledger has.
   */
  attempts: readonly CallAttempt[];
  /** Round of the confirmed attempt. */
  round?: number;
  /**
   * Of `refunded`: the name of the transfer that paid it back. A name like `key` and `aliases`, so that a transfer closes
   * one call.
   */
  refund?: string;
  /** Why it is `void`, `owed`, `refunded` or `loss`. */
  reason?: string;
  /**
   * The value of PAYMENT-RESPONSE, of a payment that was proved or a settlement that failed. From `done` on it is signed
   * and never changes.
   */
  receipt?: string;
  /** Of `done`: the bundle, byte for byte as it is delivered now and on every replay. */
  bundle?: KeptBundle;
};

/** What is known of a call without what may be large. */
export type CallHead = Pick<Call, "key" | "state" | "version" | "createdAt" | "subjectHash" | "payloadSha256">;

/** Whether all of a call is at hand. */
export function isWhole(known: Call | CallHead): known is Call {
  return "subject" in known;
}

/** The SHA-256 of a payment's scheme payload in canonical JSON, base64url. */
export function payloadSha256({ payload }: Pick<PaymentPayload, "payload">): string {
  return hash("sha256", canonicalize(payload as JsonObject), "base64url");
}

/** The evidence of a call that has it in its row. @throws call_held_up for one that is final, or has it apart */
export function evidenceOf({ key, state, evidence }: Call): Evidence {
  if (!evidence || evidence === APART)
    throw new ServiceError("call_held_up", `the row of ${key}, which is ${state}, has no evidence`);
  return evidence;
}

/** The payload of a call. @throws Error for a call that is pruned */
export function payloadOf({ key, payload }: Call): PaymentPayload {
  if (!payload) throw new Error(`the call of ${key} is pruned and has no payload`);
  return payload;
}

/** The attestation transaction that may still be confirmed. */
export function liveAttempt({ attempts }: Pick<Call, "attempts">): Attempt | undefined {
  const last = attempts.at(-1);
  return last && !last.dead ? last : undefined;
}
