import type { Message, Task } from "@a2a-js/sdk";
import { type Client, ClientFactory } from "@a2a-js/sdk/client";
import { bundleId, itemBundles, parseBatch } from "@attestd/proof";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { PaymentRequired } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requestIdOf } from "../../packages/service/src/api/http/request-id.ts";
import { giveTable } from "./checkpoint-table.ts";
import { type Deployment, post, startDeployment } from "./deployment.ts";
import { algorandSources } from "./many-sources.ts";
import { type Rail, type RailName, railsOf } from "./rails.ts";

/* Every id, name and URL that the service issues is taken back by every door that it belongs to. */

let deployment: Deployment;
let rails: Record<RailName, Rail>;
let agent: Client;
let mcp: McpClient;
let algorand: string[];
/** Every text in the JSON of every answer, and the path to it: `networks.3.network`. */
const issued = new Map<string, Set<string>>();
const headersIssued: { path: string; etag: string | undefined; requestId: string }[] = [];
/** What each paid skill was asked for, and what its task brought. */
const bought: Record<string, Record<string, unknown>> = {};

function collect(value: unknown, name = ""): void {
  if (typeof value === "object" && value !== null)
    for (const [key, one] of Object.entries(value)) collect(one, /^\d+$/.test(key) ? name : key);
  else if (typeof value === "string") {
    issued.set(name, (issued.get(name) ?? new Set()).add(value));
    if (/^[[{]/.test(value)) collect(parsed(value), name);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

beforeAll(async () => {
  deployment = await startDeployment(
    {},
    {},
    {
      observe({ url = "" }, { headers, body }) {
        headersIssued.push({ path: url, etag: headers.etag, requestId: headers["x-request-id"] as string });
        if (typeof body === "string") collect(parsed(body));
        else if (body instanceof Uint8Array && !headers["content-encoding"])
          collect(parsed(Buffer.from(body).toString()));
      },
    },
  );
  await giveTable(deployment);
  rails = await railsOf(deployment.sandbox);
  algorand = await algorandSources(deployment.sandbox, 2);
  agent = await new ClientFactory().createFromUrl(deployment.url);
  mcp = new McpClient({ name: "issued", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${deployment.url}/mcp`)));
}, 120_000);
afterAll(async () => {
  await mcp?.close();
  await deployment?.close();
});

const say = (message: Pick<Message, "parts"> & Partial<Message>) =>
  agent.sendMessage({
    message: { kind: "message", role: "user", messageId: crypto.randomUUID(), ...message },
  }) as Promise<Task>;

const parts = (data: Record<string, unknown>): Message["parts"] => [{ kind: "data", data }];

/** The members of a request, by the paid skill. */
const SKILLS: Readonly<Record<string, () => Record<string, unknown>>> = {
  attest: () => ({ txid: algorand[0] }),
  "attest-batch": () => ({ items: algorand.map((txid) => ({ txid })) }),
  "attest-block": () => ({ chain: "algorand", height: deployment.sandbox.sampleTransactions.algorandHeight }),
  "prove-tx-inclusion": () => {
    const { algorand: txId, algorandHeight: height } = deployment.sandbox.sampleTransactions;
    return { chain: "algorand", txId, height };
  },
};

describe("an agent that keeps its context", () => {
  // 128 characters of three bytes of UTF-8: the longest.
  const LONGEST = "語".repeat(128);
  const contexts = new Set<string>();

  const CONTEXTS: Readonly<Record<string, string | undefined>> = {
    "that it is given": undefined,
    "of its own": crypto.randomUUID(),
    "that is the longest": LONGEST,
  };
  const cases = Object.keys(SKILLS).flatMap((skill) => Object.keys(CONTEXTS).map((which) => [skill, which] as const));

  test.each(cases)("buys %s in the context %s", async (skill, which) => {
    const own = CONTEXTS[which];
    const asked = { skill, ...SKILLS[skill]?.() };
    const begun = await say({ parts: parts(asked), ...(own !== undefined && { contextId: own }) });
    const { id: taskId, contextId, status } = begun;
    if (own === undefined) expect(contextId.length).toBeLessThanOrEqual(64);
    else expect(contextId).toBe(own);
    expect(status.message?.contextId).toBe(contextId);
    expect((await agent.getTask({ id: taskId })).contextId).toBe(contextId);

    const required = status.message?.metadata?.["x402.payment.required"] as PaymentRequired;
    const payment = await rails.algorand.client.createPaymentPayload(required);
    const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payment };
    const done = await say({ taskId, contextId, metadata, parts: parts(asked) });
    expect(done, JSON.stringify(done).slice(0, 500)).toMatchObject({ contextId, status: { state: "completed" } });
    const [part] = done.artifacts?.[0]?.parts ?? [];
    bought[skill] = (part as { data: Record<string, unknown> }).data;
    expect(await agent.getTask({ id: taskId })).toMatchObject({ contextId, status: { state: "completed" } });

    // The next task of the conversation.
    const next = await say({ parts: parts(asked), contextId });
    expect(next.contextId).toBe(contextId);
    expect((await agent.cancelTask({ id: next.id })).contextId).toBe(contextId);
    if (own === undefined) expect(contexts.size).toBe(contexts.add(contextId).size - 1);
  });
});

describe("what the answers name", () => {
  const tool = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent } = await mcp.callTool({ name, arguments: args });
    return structuredContent as Record<string, unknown>;
  };
  const named = (name: string) => [...(issued.get(name) ?? [])];
  const statusAt = async (path: string) => (await fetch(deployment.url + path)).status;

  beforeAll(async () => {
    // One problem of each kind of door, the documents, and the evidence that is on its way.
    await post(`${deployment.url}/attest`, { txid: "x" });
    await post(`${deployment.url}/attest`, { txid: algorand[0] });
    await post(`${deployment.url}/verify`, { version: 1 });
    await tool("attest", { txid: "x" });
    const paths = ["/status", "/block-capabilities", "/discovery", "/problems", "/.well-known/attestor-keys.json"];
    const more = ["/.well-known/algorand-checkpoints.json", "/.well-known/x402", "/.well-known/agent-card.json"];
    const rest = ["/openapi.json", "/.well-known/x402.json", "/.well-known/ai-catalog.json", "/nothing"];
    for (const path of [...paths, ...more, ...rest]) await fetch(deployment.url + path);
  });

  test("every URL of ours leads somewhere, problems' types among them", async () => {
    const isWhole = (url: string) => !/\{|\/(ID|SHA256|NETWORK|ADDRESS)(\/|$)/.test(url);
    const texts = [...issued.values()].flatMap((values) => [...values]);
    const urls = texts.filter((text) => text.startsWith(`${deployment.url}/`) && !/\s/.test(text) && isWhole(text));
    expect(urls).toEqual(
      expect.arrayContaining(["body_invalid", "not_found"].map((code) => `${deployment.url}/problems/${code}`)),
    );
    const statuses = await Promise.all(urls.map(async (url) => ({ url, status: (await fetch(url)).status })));
    expect(statuses.filter(({ status }) => ![200, 402, 405].includes(status))).toEqual([]);
  });

  test("every problem's code is explained, over HTTP and MCP", async () => {
    const codes = named("code").filter((code) => /^[a-z]+(_[a-z]+)*$/.test(code));
    expect(codes).toEqual(expect.arrayContaining(["body_invalid", "not_found"]));
    for (const code of codes) {
      expect([code, await statusAt(`/problems/${code}`)]).toEqual([code, 200]);
      expect(await tool("explain_problem", { code })).toMatchObject({ code });
    }
  });

  test("every network that an offer names can be asked about, as the offer spells it", async () => {
    const required = (await post(`${deployment.url}/attest`, { txid: algorand[0] })).json as unknown as PaymentRequired;
    for (const { network, payTo } of required.accepts) {
      const path = `/networks/${encodeURIComponent(network)}`;
      expect([path, await statusAt(path)]).toEqual([path, 200]);
      expect([path, await statusAt(`${path}/balances/${payTo}`)]).toEqual([path, 200]);
    }
  });

  test("every chain, transaction and height in what was sold can be sold again", async () => {
    expect(named("chain")).toEqual(expect.arrayContaining(["algorand", "base"]));
    for (const txid of [...named("txnId"), ...algorand]) {
      const { status, json } = await post(`${deployment.url}/attest`, { txid });
      expect([txid, status, json]).toEqual([txid, 402, expect.anything()]);
    }
    const { block } = bought["attest-block"] as { block: { chain: string; height: number } };
    expect(await post(`${deployment.url}/attest-block`, { chain: block.chain, height: block.height })).toMatchObject({
      status: 402,
    });
  });

  test("every bundle that was delivered is verified, fetched, and asked for its evidence, over each transport", async () => {
    const { "attest-batch": batch, ...single } = bought as Record<string, never>;
    const answer = parseBatch(JSON.stringify(batch));
    const verifiers = { "prove-tx-inclusion": "verify_tx_inclusion", "attest-block": "verify_block" };
    const bundles = [
      ...Object.entries(single).map(
        ([skill, bundle]) => [bundle, verifiers[skill as keyof typeof verifiers] ?? "verify"] as const,
      ),
      ...itemBundles(answer).map((bundle) => [bundle, "verify"] as const),
    ];
    expect(bundles.length).toBe(5);
    for (const [bundle, verify] of bundles) {
      const id = bundleId(bundle);
      expect(await statusAt(`/bundles/${id}`)).toBe(200);
      expect(await statusAt(`/bundles/${id}/evidence`)).toBe(202);
      expect(await tool("get_bundle", { id })).toEqual(bundle);
      expect(await tool("get_evidence", { id })).toMatchObject({ status: "pending" });
      const asked = (await say({ parts: parts({ skill: "get-evidence", id }) })) as unknown as Message;
      expect(asked.parts[1]).toMatchObject({ data: { status: "pending" } });
      expect(await tool(verify, { ...bundle })).toMatchObject({ verified: true });
    }
  });

  test("every tag of a document is known again, and every request's id is one that a proxy may pass on", async () => {
    const tagged = headersIssued.filter(({ etag }) => etag !== undefined);
    expect(tagged.length).toBeGreaterThan(5);
    for (const { path, etag = "" } of tagged) {
      const { status } = await fetch(deployment.url + path, { headers: { "if-none-match": etag } });
      expect([path, status]).toEqual([path, 304]);
    }
    for (const { requestId } of headersIssued)
      expect(requestIdOf({ headers: { "x-request-id": requestId } }, true)).toBe(requestId);
  });
});
