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
import { RAILS } from "@attestd/proof/rails";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { paymentPayload } from "../../src/authorization.ts";
import type { Storage } from "../storage.ts";
import type { PayingWallet, RailName } from "./paying-wallet.ts";

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

/** What the service asks for an attestation, on each rail on which it can be paid. At least one. */
export type Quote = { txid: string; required: PaymentRequired; offers: ReadonlyMap<RailName, PaymentRequirements> };

/** A bundle that was bought here; `receipt`: the signed receipt of its payment, a compact JWS. */
export type SavedBundle = {
  id: string;
  txid: string;
  round: number;
  bytes: Uint8Array;
  savedAt: number;
  receipt?: string;
};

/** Asks the price. @throws AttestError `no_usable_offer`, `price_too_high`, `refused`, `unreachable` */
export async function askPrice(txid: string): Promise<Quote> {
  const answer = await postRequest(fetch, location.origin, requestFor(txid), {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (answer.kind === "bundle") throw new AttestError("unexpected_answer", "The service answered before any payment.");
  if (answer.kind === "problem") throw new AttestError("refused", answer.problem.detail ?? answer.problem.code);
  const required = answer.paymentRequired;
  return { txid, required, offers: offersOf(required) };
}

/** @throws AttestError `no_usable_offer`, `price_too_high` */
function offersOf({ accepts }: PaymentRequired): Quote["offers"] {
  const maxPrice = parseUsdc(MAX_PRICE);
  const offers = new Map<RailName, PaymentRequirements>();
  for (const { name, network } of Object.values(RAILS)) {
    try {
      offers.set(name, chooseOffer(accepts, payerOn(network, ""), maxPrice));
    } catch (error) {
      if (!(error instanceof AttestError)) throw error;
    }
  }
  // Throws with the reason for each offer.
  if (offers.size === 0) chooseOffer(accepts, payerOn(undefined, ""), maxPrice);
  return offers;
}

/**
 * Asks the wallet to sign the payment, and stores it with its request before anything is sent.
 * @param isWanted whether the reader still wants to pay after the wallet has signed
 * @returns the stored payment: this one, or one that another tab stored first, and whether the wallet signed another
 * transaction than it was given; undefined when it is no longer wanted, and neither stored nor sent
 * @throws WalletRefusal
 */
export async function signAndKeep(
  {
    quote,
    offer,
    wallet,
    account,
  }: { quote: Quote; offer: PaymentRequirements; wallet: PayingWallet; account: string },
  storage: Storage,
  nowMs: number,
  isWanted: () => boolean,
): Promise<{ kept: StoredPayment; isAltered: boolean } | undefined> {
  const { required, txid } = quote;
  const { payload, isAltered } = await wallet.sign(offer, account, nowMs);
  if (!isWanted()) return undefined;
  const { network, amount, payTo, maxTimeoutSeconds } = offer;
  const request = requestFor(txid);
  const kept = await browserVault(storage).put(paymentId(location.origin, request), {
    version: 1,
    service: location.origin,
    request,
    header: encodePaymentSignatureHeader(paymentPayload(required, offer, payload)),
    offer: { network, amount, payTo, payer: account, maxTimeoutSeconds },
  });
  return { kept, isAltered };
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
      ...(requiresSuccess(payment) && { require: "succeeded" }),
      wallet: payerOn(payment.offer.network, payment.offer.payer),
      maxPrice: MAX_PRICE,
      vault: browserVault(storage),
      maxWaitMs: DAY_MS,
      onProgress,
      ...(trust && { trust }),
      save: async ({ bundle, bundleBytes, signedReceipt }) => {
        const id = bundleId(bundle);
        saved = {
          id,
          txid: txidOf(payment),
          round: bundle.attest.round,
          bytes: bundleBytes,
          savedAt: Date.now(),
          ...(signedReceipt && { receipt: signedReceipt.jws }),
        };
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

/** A reader who pastes an id expects that the transaction succeeded: one that failed is bought after a question only. */
function requestFor(txid: string) {
  return { path: "/attest" as const, body: { txid, require: "succeeded" as const } };
}

/**
 * Lets a stored payment buy the attestation of a transaction that failed, also after a reload.
 * @returns undefined when the payment is no longer stored
 */
export function acceptFailure(payment: StoredPayment, storage: Storage): Promise<StoredPayment | undefined> {
  const request = { path: "/attest" as const, body: { txid: txidOf(payment) } };
  return storage.update<StoredPayment>("payments", paymentId(location.origin, payment.request), (stored) =>
    stored?.header === payment.header ? { ...stored, request } : stored,
  );
}

function requiresSuccess({ request }: StoredPayment): boolean {
  return request.path === "/attest" && request.body.require === "succeeded";
}

/**
 * A payer on one network, or on any, that never signs: the only signature is made in the review, when the reader presses
 * the button.
 */
function payerOn(only: string | undefined, payer: string): Wallet {
  return {
    payer: (network) => (only === undefined || network === only ? payer : undefined),
    sign: async ({ error }) => {
      throw new AttestError("not_paid", error ?? "the service refused the payment");
    },
  };
}
