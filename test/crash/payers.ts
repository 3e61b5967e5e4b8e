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

/** A signed payment, and the key by which the service must know it (docs/format.md). */
export type SignedPayment = { rail: RailName; payload: PaymentPayload; key: string };

/** How long a payment may be settled: `long` outlives every restart, `short` is as short as the service takes. */
export type Life = "long" | "short";

/**
 * Signs a payment for the first offer on a rail. Base's and Solana's are made by the stock clients; Algorand's is
 * what the stock client makes, but for its life: that one's is ten rounds, which in a sandbox are over before a
 * process is up again.
 */
export type Payer = (rail: RailName, required: PaymentRequired, life?: Life) => Promise<SignedPayment>;

/**
 * Rounds: the service takes nothing with less than three left, nor with more than an hour's. With those before, the long
 * ones are the 1,000 that a transaction may live on Algorand.
 */
const ROUNDS: Record<Life, bigint> = { long: 850n, short: 25n };
/** A service on a machine that does too much is many rounds late: it would find the payment not valid yet, or too long. */
const EARLIER_ROUNDS = 150;
/** Seconds: the service takes nothing with less than thirty left, nor more than an hour. */
const SECONDS: Record<Life, number> = { long: 3_600, short: 34 };

/** Pays from the sandbox's wallets. */
export function payerOf(sandbox: Sandbox): Payer {
  const signers: Record<RailName, (offer: PaymentRequirements, life: Life) => Promise<SignedPayment>> = {
    algorand: (offer, life) => payOnAlgorand(sandbox, offer, life),
    base: (offer, life) => payOnBase(sandbox, offer, life),
    solana: (offer) => payOnSolana(sandbox, offer),
  };
  return (rail, { accepts }, life = "long") => {
    const offer = accepts.find(({ network }) => NETWORKS[rail].test(network));
    if (!offer) throw new Error(`there is no offer on ${rail}`);
    return signers[rail](offer, life);
  };
}

const NETWORKS: Record<RailName, RegExp> = { algorand: /^algorand:/, base: /^eip155:8453$/, solana: /^solana:/ };

export async function payOnAlgorand(
  { algodUrl, payers, genesisHash }: Sandbox,
  offer: PaymentRequirements,
  life: Life,
  payer: algosdk.Account = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic),
): Promise<SignedPayment> {
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const { firstValid, ...network } = await algod.getTransactionParams().do();
  const feePayer = offer.extra.feePayer as string;
  const params = {
    ...network,
    firstValid: BigInt(Math.max(1, Number(firstValid) - EARLIER_ROUNDS)),
    lastValid: BigInt(firstValid) + ROUNDS[life],
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
    // The stock client's is a time stamp of milliseconds: two payments of one millisecond would be one.
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

async function payOnBase({ payers }: Sandbox, offer: PaymentRequirements, life: Life): Promise<SignedPayment> {
  const account = privateKeyToAccount(payers.base?.privateKey as Hex);
  const scheme = new ExactEvmScheme(account);
  const signed = await scheme.createPaymentPayload(2, { ...offer, maxTimeoutSeconds: SECONDS[life] });
  const { from, nonce } = (signed.payload as { authorization: { from: string; nonce: string } }).authorization;
  return {
    rail: "base",
    payload: { ...signed, accepted: offer },
    key: `eip155:8453/${offer.asset}/${from}/${nonce}`.toLowerCase(),
  };
}

/** Its life is that of the blockhash that it names, which nobody can choose. */
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
