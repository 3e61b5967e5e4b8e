import {
  type BlockBundle,
  type Bundle,
  type InclusionBundle,
  type ProofBundle,
  signedPart,
  type Trust,
  type VerifyReport,
} from "@attestd/proof";
import { parseUsdc } from "@attestd/proof/rails";
import { withoutTrailing } from "@attestd/proof/text";
import type { SettleResponse } from "@x402/core/types";
import { type Clock, systemClock } from "./clock.ts";
import { AttestError } from "./errors.ts";
import { examine } from "./examine.ts";
import { type Call, obtainBundle, type Progress } from "./pay.ts";
import { type SignedReceipt, signedReceipt } from "./receipt.ts";
import type { ChainName, PaidRequest } from "./request.ts";
import { paymentId, type Vault } from "./vault.ts";
import type { Wallet } from "./wallet.ts";

/** Options of every purchase. */
export type PurchaseOptions<B extends Bundle = Bundle> = {
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
  /** Stores the bundle durably. If it rejects, the payment stays in the vault, and the next call gets the bundle again. */
  save?: (attestation: Attestation<B>) => Promise<void>;
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

export type AttestOptions = PurchaseOptions<ProofBundle> & {
  /** Id of a confirmed transaction: 52 characters (Algorand), or 0x and 64 hex characters (Base). */
  txid: string;
  /** Inferred from `txid` when absent. */
  chain?: ChainName;
  /** Do not buy the attestation of a transaction that failed: then the call fails with `refused`, and nothing is charged. */
  require?: "succeeded";
};

export type AttestBlockOptions = PurchaseOptions<BlockBundle> & {
  chain: ChainName;
  /** Algorand's round, Base's block number. */
  height: number;
};

export type ProveInclusionOptions = PurchaseOptions<InclusionBundle> & {
  chain: ChainName;
  /** As `txid` of `attest`. */
  txId: string;
  /** That of the transaction's block. */
  height: number;
};

export type Attestation<B extends Bundle = Bundle> = {
  bundle: B;
  /** The result of the client's own offline verification. */
  report: VerifyReport;
  /** The bundle as the service sent it: JSON in UTF-8. */
  bundleBytes: Uint8Array;
  /** The settlement that the service states; not checked. */
  receipt: SettleResponse | undefined;
  /** The signed receipt, if the bundle's key signed it for this payment. */
  signedReceipt: SignedReceipt | undefined;
};

const DEFAULT_MAX_WAIT_MS = 300_000;

/**
 * Buys one attestation, or continues the purchase that an earlier call with this vault, service and transaction began. The
 * signed payment is in the vault before it is sent, and no other is signed until the service delivers the bundle or answers
 * 402: one call never pays twice.
 * @returns the bundle and its verification; look at `report.verified`
 * @throws AttestError
 */
export async function attest(options: AttestOptions): Promise<Attestation<ProofBundle>> {
  const { txid, chain, require } = options;
  const body = { txid: normalized(txid), ...(chain && { chain }), ...(require && { require }) };
  return buy(options, { path: "/attest", body });
}

/** Buys the attestation of one block, as `attest` does that of a transaction. @throws AttestError */
export async function attestBlock(options: AttestBlockOptions): Promise<Attestation<BlockBundle>> {
  const { chain, height } = options;
  return buy(options, { path: "/attest-block", body: { chain, height } });
}

/** Buys the proof that a transaction is in a block, as `attest` does its attestation. @throws AttestError */
export async function proveInclusion(options: ProveInclusionOptions): Promise<Attestation<InclusionBundle>> {
  const { chain, txId, height } = options;
  return buy(options, { path: "/prove-tx-inclusion", body: { chain, txId: normalized(txId), height } });
}

/** @param request for a bundle of type `B`, which `examine` checks */
async function buy<B extends Bundle>(options: PurchaseOptions<B>, request: PaidRequest): Promise<Attestation<B>> {
  const call = openCall(options, request);
  try {
    const { payment, bytes, receipt } = await obtainBundle(call);
    const { bundle, report } = examine(bytes, call, options);
    const signed = signedReceipt(receipt, signedPart(bundle), payment);
    const attestation = { bundle: bundle as B, report, bundleBytes: bytes, receipt, signedReceipt: signed };
    await options.save?.(attestation).catch((cause: unknown) => {
      throw new AttestError("save_failed", "The bundle could not be saved.", { paymentId: call.id, cause });
    });
    // Best effort: a payment left in the vault would only deliver the same bundle again.
    await call.vault.remove(call.id, payment).catch(() => undefined);
    return attestation;
  } catch (error) {
    if (!call.signal.aborted) throw error;
    const stored = await call.vault.get(call.id).catch(() => undefined);
    throw new AttestError("interrupted", "Interrupted.", { ...(stored && { paymentId: call.id }), cause: error });
  }
}

/** A Base hash in lower case; any other id unchanged. */
function normalized(txid: string): string {
  return txid.startsWith("0x") ? txid.toLowerCase() : txid;
}

function openCall(options: Omit<PurchaseOptions, "save">, request: PaidRequest): Call {
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

function serviceUrl(text: string): string {
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
