import {
  AttestError,
  attest,
  attestBatch,
  chooseOffer,
  forgetPayment,
  formatUsdc,
  type PaidRequest,
  type Progress,
  paymentDate,
  paymentId,
  paymentPayload,
  postRequest,
  requestFor,
  type StoredPayment,
  takenUntil,
  type Vault,
  type Wallet,
} from "@attestd/client";
import { type BatchHead, type Bundle, batchOf, bundleId, signedPart, type Trust } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import { RAILS } from "@attestd/proof/rails";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import type { Storage } from "../storage.ts";
import type { PayingWallet, RailName } from "./paying-wallet.ts";

/** Ten times the usual price: the page does not offer to pay more. micro-USDC. */
const MAX_PRICE = 10_000n;
/** The same of each transaction of a batch. */
const MAX_ITEM_PRICE = 1_000n;
const TIMEOUT_MS = 30_000;
const DAY_MS = 86_400_000;

/** What the service asks for an attestation, or a batch of them, on each rail on which it can be paid. At least one. */
export type Quote = {
  txids: readonly string[];
  required: PaymentRequired;
  offers: ReadonlyMap<RailName, PaymentRequirements>;
  /** How far the service's clock is ahead of this device's, in ms; 0 where they agree. */
  aheadMs: number;
};

/**
 * A bundle, or the answer of a batch, that was bought here; `receipt`: the signed receipt of its payment, a compact JWS.
 * `id`: the bundle's, or that of the batch's head.
 */
export type SavedBundle = {
  id: string;
  txids: readonly string[];
  round: number;
  bytes: Uint8Array;
  savedAt: number;
  receipt?: string;
};

/** What was bought here; nothing where it cannot be read. */
export async function savedBundles(storage: Storage | undefined): Promise<SavedBundle[]> {
  return (await storage?.all<SavedBundle>("bundles").catch(() => [])) ?? [];
}

