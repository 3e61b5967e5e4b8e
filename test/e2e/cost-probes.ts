import { generateKeyPairSync } from "node:crypto";
import { RAILS } from "@attestd/proof/rails";
import type { Sandbox } from "@attestd/sandbox";
import { createKeyPairSignerFromBytes } from "@solana/kit";
import { decodePaymentRequiredHeader } from "@x402/core/http";
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import algosdk from "algosdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Deployment, post } from "./deployment.ts";
import { type Envelopes, envelopesOf } from "./envelopes.ts";
import { BASE_USDC, type Rail, type RailName, railsOf } from "./rails.ts";
import { type Outcome, type TransportName, transportsOf } from "./transports.ts";

/** Sends a request of one kind, whose upstream requests are counted. */
export type Probe = () => Promise<unknown>;

type Payments = Record<RailName, PaymentPayload>;

/** Bundles of each kind, of every chain. */
export type Bundles = Record<"transaction" | "block" | "inclusion", readonly object[]>;

/** The route that verifies each kind of bundle. */
const VERIFY: Record<keyof Bundles, string> = {
  transaction: "/verify",
  block: "/verify-block",
  inclusion: "/verify-tx-inclusion",
};

export type ProbesOptions = {
  deployment: Deployment;
  /** Payments that were accepted. */
  bought: Payments;
  bundles: Bundles;
  /** Fills every payer's list of transactions with transactions that are not payments. */
  fillAccounts(): Promise<() => void>;
};

