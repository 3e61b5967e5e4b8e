// Buys an attestation over A2A with the official client and stock x402: nothing in here is ours.
// The client is @a2a-js/sdk 0.3.14, the last that speaks A2A 0.3.0: npm install @a2a-js/sdk@0.3.14
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { ClientFactory } from "@a2a-js/sdk/client";
import { toClientAvmSigner } from "@x402/avm";
import { ExactAvmScheme } from "@x402/avm/exact/client";
import { x402Client } from "@x402/fetch";
import algosdk from "algosdk";

const { serviceUrl, algodUrl, payers, sampleTransactions } = JSON.parse(readFileSync(".attestd/sandbox.json", "utf8"));

const { sk } = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
const signer = toClientAvmSigner(Buffer.from(sk).toString("base64"));
const wallet = new x402Client().register("algorand:*", new ExactAvmScheme(signer, { algodUrl }));

const agent = await new ClientFactory().createFromUrl(serviceUrl);
const say = (message) =>
  agent.sendMessage({ message: { kind: "message", role: "user", messageId: randomUUID(), ...message } });

const asked = { skill: "attest", txid: sampleTransactions.algorand };
const { id, contextId, status } = await say({ parts: [{ kind: "data", data: asked }] });
const payment = await wallet.createPaymentPayload(status.message.metadata["x402.payment.required"]);
const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payment };
const task = await say({ taskId: id, contextId, parts: [], metadata });
console.log(JSON.stringify(task.artifacts[0].parts[0].data));
