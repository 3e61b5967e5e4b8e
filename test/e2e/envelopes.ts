import { createPrivateKey, sign as signEd25519 } from "node:crypto";
import type { Sandbox } from "@attestd/sandbox";
import type { PaymentPayload } from "@x402/core/types";
import algosdk from "algosdk";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { AUTHORIZATION_TYPES } from "../helpers/eip3009.ts";
import { BASE_USDC, type RailName } from "./rails.ts";

/* Payments of a stock client with another signature, or changed and signed again by their payer. */

type Change = (payment: PaymentPayload) => Promise<PaymentPayload>;

/** Variants of a payer's payment that a stranger can make, and variants that only the payer can, by name. */
export type Envelopes = { forged: Record<string, Change>; own: Record<"another network" | "expired", Change> };

export function envelopesOf(sandbox: Sandbox): Record<RailName, Envelopes> {
  return { algorand: algorandEnvelopes(sandbox), base: baseEnvelopes(sandbox), solana: solanaEnvelopes(sandbox) };
}

/** Adds the payer's identifier of the purchase to a payment. */
export function named(payment: PaymentPayload, id: string): PaymentPayload {
  const extension = { info: { required: false, id } };
  return { ...payment, extensions: { ...payment.extensions, "payment-identifier": extension } };
}

function algorandEnvelopes({ payers }: Sandbox): Envelopes {
  const payer = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
  const stranger = algosdk.generateAccount();
  type Members = ConstructorParameters<typeof algosdk.SignedTransaction>[0];
  const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const read = ({ payload }: PaymentPayload) =>
    (payload.paymentGroup as string[]).map((text) => Buffer.from(text, "base64")) as [Buffer, Buffer];
  const withGroup = (payment: PaymentPayload, paymentGroup: Uint8Array[]): PaymentPayload => ({
    ...payment,
    payload: { paymentGroup: paymentGroup.map(toBase64), paymentIndex: 1 },
  });

  /** The same group, with the payment's transaction in another envelope. */
  function enveloped(make: (txn: algosdk.Transaction) => Omit<Members, "txn">): Change {
    return async (payment) => {
      const [fee, signed] = read(payment);
      const { txn } = algosdk.decodeSignedTransaction(signed);
      return withGroup(payment, [fee, algosdk.encodeMsgpack(new algosdk.SignedTransaction({ txn, ...make(txn) }))]);
    };
  }

  /** Both transactions changed, grouped again and signed by the payer. */
  function changed(over: object): Change {
    return async (payment) => {
      const [fee, signed] = read(payment);
      const group = [algosdk.decodeUnsignedTransaction(fee), algosdk.decodeSignedTransaction(signed).txn];
      for (const txn of group) Object.assign(txn, { group: undefined }, over);
      const [feePayment, transfer] = algosdk.assignGroupID(group) as [algosdk.Transaction, algosdk.Transaction];
      return withGroup(payment, [algosdk.encodeUnsignedTransaction(feePayment), transfer.signTxn(payer.sk)]);
    };
  }

  const preimage = { v: 1, thr: 2, subsig: [{ pk: payer.addr.publicKey }, { pk: stranger.addr.publicKey }] };
  const halfSigned = (txn: algosdk.Transaction) => {
    const subsig = [preimage.subsig[0], { ...preimage.subsig[1], s: txn.rawSignTxn(stranger.sk) }];
    return { msig: { ...preimage, subsig } as NonNullable<Members["msig"]> };
  };
  return {
    forged: {
      unsigned: enveloped(() => ({})),
      "not even in an envelope": async (payment) => {
        const [fee, signed] = read(payment);
        return withGroup(payment, [
          fee,
          algosdk.encodeUnsignedTransaction(algosdk.decodeSignedTransaction(signed).txn),
        ]);
      },
      "signed by nobody, with a signer": enveloped(() => ({ sgnr: stranger.addr })),
      "half signed": enveloped(halfSigned),
      "signed by a stranger": enveloped((txn) => ({ sig: txn.rawSignTxn(stranger.sk) })),
      "signed by a stranger as its signer": enveloped((txn) => ({
        sig: txn.rawSignTxn(stranger.sk),
        sgnr: stranger.addr,
      })),
    },
    own: {
      "another network": changed({ genesisHash: new Uint8Array(32).fill(1) }),
      expired: changed({ firstValid: 1n, lastValid: 2n }),
    },
  };
}