/** Requests of every kind in docs/upstream-cost.md, by their names there. */
export async function probesOf({ deployment, bought, bundles, fillAccounts }: ProbesOptions) {
  const { sandbox, url } = deployment;
  const transports = await transportsOf(url);
  const rich = await accountsOf(sandbox);
  const poor = await accountsOf({ ...sandbox, payers: await emptyAccounts() });
  const txid = sandbox.sampleTransactions.base as string;
  const { headers } = await post(`${url}/attest`, { txid });
  const required = decodePaymentRequiredHeader(headers.get("payment-required") as string);

  /** A payment that a stock client signs for a changed offer, and sends as one for the real offer. */
  const made = async ({ rails }: Accounts, name: RailName, over: Partial<PaymentRequirements> = {}) => {
    const offer = required.accepts.find(({ network }) => network === rails[name].network) as PaymentRequirements;
    const altered: PaymentRequired = { ...required, accepts: [{ ...offer, ...over }] };
    return { ...(await rails[name].client.createPaymentPayload(altered)), accepted: offer };
  };
  const onEveryTransport = (make: () => Promise<PaymentPayload>, id = () => txid): Probe[] =>
    (["HTTP", "MCP", "A2A"] satisfies TransportName[]).map(
      (transport) => async () => refused(await transports[transport](id(), await make())),
    );
  const ofRails = (names: readonly RailName[], make: (name: RailName) => Promise<PaymentPayload>) =>
    names.flatMap((name) => onEveryTransport(() => make(name)));
  const forged = (name: RailName, shapes: readonly string[], payment = () => made(rich, name)) =>
    shapes.flatMap((shape) => onEveryTransport(async () => shapeOf(rich, name, shape)(await payment())));
  const known = (name: RailName, shape: string) => forged(name, [shape], async () => bought[name]);
  const expired = (name: RailName, accounts: Accounts) =>
    onEveryTransport(async () => accounts.envelopes[name].own.expired(await made(accounts, name)));
  const refusedByFacilitator = (name: RailName) =>
    onEveryTransport(async () => {
      const payment = await made(rich, name);
      sandbox.facilitators[name]?.[0]?.behave("verify=refused:kyt_risk_detected*1");
      return payment;
    });
  const everyRail: RailName[] = ["algorand", "base", "solana"];
  const verified = (kind: keyof Bundles, query: string) =>
    bundles[kind].map((bundle) => async () => {
      const { status, text } = await post(`${url}${VERIFY[kind]}${query}`, bundle);
      if (status !== 200) throw new Error(`a bundle is not verified: ${text.slice(0, 500)}`);
    });
  const get = (path: string) => async () => void (await (await fetch(`${url}${path}`)).text());

  const probes: Record<string, Probe[]> = {
    "A document, the key history, `/health`, `/ready`": [
      ...["/", "/openapi.json", "/llms.txt", "/discovery", "/.well-known/x402", "/problems", "/block-capabilities"],
      ...["/.well-known/attestor-keys.json", "/health", "/ready", `/bundles/${"A".repeat(43)}`],
    ].map(get),
    "Without a payment": [
      () => post(`${url}/attest`, ""),
      () => post(`${url}/attest`, { txid }),
      () => post(`${url}/attest-block`, { chain: "base", height: 1 }),
      () => transports.HTTP(txid, undefined as never),
    ],
    "A payment that is malformed, or of no offer's network": [
      () => post(`${url}/attest`, { txid }, { "payment-signature": "e30=" }),
      ...onEveryTransport(async () => ({ ...(await made(rich, "base")), payload: {} })),
      ...onEveryTransport(async () => rich.envelopes.solana.own["another network"](await made(rich, "solana"))),
      ...onEveryTransport(async () => rich.envelopes.algorand.own["another network"](await made(rich, "algorand"))),
    ],
    "An Algorand payment that is not signed, or by a key that is not the sender's": forged("algorand", [
      ...["unsigned", "not even in an envelope", "signed by nobody, with a signer", "half signed"],
      "signed by a stranger",
    ]),
    "An Algorand payment signed by a key to which its sender is said to be rekeyed, and is not": forged("algorand", [
      "signed by a stranger as its signer",
    ]),
    "An Algorand payment signed by a program which does not accept it": onEveryTransport(async () =>
      byProgram(await made(rich, "algorand")),
    ),
    "A Base payment without a signature, or with garbage": forged("base", Object.keys(rich.envelopes.base.forged)),
    "The same, of a wallet that is a contract": onEveryTransport(async () => byContract(await made(rich, "base"))),
    "A Solana payment without a signature, or with garbage": forged(
      "solana",
      Object.keys(rich.envelopes.solana.forged),
    ),
    "Well signed, and to somebody else": ofRails(everyRail, (name) =>
      made(rich, name, { payTo: poor.rails[name].payer }),
    ),
    "Well signed, and of another amount than was accepted": ofRails(everyRail, (name) =>
      made(rich, name, { amount: "999" }),
    ),
    "Well signed on Algorand, of an empty account": onEveryTransport(() => made(poor, "algorand")),
    "Well signed on Base, of an empty account": onEveryTransport(() => made(poor, "base")),
    "Well signed on Solana, of an empty account": onEveryTransport(() => made(poor, "solana")),
    "Well signed on Algorand, and expired": expired("algorand", rich),
    "Well signed on Base, and expired": expired("base", rich),
    "Well signed on Solana, and expired": expired("solana", rich),
    "The same, of an account with any number of transactions": expired("solana", rich).map((probe) => async () => {
      const empty = await fillAccounts();
      await probe();
      empty();
    }),
    "Well signed on Algorand, and refused by the facilitator": refusedByFacilitator("algorand"),
    "Well signed on Base, and refused by the facilitator": refusedByFacilitator("base"),
    "Well signed on Algorand, for a transaction that is not there": onEveryTransport(
      () => made(rich, "algorand"),
      () =>
        algosdk
          .encodeAddress(crypto.getRandomValues(new Uint8Array(32)))
          .slice(0, 51)
          .concat("A"),
    ),
    "Well signed on Base, for a transaction that is not there": onEveryTransport(
      () => made(rich, "base"),
      () => `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex")}`,
    ),
    "What a payment on Algorand must name": [get(`/networks/${RAILS.algorand.network}`)],
    "What a payment on Solana must name": [get(`/networks/${RAILS.solana.network}`)],
    "The balance of an address on Algorand": [
      get(`/networks/${RAILS.algorand.network}/balances/${sandbox.payers.algorand.address}`),
    ],
    "The balance of an address on Solana": [
      get(`/networks/${RAILS.solana.network}/balances/${sandbox.payers.solana?.address}`),
    ],
    "A bundle to be verified": (["transaction", "block", "inclusion"] as const).flatMap((kind) => verified(kind, "")),
    "The bundle of a transaction, with `?chain=1`": verified("transaction", "?chain=1"),
    "The bundle of a block, with `?chain=1`": verified("block", "?chain=1"),
    "The bundle of an inclusion, with `?chain=1`": verified("inclusion", "?chain=1"),
    "A known payment on Algorand, with the signature of a stranger": known(
      "algorand",
      "signed by a stranger as its signer",
    ),
    "A known payment on Base, with the signature of a stranger": known("base", "signed by a stranger"),
    "A known payment on Solana, with the signature of a stranger": known("solana", "signed by a stranger"),
    "A known payment, as its payer sent it": everyRail.flatMap((name) =>
      (["HTTP", "MCP", "A2A"] satisfies TransportName[]).map(
        (transport) => () => transports[transport](txid, bought[name]),
      ),
    ),
  };
  return { probes, [Symbol.asyncDispose]: () => transports[Symbol.asyncDispose]() };
}

