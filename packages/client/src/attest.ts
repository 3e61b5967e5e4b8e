import {
  type BlockBundle,
  type Bundle,
  type InclusionBundle,
  type ProofBundle,
  signedPart,
  type VerifyReport,
} from "@attestd/proof";
import type { SettleResponse } from "@x402/core/types";
import { type CallOptions, normalized, openCall } from "./call.ts";
import { examine } from "./examine.ts";
import { settle } from "./pay.ts";
import { type SignedReceipt, signedReceipt } from "./receipt.ts";
import type { ChainName, PaidRequest } from "./request.ts";

/** Options of the purchase of one bundle. */
export type PurchaseOptions<B extends Bundle = Bundle> = CallOptions & {
  /** Stores the bundle durably. If it rejects, the payment stays in the vault, and the next call gets the bundle again. */
  save?: (attestation: Attestation<B>) => Promise<void>;
};

export type AttestOptions = PurchaseOptions<ProofBundle> & {
  /** Id of a confirmed transaction: 52 characters (Algorand), or 0x and 64 hex characters (Base). */
  txid: string;
  /** By default inferred from `txid`. */
  chain?: ChainName;
  /** Do not buy if the transaction failed: the call then fails with `refused`, and nothing is charged. */
  require?: "succeeded";
};

export type AttestBlockOptions = PurchaseOptions<BlockBundle> & {
  chain: ChainName;
  /** Algorand's round, Base's block number. */
  height: number;
};

export type ProveInclusionOptions = PurchaseOptions<InclusionBundle> & {
  chain: ChainName;
  /** Like `txid` of `attest`. */
  txId: string;
  /** Height of the transaction's block. */
  height: number;
};

export type Attestation<B extends Bundle = Bundle> = {
  bundle: B;
  /** The result of the client's own offline verification. */
  report: VerifyReport;
  /** The bundle as the service sent it: JSON in UTF-8. */
  bundleBytes: Uint8Array;
  /** The settlement as the service states it, unchecked. */
  receipt: SettleResponse | undefined;
  /** The signed receipt, if the bundle's key signed it for this payment. */
  signedReceipt: SignedReceipt | undefined;
};

/**
 * Buys one attestation, or continues the purchase that an earlier call with the same vault, service and transaction
 * began. The signed payment is stored in the vault before it is sent. No other payment is signed while this one can be
 * taken, whatever the service answers.
 * @returns the bundle and its verification; look at `report.verified`
 * @throws AttestError
 */
export async function attest(options: AttestOptions): Promise<Attestation<ProofBundle>> {
  const { txid, chain, require } = options;
  const body = { txid: normalized(txid), ...(chain && { chain }), ...(require && { require }) };
  return buy(options, { path: "/attest", body });
}

/** Buys the attestation of one block, like `attest`. @throws AttestError */
export async function attestBlock(options: AttestBlockOptions): Promise<Attestation<BlockBundle>> {
  const { chain, height } = options;
  return buy(options, { path: "/attest-block", body: { chain, height } });
}

/** Buys the proof that a transaction is in a block, like `attest`. @throws AttestError */
export async function proveInclusion(options: ProveInclusionOptions): Promise<Attestation<InclusionBundle>> {
  const { chain, txId, height } = options;
  return buy(options, { path: "/prove-tx-inclusion", body: { chain, txId: normalized(txId), height } });
}

/** @param request for a bundle of type `B`, which `examine` checks */
async function buy<B extends Bundle>(options: PurchaseOptions<B>, request: PaidRequest): Promise<Attestation<B>> {
  const call = openCall(options, request);
  return settle(call, options.save, ({ payment, bytes, receipt }) => {
    const { bundle, report } = examine(bytes, call, options);
    const signed = signedReceipt(receipt, signedPart(bundle), payment);
    return { bundle: bundle as B, report, bundleBytes: bytes, receipt, signedReceipt: signed };
  });
}
