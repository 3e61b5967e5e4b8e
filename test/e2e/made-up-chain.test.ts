import { createHash } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";
import type { BlockBundle, InclusionBundle, ProofBundle, SignedBundle } from "@attestd/proof";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { PaymentRequired } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type OrchardBlock, startNode } from "../../packages/service/test/fakes/orchard/node.ts";
import type * as DeploymentModule from "./deployment.ts";

/*
 * A new source chain is a folder in `proof` and one in `chains/`, and a line in the registry of each. Orchard is made up
 * (packages/service/test/fakes/orchard): nothing else in the project names it. The expected values are computed here with
 * the platform's own functions.
 */

const LINES = new URL("../../packages/service/test/fakes/orchard/lines.ts", import.meta.url);

/** The modules with the lines. */
type Fresh = {
  tools: typeof DeploymentModule;
  proof: typeof import("@attestd/proof");
  operator: typeof import("@attestd/service/operator");
};
let fresh: Fresh;
let deployment: DeploymentModule.Deployment;
let node: Awaited<ReturnType<typeof startNode>>;

const { Worker } = threads;
/** Worker threads load the lines before anything else: registries are not shared between threads. */
class WorkerWithLines extends Worker {
  constructor(file: string | URL, options: threads.WorkerOptions = {}) {
    super(file, { ...options, execArgv: [...process.execArgv, "--import", LINES.href] });
  }
}

const hash = (name: string, ...parts: Uint8Array[]) => createHash(name).update(Buffer.concat(parts)).digest();
const leaf = (bytes: Uint8Array) => hash("sha3-256", Buffer.of(0), bytes);
const parent = (left: Uint8Array, right: Uint8Array) => hash("sha3-256", Buffer.of(1), left, right);
const sha256 = (bytes: Uint8Array) => hash("sha256", bytes).toString("hex");

const HEIGHT = 46;
/** Of the blocks. */
const TIME = 1_795_000_007;
/** Above the last final block. */
const YOUNG = 47;
const TRANSACTIONS = ["windfall", "graft", "cider"].map((payload) => {
  const bytes = Buffer.from(`FRUIT${payload}`);
  return { bytes, id: `apple${hash("sha3-256", bytes).toString("hex").slice(0, 40)}` };
});
const [FIRST, , THIRD] = TRANSACTIONS as [Made, Made, Made];
type Made = (typeof TRANSACTIONS)[number];

const LEAVES = TRANSACTIONS.map(({ bytes }) => leaf(bytes)) as [Buffer, Buffer, Buffer];
const EMPTY = Buffer.alloc(32);
const LEFT = parent(LEAVES[0], LEAVES[1]);
const ROOT = parent(LEFT, parent(LEAVES[2], EMPTY));

function header(height: number): Buffer {
  const bytes = Buffer.alloc(88);
  bytes.write("ROOT");
  bytes.writeBigUInt64BE(BigInt(height), 4);
  bytes.writeUInt32BE(TRANSACTIONS.length, 12);
  ROOT.copy(bytes, 48);
  bytes.writeBigUInt64BE(BigInt(TIME), 80);
  return bytes;
}
const HEADER = header(HEIGHT);
const BLOCK_HASH = `tree${hash("sha256", hash("sha256", HEADER)).reverse().toString("hex")}`;

beforeAll(async () => {
  const transactions = TRANSACTIONS.map(({ bytes, id }) => ({
    id,
    bytes: bytes.toString("hex"),
    succeeded: id !== THIRD.id,
  }));
  const block = (height: number): [number, OrchardBlock] => [
    height,
    { header: header(height).toString("hex"), transactions },
  ];
  node = await startNode(new Map([block(HEIGHT), block(YOUNG)]), HEIGHT);
  Object.assign(threads, { Worker: WorkerWithLines });
  syncBuiltinESMExports();
  // Test files share modules: load them again, with the lines.
  vi.resetModules();
  await import(LINES.href);
  fresh = {
    proof: await import("@attestd/proof"),
    tools: await import("./deployment.ts"),
    operator: await import("@attestd/service/operator"),
  };
  deployment = await fresh.tools.startDeployment({ networks: [] }, { chains: { orchard: { rpc: [node.url] } } });
});
afterAll(async () => {
  await deployment?.close();
  await node?.close();
  Object.assign(threads, { Worker });
  syncBuiltinESMExports();
  vi.resetModules();
});

/** Buys with a real payment of the sandbox. */
async function buy<B extends SignedBundle>(path: string, body: object): Promise<{ text: string; bundle: B }> {
  const { sign, payUntilAnswered, algorandClient } = fresh.tools;
  const url = deployment.url + path;
  const { status, text } = await payUntilAnswered(url, body, await sign(url, body, algorandClient(deployment.sandbox)));
  expect(status, text).toBe(200);
  return { text, bundle: JSON.parse(text) as B };
}

