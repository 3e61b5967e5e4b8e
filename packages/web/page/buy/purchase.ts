import {
  type Attestation,
  AttestError,
  attest,
  chooseOffer,
  type Progress,
  parseUsdc,
  paymentId,
  postRequest,
  type StoredPayment,
  type Vault,
  type Wallet,
} from "@attestd/client";
import { bundleId, type Trust } from "@attestd/proof";
import { BASE_MAINNET } from "@attestd/proof/base";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { authorizationFor, paymentPayload, typedData } from "../../src/authorization.ts";
import type { Storage } from "../storage.ts";
import { type Provider, sign } from "./wallet.ts";

/** Ten times the price: the page does not offer to pay more. */
const MAX_PRICE = "0.01";
const TIMEOUT_MS = 30_000;
const DAY_MS = 86_400_000;

// The client iterates over the chunks of an answer, which some browsers do not support yet (Streams standard, 4.2.5).
if (!(Symbol.asyncIterator in ReadableStream.prototype)) {
  Object.assign(ReadableStream.prototype, {
    async *[Symbol.asyncIterator](this: ReadableStream) {
      const reader = this.getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    },
  });
}

/** What the service asks for an attestation, on Base. */
export type Quote = { txid: string; required: PaymentRequired; offer: PaymentRequirements };

/** A bundle that was bought here. */
export type SavedBundle = { id: string; txid: string; round: number; bytes: Uint8Array; savedAt: number };

/** Asks the price. @throws AttestError `no_usable_offer`, `price_too_high`, `refused`, `unreachable` */
export async function askPrice(txid: string): Promise<Quote> {
  const answer = await postRequest(fetch, location.origin, requestFor(txid), {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (answer.kind === "bundle") throw new AttestError("unexpected_answer", "The service answered before any payment.");
  if (answer.kind === "problem") throw new AttestError("refused", answer.problem.detail ?? answer.problem.code);
  const required = answer.paymentRequired;
  return { txid, required, offer: chooseOffer(required.accepts, baseOnly(""), parseUsdc(MAX_PRICE)) };
}

/**
 * Asks the wallet to sign the payment, and stores it with its request before anything is sent.
 * @param isWanted whether the reader still wants to pay after the wallet has signed
 * @returns the stored payment: this one, or one that another tab stored first; undefined when it is no longer wanted,
 * and neither stored nor sent
 * @throws WalletRefusal
 */
export async function signAndKeep(
  quote: Quote,
  account: string,
  provider: Provider,
  storage: Storage,
  nowMs: number,
  isWanted: () => boolean,
): Promise<StoredPayment | undefined> {
  const { offer, required, txid } = quote;
  const authorization = authorizationFor(offer, account, nowMs, crypto.getRandomValues(new Uint8Array(32)));
  const signature = await sign(provider, account, typedData(offer, authorization));
  if (!isWanted()) return undefined;
  const { network, amount, payTo, maxTimeoutSeconds } = offer;
  const request = requestFor(txid);
  return browserVault(storage).put(paymentId(location.origin, request), {
    version: 1,
    service: location.origin,
    request,
    header: encodePaymentSignatureHeader(paymentPayload(required, offer, authorization, signature)),
    offer: { network, amount, payTo, payer: account, maxTimeoutSeconds },
  });
}

/**
 * Sends a stored payment until its bundle is delivered and saved; only then is the payment removed. Never signs.
 * @throws AttestError `not_paid` when the payment is void; any other when it is still kept or was not charged
 */
export async function finish(
  payment: StoredPayment,
  storage: Storage,
  trust: Trust | undefined,
  onProgress: (progress: Progress) => void,
): Promise<Attestation & { saved: SavedBundle }> {
  let saved: SavedBundle | undefined;
  try {
    const attestation = await attest({
      service: payment.service,
      txid: txidOf(payment),
      wallet: baseOnly(payment.offer.payer),
      maxPrice: MAX_PRICE,
      vault: browserVault(storage),
      maxWaitMs: DAY_MS,
      onProgress,
      ...(trust && { trust }),
      save: async ({ bundle, bundleBytes }) => {
        const id = bundleId(bundle);
        saved = { id, txid: txidOf(payment), round: bundle.attest.round, bytes: bundleBytes, savedAt: Date.now() };
        await storage.update("bundles", id, () => saved);
      },
    });
    return { ...attestation, saved: saved as SavedBundle };
  } catch (error) {
    if (error instanceof AttestError && error.cause instanceof AttestError) throw error.cause;
    throw error;
  }
}

/** A vault in IndexedDB: it survives a reload, and all tabs share it. */
function browserVault(storage: Storage): Vault {
  return {
    get: (id) => storage.get("payments", id),
    put: async (id, payment) =>
      (await storage.update<StoredPayment>("payments", id, (stored) => stored ?? payment)) ?? payment,
    remove: async (id, payment) => {
      await storage.update<StoredPayment>("payments", id, (stored) =>
        stored?.header === payment.header ? undefined : stored,
      );
    },
  };
}

export function txidOf({ request }: StoredPayment): string {
  return request.path === "/attest" ? request.body.txid : "";
}

function requestFor(txid: string) {
  return { path: "/attest" as const, body: { txid } };
}

/** A payer on Base that never signs: the only signature is made in the review, when the reader presses the button. */
function baseOnly(payer: string): Wallet {
  return {
    payer: (network) => (network === BASE_MAINNET ? payer : undefined),
    sign: async ({ error }) => {
      throw new AttestError("not_paid", error ?? "the service refused the payment");
    },
  };
}
