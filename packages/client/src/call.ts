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
  /** The payment in the vault is sent again; no other is signed. */
  | { step: "resumed"; offer: Offer }
  /** The offer that will be signed. */
  | { step: "offered"; offer: Offer }
  /** The payment gets its date from the service's clock, which is `aheadMs` ahead of this device's. */
  | { step: "dated"; aheadMs: number }
  /** Signed and in the vault, not yet sent. */
  | { step: "signed"; offer: Offer }
  /** No bundle yet: the same payment is sent again after `retryInMs`. Without a `code`, no answer came. */
  | { step: "waiting"; code?: string; retryInMs: number }
  /**
   * The service refused the payment with 402. It is sent again at `until` (ms since 1970, by this device's clock), when
   * it can no longer be taken. No other is signed before.
   */
  | { step: "refused"; until: number };

/** Options of every purchase, single or batch. */
export type CallOptions = {
  /** Base URL of the service, e.g. `https://attestd.example`. */
  service: string;
  wallet: Wallet;
  /** Limit of everything that this call signs, in USDC, e.g. `"0.01"`. */
  maxPrice: string;
  /** The keys to verify with; by default the report's signer is `unknown`. */
  trust?: Trust;
  /** Seconds since `trust`, a key history, was fetched. */
  historyAge?: number;
  /** Keeps the signed payment until its bundle is saved. */
  vault: Vault;
  onProgress?: (progress: Progress) => void;
  /** How long to ask for the bundle of a sent payment, in ms; default 5 minutes. */
  maxWaitMs?: number;
  /**
   * How long to wait for a source that the service does not know yet or does not see as final, in ms. The signed
   * payment is sent again; once it can no longer be taken, another is signed, within `maxPrice` for all together. By
   * default the client waits only for finality, as long as `maxWaitMs`.
   */
  maxSourceWaitMs?: number;
  signal?: AbortSignal;
  fetch?: typeof globalThis.fetch;
  clock?: Clock;
};

const DEFAULT_MAX_WAIT_MS = 300_000;

/** Returns a Base hash in lower case, and any other id unchanged. */
export function normalized(txid: string): string {
  return txid.startsWith("0x") ? txid.toLowerCase() : txid;
}

/** One purchase: its options, checked and with defaults. */
export type Call = Required<Omit<CallOptions, "maxPrice" | "maxSourceWaitMs" | "trust" | "historyAge">> & {
  request: PaidRequest;
  /** The purchase's id in the vault. */
  id: string;
  /** Limit of everything that is signed, in micro-USDC. */
  maxPrice: bigint;
  /** Like `signed` of AttestError. */
  signed?: bigint;
  /** When to stop asking, in the clock's ms: `maxWaitMs` after the start, or after the source was last too new. */
  deadline: number;
  /** When to stop waiting for a source that is too new; absent without such a wait. */
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