async function get<T>(path: string): Promise<T> {
  return (await (await fetch(deployment.url + path)).json()) as T;
}

/** Verifies a bundle by the library and by the service, there offline and against the chains. */
async function expectVerified(path: string, text: string): Promise<void> {
  const trust = fresh.proof.parseKeyHistory(JSON.stringify(await get("/.well-known/attestor-keys.json")));
  expect(fresh.proof.verify(text, { trust })).toMatchObject({ verified: true, failures: [] });
  expect((await fresh.tools.post(deployment.url + path, text)).json).toMatchObject({ verified: true });
  expect((await fresh.tools.post(`${deployment.url + path}?chain=1`, text)).json).toMatchObject({
    verified: true,
    checks: { chainSource: "pass", chainAttest: "pass" },
  });
}

const SOURCE = {
  chain: "orchard",
  txnId: THIRD.id,
  hashSha256: sha256(THIRD.bytes),
  txnBytesBase64: THIRD.bytes.toString("base64"),
};
const BLOCK = {
  chain: "orchard",
  height: HEIGHT,
  blockHash: BLOCK_HASH,
  headerBase64: HEADER.toString("base64"),
  hashSha256: sha256(HEADER),
};
const noteOf = ({ attest }: SignedBundle) => fresh.proof.parseNote(attest.note);