/** @throws Error when a payment without money bought something, or caused an internal error */
function refused(outcome: Outcome): void {
  if (outcome.kind === "delivered" || (outcome.kind === "problem" && outcome.code === "internal"))
    throw new Error(`a request without money was answered ${JSON.stringify(outcome).slice(0, 200)}`);
}

type Accounts = { rails: Record<RailName, Rail>; envelopes: Record<RailName, Envelopes> };

async function accountsOf(sandbox: Sandbox): Promise<Accounts> {
  return { rails: await railsOf(sandbox), envelopes: envelopesOf(sandbox) };
}

function shapeOf({ envelopes }: Accounts, name: RailName, shape: string) {
  const change = envelopes[name].forged[shape];
  if (!change) throw new Error(`no such shape on ${name}: ${shape}`);
  return change;
}

/** Accounts without any money. */
async function emptyAccounts(): Promise<Sandbox["payers"]> {
  const { addr, sk } = algosdk.generateAccount();
  const privateKey = generatePrivateKey();
  const pair = generateKeyPairSync("ed25519");
  const seed = pair.privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32);
  const publicKey = pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const { address } = await createKeyPairSignerFromBytes(Buffer.concat([seed, publicKey]));
  return {
    algorand: { address: addr.toString(), mnemonic: algosdk.secretKeyToMnemonic(sk) },
    base: { address: privateKeyToAccount(privateKey).address, privateKey },
    solana: { address, secretKeyBase64: Buffer.concat([seed, publicKey]).toString("base64") },
  };
}

/** A payment from a program's account, which anyone can sign: the program `int 1` accepts everything. */
async function byProgram(payment: PaymentPayload): Promise<PaymentPayload> {
  const program = new algosdk.LogicSigAccount(Uint8Array.of(0x01, 0x20, 0x01, 0x00, 0x22));
  const [fee, signed] = (payment.payload.paymentGroup as string[]).map((text) => Buffer.from(text, "base64"));
  const group = [
    algosdk.decodeUnsignedTransaction(fee as Buffer),
    algosdk.decodeSignedTransaction(signed as Buffer).txn,
  ];
  for (const txn of group) Object.assign(txn, { group: undefined });
  Object.assign(group[1] as object, { sender: program.address() });
  const [feePayment, transfer] = algosdk.assignGroupID(group) as [algosdk.Transaction, algosdk.Transaction];
  const blobs = [
    algosdk.encodeUnsignedTransaction(feePayment),
    algosdk.signLogicSigTransactionObject(transfer, program).blob,
  ];
  const paymentGroup = blobs.map((blob) => Buffer.from(blob).toString("base64"));
  return { ...payment, payload: { paymentGroup, paymentIndex: 1 } };
}

/** A payment from an address that is a contract: the token's own. */
async function byContract(payment: PaymentPayload): Promise<PaymentPayload> {
  const authorization = { ...(payment.payload.authorization as object), from: BASE_USDC };
  return { ...payment, payload: { ...payment.payload, authorization } };
}
