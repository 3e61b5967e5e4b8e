// Buys an attestation with the stock x402 client: nothing in here is ours.
import { readFileSync } from "node:fs";
import { toClientAvmSigner } from "@x402/avm";
import { ExactAvmScheme } from "@x402/avm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import algosdk from "algosdk";

const { serviceUrl, algodUrl, payers, sampleTransactions } = JSON.parse(readFileSync(".attestd/sandbox.json", "utf8"));

const { sk } = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
const signer = toClientAvmSigner(Buffer.from(sk).toString("base64"));
const client = new x402Client().register("algorand:*", new ExactAvmScheme(signer, { algodUrl }));

const response = await wrapFetchWithPayment(fetch, client)(`${serviceUrl}/attest`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ txid: sampleTransactions.algorand }),
});
console.log(JSON.stringify(await response.json()));