describe("a chain that is a folder and a line", () => {
  test("is attested by only a transaction's id, in any spelling that the chain allows", async () => {
    const { text, bundle } = await buy<ProofBundle>("/attest", { txid: THIRD.id.toUpperCase() });
    expect(bundle.source).toEqual(SOURCE);
    expect(noteOf(bundle)).toMatchObject({ c: "orchard:main-1", h: SOURCE.hashSha256, l: "finalized", t: THIRD.id });
    // The third failed.
    expect(noteOf(bundle)).toMatchObject({ b: BLOCK_HASH, n: HEIGHT, s: 0, u: TIME });
    await expectVerified("/verify", text);
  });

  test("has its blocks attested", async () => {
    const { text, bundle } = await buy<BlockBundle>("/attest-block", { chain: "orchard", height: HEIGHT });
    expect(bundle.block).toEqual(BLOCK);
    expect(noteOf(bundle)).toMatchObject({ b: BLOCK_HASH, c: "orchard:main-1", h: BLOCK.hashSha256, n: HEIGHT });
    await expectVerified("/verify-block", text);
  });

  test("has its transactions proven to be in their block, and a false proof rejected", async () => {
    const body = { chain: "orchard", txId: THIRD.id, height: HEIGHT };
    const { text, bundle } = await buy<InclusionBundle>("/prove-tx-inclusion", body);
    expect(bundle).toMatchObject({ block: BLOCK, source: SOURCE });
    const siblings = [EMPTY, LEFT].map((sibling) => sibling.toString("base64"));
    expect(bundle.inclusion).toEqual({ kind: "orchard-path", index: 2, siblings });
    await expectVerified("/verify-tx-inclusion", text);

    const moved = { ...bundle, inclusion: { ...bundle.inclusion, index: 1 } };
    const { status, json } = await fresh.tools.post(`${deployment.url}/verify-tx-inclusion`, moved);
    expect([status, json.code]).toEqual([400, "bundle_rejected"]);
    expect(json.report).toMatchObject({ checks: { inclusion: "fail", transactionId: "pass", blockHash: "pass" } });
  });

  test.each<[string, object, number, string]>([
    ["/attest", { txid: `apple${"0".repeat(40)}` }, 404, "source_not_found"],
    ["/attest", { txid: FIRST.id, chain: "algorand" }, 400, "body_invalid"],
    ["/attest", { txid: THIRD.id, require: "succeeded" }, 409, "transaction_failed"],
    ["/attest-block", { chain: "orchard", height: YOUNG }, 409, "source_not_final"],
    ["/attest-block", { chain: "orchard", height: YOUNG + 1 }, 404, "block_not_found"],
  ])("refuses at %s what is not there, or not final: %j", async (path, body, status, code) => {
    const { sign, pay, algorandClient, post } = fresh.tools;
    const url = deployment.url + path;
    const priced = (await post(url, body)).status === 402;
    const answer = priced
      ? await pay(url, body, await sign(url, body, algorandClient(deployment.sandbox)))
      : await post(url, body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });

  test("has its block work done in worker threads", async () => {
    const { createBlockWorkers } = await import("../../packages/service/src/chains/block-work.ts");
    const { run, close } = createBlockWorkers({ maxWorkers: 1 });
    const bytes = TRANSACTIONS.map((transaction) => new Uint8Array(transaction.bytes));
    const path = await run(new URL("block-work.ts", LINES))("findPath", [new Uint8Array(HEADER), bytes, 0]);
    expect(path).toEqual([LEAVES[1], parent(LEAVES[2], EMPTY)].map((sibling) => new Uint8Array(sibling)));
    await close();
  });
});

test("a chain that is a folder and a line has its nodes examined, and what was sold of it audited", async () => {
  await buy<ProofBundle>("/attest", { txid: THIRD.id });
  const operating = () => ({ sandbox: true, signal: AbortSignal.timeout(60_000) });
  const { examine, auditJournal } = fresh.operator;
  const found = await Array.fromAsync(examine(deployment.settings, { ...operating(), isStarting: true }));
  const message = `chains.orchard.rpc: ${new URL(node.url).host} is in season ${YOUNG}, and final up to ${HEIGHT}.`;
  expect(found.filter(({ subject }) => subject === "orchard")).toEqual([{ subject: "orchard", mark: "ok", message }]);
  const { verdict, counts } = await auditJournal(deployment.settings, operating());
  expect(verdict).toBe("clean");
  expect(counts.delivered).toBeGreaterThan(0);
});

describe("a chain that is a folder and a line is described", () => {
  type Schema = { pattern?: string; enum?: string[]; description?: string; properties?: Record<string, Schema> };
  type OpenApi = {
    info: { summary: string; description: string };
    paths: Record<string, { post: { requestBody: { content: Record<string, { examples: object }> } } }>;
    components: { schemas: Record<string, Schema> };
  };

  test("in the OpenAPI document: its ids, its CAIP-2, its inclusion, its examples, its capabilities", async () => {
    const { info, paths, components } = await get<OpenApi>("/openapi.json");
    expect(info.summary).toContain("Algorand, Base, and Orchard");
    const { AttestRequest, Block, Source, OrchardInclusion, BlockCapabilities } = components.schemas;
    const { txid, chain } = AttestRequest?.properties ?? {};
    expect(THIRD.id).toMatch(new RegExp(txid?.pattern ?? "^$"));
    expect(THIRD.id.toUpperCase()).toMatch(new RegExp(txid?.pattern ?? "^$"));
    expect(THIRD.id).toMatch(new RegExp(Source?.properties?.txnId?.pattern ?? "^$"));
    expect(BLOCK_HASH).toMatch(new RegExp(Block?.properties?.blockHash?.pattern ?? "^$"));
    expect(`${BLOCK_HASH}0`).not.toMatch(new RegExp(Block?.properties?.blockHash?.pattern ?? ""));
    expect(chain?.enum).toEqual(["algorand", "base", "orchard"]);
    expect(Block?.properties?.chain?.description).toContain("Orchard: orchard:main-1.");
    expect(Object.keys(OrchardInclusion?.properties ?? {})).toEqual(["kind", "index", "siblings"]);
    expect(Object.keys(BlockCapabilities?.properties?.chains?.properties ?? {})).toContain("orchard");
    const examples = paths["/attest-block"]?.post.requestBody.content["application/json"]?.examples;
    expect(examples).toMatchObject({ orchard: { value: { chain: "orchard", height: 7 } } });
  });

  test("by /block-capabilities, /discovery, /llms.txt and the agent card", async () => {
    const { chains } = await get<{ chains: Record<string, object> }>("/block-capabilities");
    expect(Object.keys(chains)).toEqual(["algorand", "orchard"]);
    expect(chains.orchard).toMatchObject({
      height: "season",
      levels: { known: ["included", "finalized"], required: "finalized" },
      inclusion: { kind: "orchard-path", trees: [{ root: "root" }] },
    });
    expect((await get<{ description: string }>("/discovery")).description).toContain("Orchard");
    expect(await (await fetch(`${deployment.url}/llms.txt`)).text()).toContain("- A source on orchard can be paid on");
    const { skills } = await get<{ skills: { id: string; tags: string[] }[] }>("/.well-known/agent-card.json");
    expect(skills.find(({ id }) => id === "attest-block")?.tags).toContain("orchard");
  });

  test("in MCP, which also sells it", async () => {
    const client = new Client({ name: "e2e", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${deployment.url}/mcp`)));
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === "prove_tx_inclusion");
    expect(tool?.inputSchema.properties).toMatchObject({ chain: { enum: expect.arrayContaining(["orchard"]) } });
    const call = { name: "prove_tx_inclusion", arguments: { chain: "orchard", txId: FIRST.id, height: HEIGHT } };
    const { structuredContent } = await client.callTool(call);
    const payment = await fresh.tools
      .algorandClient(deployment.sandbox)
      .createPaymentPayload(structuredContent as PaymentRequired);
    const sold = await client.callTool({ ...call, _meta: { "x402/payment": payment } });
    expect(sold.structuredContent).toMatchObject({
      block: BLOCK,
      source: { txnId: FIRST.id },
      inclusion: { index: 0 },
    });
    const verified = await client.callTool({
      name: "verify_tx_inclusion",
      arguments: { ...(sold.structuredContent as object), chain: "1" },
    });
    expect(verified.structuredContent).toMatchObject({ verified: true, checks: { chainSource: "pass" } });
    await client.close();
  });
});
