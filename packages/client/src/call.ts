import type { Trust } from "@attestd/proof";
import { parseUsdc } from "@attestd/proof/rails";
import { withoutTrailing } from "@attestd/proof/text";
import { type Clock, systemClock } from "./clock.ts";
import { AttestError } from "./errors.ts";
import type { PaidRequest } from "./request.ts";
import { paymentId, type StoredPayment, type Vault } from "./vault.ts";
import type { Wallet } from "./wallet.ts";

type Offer = StoredPayment["offer"];

export type Progress =
  /** The payment in the vault is sent again, and no other is signed. */
  | { step: "resumed"; offer: Offer }
  /** The offer that will be signed. */
  | { step: "offered"; offer: Offer }
  /** The payment is dated by the service's clock, which is `aheadMs` ahead of this device's. */
  | { step: "dated"; aheadMs: number }
  /** Signed and in the vault, not yet sent. */
  | { step: "signed"; offer: Offer }
  /** No bundle yet: the same payment is sent again after `retryInMs`. `code` is absent when no answer came. */
  | { step: "waiting"; code?: string; retryInMs: number }
  /**
   * The service refused the payment with 402. It is sent again at `until` (ms since 1970, by this device's clock), when it
   * can no longer be taken; no other is signed before.
   */
  | { step: "refused"; until: number };

/** Options of every purchase, of one bundle or of a batch. */
export type CallOptions = {
  /** Base URL of the service, e.g. `https://attestd.example`. */
  service: string;
  wallet: Wallet;
  /** Upper limit of all that this call signs, in USDC, e.g. `"0.01"`. */
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
   * How long to wait for a source that the service does not know yet, or not as final, in ms. The signed payment is sent
   * again; another is signed when it can no longer be taken, within `maxPrice` for all together. Without it, only one that
   * is not final is waited for, as long as `maxWaitMs`.
   */
  maxSourceWaitMs?: number;
  signal?: AbortSignal;
  fetch?: typeof globalThis.fetch;
  clock?: Clock;
};

const DEFAULT_MAX_WAIT_MS = 300_000;

/** A Base hash in lower case; any other id unchanged. */
export function normalized(txid: string): string {
  return txid.startsWith("0x") ? txid.toLowerCase() : txid;
}

/** One purchase: its options, checked and with defaults. */
export type Call = Required<Omit<CallOptions, "maxPrice" | "maxSourceWaitMs" | "trust" | "historyAge">> & {
  request: PaidRequest;
  /** Its id in the vault. */
  id: string;
  /** micro-USDC of all that is signed. */
  maxPrice: bigint;
  /** As `signed` of AttestError. */
  signed?: bigint;
  /** When to stop asking, in the clock's ms: `maxWaitMs` after the beginning, or after the source was last too new. */
  deadline: number;
  /** When to stop waiting for a source that is too new; absent where that is not wanted. */
  sourceDeadline?: number;
};

export function openCall(options: CallOptions, request: PaidRequest): Call {
  const service = serviceUrl(options.service);
  const { wallet, vault, maxWaitMs = DEFAULT_MAX_WAIT_MS, maxSourceWaitMs, clock = systemClock } = options;
  const now = clock.now();
  return {
    service,
    request,
    id: paymentId(service, request),
    wallet,
    maxPrice: readPrice(options.maxPrice),
    vault,
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
