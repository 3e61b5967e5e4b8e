// Buys an attestation over MCP with the official client and stock x402: nothing in here is ours.
import { readFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { toClientAvmSigner } from "@x402/avm";
import { ExactAvmScheme } from "@x402/avm/exact/client";
import { x402Client } from "@x402/fetch";
import algosdk from "algosdk";

const { mcpUrl, algodUrl, payers, sampleTransactions } = JSON.parse(readFileSync(".attestd/sandbox.json", "utf8"));

const { sk } = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
const signer = toClientAvmSigner(Buffer.from(sk).toString("base64"));
const wallet = new x402Client().register("algorand:*", new ExactAvmScheme(signer, { algodUrl }));

const mcp = new Client({ name: "example", version: "1.0.0" });
await mcp.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)));

const attest = { name: "attest", arguments: { txid: sampleTransactions.algorand } };
const { structuredContent: required } = await mcp.callTool(attest);
const payment = await wallet.createPaymentPayload(required);
// Recording takes a few seconds, and may take minutes: longer than clients wait unless they are told.
const paid = await mcp.callTool({ ...attest, _meta: { "x402/payment": payment } }, { timeout: 180_000 });
console.log(JSON.stringify(paid.structuredContent));
await mcp.close();
