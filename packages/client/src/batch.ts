import type { Attestation } from "./attest.ts";
import { type CallOptions, normalized, openCall, serviceUrl } from "./call.ts";
import { type Clock, systemClock } from "./clock.ts";
import { examineBatch } from "./examine.ts";
import { canBeTaken } from "./lifetime.ts";
import { chooseOffer } from "./offers.ts";
import { askOffers, settle } from "./pay.ts";
import { signedReceipt } from "./receipt.ts";
import type { BatchRequest, ChainName, PaidRequest } from "./request.ts";
import { paymentId, type StoredPayment, type Vault } from "./vault.ts";

/** The contents of a batch. */
export type Batch = {
  /** 2 to 1,000 different transactions, each as `txid` and `chain` of `attest`; a service may allow fewer. */
  items: readonly { txid: string; chain?: ChainName }[];
  /** Do not buy if one of them failed: the call then fails with `refused`, and nothing is charged. */
  require?: "succeeded";
};

export type AttestBatchOptions = CallOptions &
  Batch & {
    /**
     * Stores every bundle durably. If it rejects, the payment stays in the vault, and the next call gets the bundles
     * again.
     */
    save?: (attestation: BatchAttestation) => Promise<void>;
  };

/** A batch item as an independent bundle, the client's own offline verification of it, and its JSON in UTF-8. */
export type AttestedItem = ReturnType<typeof examineBatch>[number];

export type BatchAttestation = Pick<Attestation, "receipt" | "signedReceipt"> & {
  /** In the order of the request. */
  items: readonly AttestedItem[];
};

/**
 * Buys the attestation of several transactions for one payment, like `attest` for one. Every item is verified by
 * itself.
 * @returns the items with their verification; look at each `report.verified`
 * @throws AttestError; for `refused`, `problem.items` lists every item that cannot be attested
 */
export async function attestBatch(options: AttestBatchOptions): Promise<BatchAttestation> {
  const request = batchRequest(options);
  const call = openCall(options, request);
  return settle(call, options.save, ({ payment, bytes, receipt }) => {
    const items = examineBatch(bytes, { id: call.id, request }, options);
    const [first] = items;
    const signed = first && signedReceipt(receipt, first.bundle.batch, payment);
    return { items, receipt, signedReceipt: signed };
  });
}

/** Returns the request for a batch. */
export function batchRequest({ items, require }: Batch): BatchRequest {
  const normal = items.map(({ txid, chain }) => ({ txid: normalized(txid), ...(chain && { chain }) }));
  return { path: "/attest-batch", body: { items: normal, ...(require && { require }) } };
}

/** Returns the request for the attestation of a transaction, or of several as a batch. */
export function requestFor(txids: readonly string[], require?: "succeeded"): PaidRequest {
  const [txid = "", another] = txids;
  const condition = require && { require };
  if (another === undefined) return { path: "/attest", body: { txid, ...condition } };
  return batchRequest({ items: txids.map((one) => ({ txid: one })), ...condition });
}

/** The price that the wallet would pay: that of the first offer that it can pay, at any price. */
export type Quote = Pick<StoredPayment["offer"], "network" | "payer"> & {
  /** micro-USDC. */
  amount: bigint;
};

/** Asks what a request costs. Nothing is signed. @throws AttestError */
export async function quote(
  options: Pick<CallOptions, "service" | "wallet" | "signal" | "fetch">,
  request: PaidRequest,
): Promise<Quote> {
  const { wallet, signal = new AbortController().signal, fetch = globalThis.fetch } = options;
  const asked = { service: serviceUrl(options.service), request, signal, fetch, clock: systemClock };
  const { paymentRequired } = await askOffers(asked);
  const { network, amount } = chooseOffer(paymentRequired.accepts, wallet, MAX_AMOUNT);
  return { network, payer: wallet.payer(network) ?? "", amount: BigInt(amount) };
}

/** More than any amount that `chooseOffer` accepts. */
const MAX_AMOUNT = 10n ** 20n;

/**
 * Removes the payment of an abandoned request from the vault, once it can no longer be taken.
 * @returns if it can still be taken and so stays, when that ends: ms since 1970, by this device's clock
 */
export async function forgetPayment(
  { service, vault, clock = systemClock }: { service: string; vault: Vault; clock?: Pick<Clock, "now"> },
  request: PaidRequest,
): Promise<number | undefined> {
  const id = paymentId(serviceUrl(service), request);
  const stored = await vault.get(id);
  if (stored === undefined) return undefined;
  if (canBeTaken(stored, clock.now())) return stored.until;
  await vault.remove(id, stored);
  return undefined;
}
