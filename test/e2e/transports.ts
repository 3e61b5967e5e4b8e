import type { ProofBundle } from "@attestd/proof";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { PaymentPayload } from "@x402/core/types";
import { pay, post } from "./deployment.ts";

/** The answer to a payment, the same for every transport: the bundle, the reason of a 402, or a problem. */
export type Outcome =
  | { kind: "delivered"; bundle: ProofBundle }
  | { kind: "payment_required"; error: unknown }
  | { kind: "problem"; code: unknown };

/** Buys the attestation of a transaction over one transport. @param more members of the request */
export type Buy = (txid: string, payment: PaymentPayload, more?: object) => Promise<Outcome>;

export type TransportName = "HTTP" | "MCP" | "A2A";

/** Opens the three transports of a service. */
export async function transportsOf(url: string): Promise<Record<TransportName, Buy> & AsyncDisposable> {
  const mcp = new Client({ name: "transports", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return {
    HTTP: (txid, payment, more) => buyByHttp(url, { txid, ...more }, payment),
    MCP: (txid, payment, more) => buyByMcp(mcp, { txid, ...more }, payment),
    A2A: (txid, payment, more) => buyByA2a(url, { txid, ...more }, payment),
    [Symbol.asyncDispose]: () => mcp.close(),
  };
}

/** What the attestation of a transaction costs, as each transport for agents says to one who has not paid. */
export async function demandsOf(url: string, txid: string): Promise<Record<"MCP" | "A2A", { accepts?: unknown }>> {
  const mcp = new Client({ name: "transports", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  const { structuredContent } = await mcp.callTool({ name: "attest", arguments: { txid } });
  await mcp.close();
  const { result } = await say(url, { parts: [{ kind: "data", data: { skill: "attest", txid } }] });
  const required = result?.status.message.metadata?.["x402.payment.required"];
  return { MCP: structuredContent as { accepts?: unknown }, A2A: required as { accepts?: unknown } };
}

async function buyByHttp(url: string, request: object, payment: PaymentPayload): Promise<Outcome> {
  const { status, json } = await pay(`${url}/attest`, request, payment);
  if (status === 200) return { kind: "delivered", bundle: json as unknown as ProofBundle };
  return status === 402 ? { kind: "payment_required", error: json.error } : { kind: "problem", code: json.code };
}

async function buyByMcp(client: Client, request: object, payment: PaymentPayload): Promise<Outcome> {
  const result = await client.callTool({
    name: "attest",
    arguments: { ...request },
    _meta: { "x402/payment": payment },
  });
  const said = result.structuredContent as Record<string, unknown>;
  if (result.isError !== true) return { kind: "delivered", bundle: said as unknown as ProofBundle };
  return "accepts" in said ? { kind: "payment_required", error: said.error } : { kind: "problem", code: said.code };
}

type Task = {
  id: string;
  status: { state: string; message: { parts: { text?: string }[]; metadata?: Record<string, unknown> } };
  artifacts?: { parts: { data: ProofBundle }[] }[];
};
type Rpc = { result?: Task; error?: { data?: { code?: string } } };

/** Buys a batch by an agent's protocol. Over A2A the message that pays repeats the request. @returns its answer's JSON */
export async function buyBatch(
  url: string,
  transport: "MCP" | "A2A",
  request: object,
  payment: PaymentPayload,
): Promise<unknown> {
  if (transport === "MCP") {
    const mcp = new Client({ name: "transports", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    const _meta = { "x402/payment": payment };
    const { structuredContent } = await mcp.callTool({ name: "attest_batch", arguments: { ...request }, _meta });
    await mcp.close();
    return structuredContent;
  }
  const parts = [{ kind: "data", data: { skill: "attest-batch", ...request } }];
  const { result: task } = await say(url, { parts });
  if (!task) throw new Error("no task was made");
  const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payment };
  const { result, error } = await say(url, { taskId: task.id, metadata, parts });
  return result?.artifacts?.[0]?.parts[0]?.data ?? { error, status: result?.status };
}

async function buyByA2a(url: string, request: object, payment: PaymentPayload): Promise<Outcome> {
  const { result: task } = await say(url, { parts: [{ kind: "data", data: { skill: "attest", ...request } }] });
  if (!task) throw new Error("no task was made");
  const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payment };
  const parts = [{ kind: "text", text: "Here is the payment." }];
  const { result, error } = await say(url, { taskId: task.id, metadata, parts });
  if (!result) return { kind: "problem", code: error?.data?.code };
  const bundle = result.artifacts?.[0]?.parts[0]?.data;
  if (bundle) return { kind: "delivered", bundle };
  return { kind: "payment_required", error: result.status.message.parts[0]?.text };
}

/** Sends a message to the A2A endpoint. */
async function say(url: string, message: object): Promise<Rpc> {
  const params = { message: { kind: "message", role: "user", messageId: crypto.randomUUID(), ...message } };
  const { json } = await post(`${url}/a2a`, { jsonrpc: "2.0", id: 1, method: "message/send", params });
  return json as Rpc;
}