/** Asks the price. @throws AttestError `no_usable_offer`, `price_too_high`, `refused`, `unreachable` */
export async function askPrice(txids: readonly string[]): Promise<Quote> {
  const answer = await postRequest(fetch, location.origin, wantedOf(txids), {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (answer.kind === "bundle") throw new AttestError("unexpected_answer", "The service answered before any payment.");
  if (answer.kind === "problem") throw new AttestError("refused", answer.problem.detail ?? answer.problem.code);
  const { paymentRequired: required, aheadMs } = answer;
  return { txids, required, offers: offersOf(required, maxPriceOf(txids)), aheadMs };
}

function maxPriceOf(txids: readonly string[]): bigint {
  return MAX_PRICE + (txids.length > 1 ? MAX_ITEM_PRICE * BigInt(txids.length) : 0n);
}

/** @throws AttestError `no_usable_offer`, `price_too_high` */
function offersOf({ accepts }: PaymentRequired, maxPrice: bigint): Quote["offers"] {
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
 * @throws WalletRefusal, or AttestError `signing_failed` where no date can be chosen
 */
export async function signAndKeep(
  reviewed: { quote: Quote; offer: PaymentRequirements; wallet: PayingWallet; account: string },
  storage: Storage,
  dateMs: number,
  isWanted: () => boolean,
): Promise<{ kept: StoredPayment; isAltered: boolean } | undefined> {
  const { quote, offer, wallet, account } = reviewed;
  const { required, txids, aheadMs } = quote;
  const { network, amount, payTo, maxTimeoutSeconds } = offer;
  const { payload, isAltered } = await wallet.sign(offer, account, dateMs);
  const until = takenUntil(network, payload, Date.now(), aheadMs);
  if (!isWanted()) return undefined;
  const request = wantedOf(txids);
  const kept = await browserVault(storage).put(paymentId(location.origin, request), {
    version: 1,
    service: location.origin,
    request,
    header: encodePaymentSignatureHeader(paymentPayload(required, offer, payload)),
    offer: { network, amount, payTo, payer: account, maxTimeoutSeconds },
    until,
  });
  return { kept, isAltered };
}

/** The time by which a payment of an offer is dated now, ms since 1970. @throws AttestError where no date can be chosen */
export function dateOf({ aheadMs }: Quote, { network }: PaymentRequirements): number {
  return paymentDate(network, Date.now(), aheadMs);
}

export type Purchase = { saved: SavedBundle; verified: boolean; transaction: string | undefined };

/**
 * Sends a stored payment until what it buys is delivered and saved; only then is the payment removed. Never signs.
 * @throws AttestError `not_paid` without `until` when the payment can no longer be taken; any other when it is still kept
 */
export async function finish(
  payment: StoredPayment,
  storage: Storage,
  trust: Trust | undefined,
  onProgress: (progress: Progress) => void,
): Promise<Purchase> {
  const { request, offer, service } = payment;
  const { require } = request.body as { require?: "succeeded" };
  const txids = txidsOf(payment);
  let saved: SavedBundle | undefined;
  const save = async (signed: Bundle | BatchHead, bytes: Uint8Array, receipt: { jws: string } | undefined) => {
    const [id, { round }] = [bundleId(signed), signedPart(signed).attest];
    saved = { id, txids, round, bytes, savedAt: Date.now(), ...(receipt && { receipt: receipt.jws }) };
    await storage.update("bundles", id, () => saved);
  };
  const options = {
    service,
    wallet: payerOn(offer.network, offer.payer),
    maxPrice: formatUsdc(maxPriceOf(txids)),
    vault: browserVault(storage),
    maxWaitMs: DAY_MS,
    onProgress,
    ...(require && { require }),
    ...(trust && { trust }),
  };
  try {
    if (request.path === "/attest-batch") {
      const { items, receipt } = await attestBatch({
        ...options,
        items: request.body.items,
        save: async ({ items: bought, signedReceipt }) => {
          const answer = batchOf(bought.map(({ bundle }) => bundle));
          await save(answer.batch, utf8(JSON.stringify(answer)), signedReceipt);
        },
      });
      const verified = items.every(({ report }) => report.verified);
      return { saved: saved as unknown as SavedBundle, verified, transaction: receipt?.transaction };
    }
    const { report, receipt } = await attest({
      ...options,
      txid: txids[0] ?? "",
      save: ({ bundle, bundleBytes, signedReceipt }) => save(bundle, bundleBytes, signedReceipt),
    });
    return { saved: saved as unknown as SavedBundle, verified: report.verified, transaction: receipt?.transaction };
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

/** The transactions that a stored payment buys the attestation of. */
export function txidsOf({ request }: StoredPayment): readonly string[] {
  if (request.path === "/attest-batch") return request.body.items.map(({ txid }) => txid);
  return request.path === "/attest" ? [request.body.txid] : [];
}

/** A reader who pastes an id expects that the transaction succeeded: one that failed is bought after a question only. */
const wantedOf = (txids: readonly string[]) => requestFor(txids, "succeeded");

/**
 * Lets a stored payment buy the attestation of a transaction that failed, also after a reload.
 * @returns undefined when the payment is no longer stored
 */
export function acceptFailure(payment: StoredPayment, storage: Storage): Promise<StoredPayment | undefined> {
  const { require: _, ...body } = payment.request.body as { require?: string };
  const request = { ...payment.request, body } as PaidRequest;
  return storage.update<StoredPayment>("payments", paymentId(location.origin, payment.request), (stored) =>
    stored?.header === payment.header ? { ...stored, request } : stored,
  );
}

/**
 * Removes a payment whose request is not made again, once it can no longer be taken.
 * @returns when that will be, if it stays
 */
export function forget({ request, service }: StoredPayment, storage: Storage): Promise<number | undefined> {
  return forgetPayment({ service, vault: browserVault(storage) }, request);
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
