import { createHash, randomBytes } from "node:crypto";
import type { Sandbox } from "@attestd/sandbox";
import { createKeyPairSignerFromBytes, getTransactionDecoder } from "@solana/kit";
import { x402Client } from "@x402/core/client";
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import algosdk from "algosdk";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

export const RAILS = ["algorand", "base", "solana"] as const;
export type RailName = (typeof RAILS)[number];

/** A signed payment and its payment key (docs/format.md). */
export type SignedPayment = { rail: RailName; payload: PaymentPayload; key: string };

/** The validity of a payment: `long` is longer than any restart takes, `short` is the shortest that the service accepts. */
export type Validity = "long" | "short";

/**
 * Signs a payment for the first offer on a rail. The stock clients sign for Base and Solana; a payment on Algorand differs
 * from the stock client's only in its validity, whose ten rounds are over in a sandbox before a process has restarted.
 */
export type Payer = (rail: RailName, required: PaymentRequired, validity?: Validity) => Promise<SignedPayment>;

/**
 * Rounds from now: the service accepts three rounds to one hour. `long` and EARLIER_ROUNDS together are the 1,000 rounds
 * that a transaction may be valid on Algorand.
 */
const ROUNDS: Record<Validity, bigint> = { long: 850n, short: 25n };
/** Rounds before now from which a payment is valid: on a busy machine a service may be many rounds behind. */
const EARLIER_ROUNDS = 150;
/** Seconds: the service accepts thirty seconds to one hour. */
const SECONDS: Record<Validity, number> = { long: 3_600, short: 34 };

/** Whether a rail is offered: it is not while its nodes or its facilitator are away. */
export function isOffered(rail: RailName, { accepts }: Pick<PaymentRequired, "accepts">): boolean {
  return accepts.some(({ network }) => NETWORKS[rail].test(network));
}

/** Pays from the sandbox's wallets. */
export function payerOf(sandbox: Sandbox): Payer {
  const signers: Record<RailName, (offer: PaymentRequirements, validity: Validity) => Promise<SignedPayment>> = {
    algorand: (offer, validity) => payOnAlgorand(sandbox, offer, validity),
    base: (offer, validity) => payOnBase(sandbox, offer, validity),
    solana: (offer) => payOnSolana(sandbox, offer),
  };
  return (rail, { accepts }, validity = "long") => {
    const offer = accepts.find(({ network }) => NETWORKS[rail].test(network));
    if (!offer) throw new Error(`there is no offer on ${rail}`);
    return signers[rail](offer, validity);
  };
}

const NETWORKS: Record<RailName, RegExp> = { algorand: /^algorand:/, base: /^eip155:8453$/, solana: /^solana:/ };

export async function payOnAlgorand(
  { algodUrl, payers, genesisHash }: Sandbox,
  offer: PaymentRequirements,
  validity: Validity,
  payer: algosdk.Account = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic),
): Promise<SignedPayment> {
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const { firstValid, ...network } = await algod.getTransactionParams().do();
  const feePayer = offer.extra.feePayer as string;
  const params = {
    ...network,
    firstValid: BigInt(Math.max(1, Number(firstValid) - EARLIER_ROUNDS)),
    lastValid: BigInt(firstValid) + ROUNDS[validity],
    flatFee: true,
  };
  const fee = algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    sender: feePayer,
    receiver: feePayer,
    amount: 0,
    suggestedParams: { ...params, fee: 2n * BigInt(params.minFee) },
  });
  const payment = algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
    sender: payer.addr,
    receiver: offer.payTo,
    amount: BigInt(offer.amount),
    assetIndex: BigInt(offer.asset),
    // The stock client's note is a time stamp in milliseconds, so two payments in one millisecond would be the same.
    note: randomBytes(16),
    suggestedParams: { ...params, fee: 0n },
  });
  algosdk.assignGroupID([fee, payment]);
  const paymentGroup = [algosdk.encodeUnsignedTransaction(fee), payment.signTxn(payer.sk)].map((bytes) =>
    Buffer.from(bytes).toString("base64"),
  );
  const ledger = Buffer.from(genesisHash, "base64").toString("base64url");
  return {
    rail: "algorand",
    payload: { x402Version: 2, accepted: offer, payload: { paymentGroup, paymentIndex: 1 } },
    key: `algorand:${ledger}/${payment.txID()}`,
  };
}

async function payOnBase({ payers }: Sandbox, offer: PaymentRequirements, validity: Validity): Promise<SignedPayment> {
  const account = privateKeyToAccount(payers.base?.privateKey as Hex);
  const scheme = new ExactEvmScheme(account);
  const signed = await scheme.createPaymentPayload(2, { ...offer, maxTimeoutSeconds: SECONDS[validity] });
  const { from, nonce } = (signed.payload as { authorization: { from: string; nonce: string } }).authorization;
  return {
    rail: "base",
    payload: { ...signed, accepted: offer },
    key: `eip155:8453/${offer.asset}/${from}/${nonce}`.toLowerCase(),
  };
}

/** Its validity is that of its blockhash, which the payer cannot choose. */
async function payOnSolana({ payers, solanaRpcUrl }: Sandbox, offer: PaymentRequirements): Promise<SignedPayment> {
  const secretKey = Buffer.from(payers.solana?.secretKeyBase64 as string, "base64");
  const scheme = new ExactSvmScheme(await createKeyPairSignerFromBytes(secretKey), { rpcUrl: solanaRpcUrl as string });
  const client = new x402Client().register("solana:*", scheme);
  const resource = { url: "http://127.0.0.1/attest" };
  const payload = await client.createPaymentPayload({ x402Version: 2, resource, accepts: [offer] });
  const { transaction } = payload.payload as { transaction: string };
  const { messageBytes } = getTransactionDecoder().decode(Buffer.from(transaction, "base64"));
  const digest = createHash("sha256").update(new Uint8Array(messageBytes)).digest("hex");
  return { rail: "solana", payload, key: `${offer.network}/${digest}` };
}