type Authorization = Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", string>;

function baseEnvelopes({ payers }: Sandbox): Envelopes {
  const payer = privateKeyToAccount(payers.base?.privateKey as Hex);
  const stranger = privateKeyToAccount(generatePrivateKey());
  const domain = { name: "USD Coin (attestd sandbox)", version: "2", chainId: 8453, verifyingContract: BASE_USDC };

  const withSignature =
    (make: (signature: string) => string): Change =>
    async (payment) => ({
      ...payment,
      payload: { ...payment.payload, signature: make(payment.payload.signature as string) },
    });

  function signed(by: typeof payer, over: Partial<Authorization> = {}, under: object = {}): Change {
    return async (payment) => {
      const authorization = { ...(payment.payload.authorization as Authorization), ...over };
      const typed = {
        types: AUTHORIZATION_TYPES,
        primaryType: "TransferWithAuthorization",
        domain: { ...domain, ...under },
      };
      const message = { ...typed, message: authorization } as unknown as Parameters<typeof payer.signTypedData>[0];
      return { ...payment, payload: { authorization, signature: await by.signTypedData(message) } };
    };
  }

  return {
    forged: {
      unsigned: withSignature(() => "0x"),
      "half signed": withSignature((signature) => signature.slice(0, 66)),
      "signed by a stranger": signed(stranger),
      "signed by the payer for another network": signed(payer, {}, { chainId: 84532 }),
    },
    own: {
      "another network": signed(payer, {}, { chainId: 84532 }),
      expired: signed(payer, { validBefore: String(Math.floor(Date.now() / 1000) - 5) }),
    },
  };
}

/** Offsets in a stock transaction of two signers: a count, two signatures, the message. */
const [PAYERS_SIGNATURE, MESSAGE] = [65, 129];
/** Version, header, and the number of accounts. */
const BEFORE_ACCOUNTS = 5;

function solanaEnvelopes({ payers }: Sandbox): Envelopes {
  const secret = Buffer.from(payers.solana?.secretKeyBase64 ?? "", "base64");
  const keyOf = (seed: Uint8Array) =>
    createPrivateKey({
      key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
      format: "der",
      type: "pkcs8",
    });
  const stranger = keyOf(crypto.getRandomValues(new Uint8Array(32)));

  const changed =
    (change: (wire: Buffer) => void): Change =>
    async (payment) => {
      const wire = Buffer.from(String(payment.payload.transaction), "base64");
      change(wire);
      return { ...payment, payload: { transaction: wire.toString("base64") } };
    };
  const signed = (key: ReturnType<typeof keyOf>, change: (wire: Buffer) => void = () => undefined) =>
    changed((wire) => {
      change(wire);
      signEd25519(null, wire.subarray(MESSAGE), key).copy(wire, PAYERS_SIGNATURE);
    });
  const forgetBlockhash = (wire: Buffer) => {
    const accounts = wire[MESSAGE + BEFORE_ACCOUNTS - 1] ?? 0;
    const at = MESSAGE + BEFORE_ACCOUNTS + accounts * 32;
    wire.fill(crypto.getRandomValues(new Uint8Array(32)), at, at + 32);
  };

  return {
    forged: {
      unsigned: changed((wire) => void wire.fill(0, PAYERS_SIGNATURE, MESSAGE)),
      "half signed": changed((wire) => void wire.fill(0, PAYERS_SIGNATURE + 32, MESSAGE)),
      "signed by a stranger": signed(stranger),
    },
    own: {
      // A transaction has no network; the accepted offer has.
      "another network": async (payment) => {
        const network = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" as const;
        return { ...payment, accepted: { ...payment.accepted, network } };
      },
      expired: signed(keyOf(secret.subarray(0, 32)), forgetBlockhash),
    },
  };
}
