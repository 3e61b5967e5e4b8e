import type { Trust } from "@attestd/proof";
import { parseUsdc } from "@attestd/proof/rails";
import { withoutTrailing } from "@attestd/proof/text";
import { type Clock, systemClock } from "./clock.ts";
import { AttestError } from "./errors.ts";
import { type Call, type Delivered, obtainBundle, type Progress } from "./pay.ts";
import type { PaidRequest } from "./request.ts";
import { paymentId, type Vault } from "./vault.ts";
import type { Wallet } from "./wallet.ts";

/** Options of every purchase, of one bundle or of a batch. */
export type CallOptions = {
  /** Base URL of the service, e.g. `https://attestd.example`. */
  service: string;
  wallet: Wallet;
  /** Upper limit of the price, in USDC, e.g. `"0.01"`. */
  maxPrice: string;
  /** The keys to verify with; without it the report's signer is `unknown`. */
  trust?: Trust;
  /** Seconds since `trust`, a key history, was fetched. */
  historyAge?: number;
  /** Keeps the signed payment until its bundle is saved. */
  vault: Vault;
  onProgress?: (progress: Progress) => void;
  /** How long to ask for the bundle of a sent payment, in ms; 5 minutes unless given. */
  maxWaitMs?: number;
  /**
   * How long to wait for a source that the service does not know yet, or not as final, in ms. Nothing is paid before: a
   * signed payment is sent again, and signed anew when it expires. Without it, only one that is not final is waited for, as
   * long as `maxWaitMs`.
   */
  maxSourceWaitMs?: number;
  signal?: AbortSignal;
  fetch?: typeof globalThis.fetch;
  clock?: Clock;
};

const DEFAULT_MAX_WAIT_MS = 300_000;

/**
 * Carries a call from its payment to the end: obtains the answer, reads it, saves what was bought, and removes the payment.
 *
 * @param read makes what the caller gets of the answer
 * @throws AttestError
 */
export async function settle<A>(
  call: Call,
  save: ((attestation: A) => Promise<void>) | undefined,
  read: (delivered: Delivered) => A,
): Promise<A> {
  try {
    const delivered = await obtainBundle(call);
    const attestation = read(delivered);
    await save?.(attestation).catch((cause: unknown) => {
      throw new AttestError("save_failed", "The bundle could not be saved.", { paymentId: call.id, cause });
    });
    // Best effort: a payment left in the vault would only deliver the same bundle again.
    await call.vault.remove(call.id, delivered.payment).catch(() => undefined);
    return attestation;
  } catch (error) {
    if (!call.signal.aborted) throw error;
    const stored = await call.vault.get(call.id).catch(() => undefined);
    throw new AttestError("interrupted", "Interrupted.", { ...(stored && { paymentId: call.id }), cause: error });
  }
}

/** A Base hash in lower case; any other id unchanged. */
export function normalized(txid: string): string {
  return txid.startsWith("0x") ? txid.toLowerCase() : txid;
}

export function openCall(options: CallOptions, request: PaidRequest): Call {
  const service = serviceUrl(options.service);
  const clock = options.clock ?? systemClock;
  const { maxWaitMs = DEFAULT_MAX_WAIT_MS, maxSourceWaitMs } = options;
  const now = clock.now();
  return {
    service,
    request,
    id: paymentId(service, request),
    wallet: options.wallet,
    maxPrice: readPrice(options.maxPrice),
    vault: options.vault,
    onProgress: options.onProgress ?? (() => undefined),
    maxWaitMs,
    deadline: now + maxWaitMs,
    ...(maxSourceWaitMs !== undefined && { sourceDeadline: now + maxSourceWaitMs }),
    signal: options.signal ?? new AbortController().signal,
    fetch: options.fetch ?? globalThis.fetch,
    clock,
  };
}

/** @throws AttestError `invalid_option` */
export function serviceUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !["http:", "https:"].includes(url.protocol) || url.search || url.hash || url.username) {
    throw new AttestError("invalid_option", `${JSON.stringify(text)} is not the http(s) URL of a service.`);
  }
  return withoutTrailing(url.href, "/");
}

function readPrice(text: string): bigint {
  try {
    return parseUsdc(text);
  } catch (cause) {
    throw new AttestError("invalid_option", `maxPrice: ${(cause as Error).message}`, { cause });
  }
}
