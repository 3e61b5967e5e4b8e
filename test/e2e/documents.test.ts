import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { decodePaymentRequiredHeader } from "@x402/core/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { giveTable } from "./checkpoint-table.ts";
import { type Contract, contractOf, type OpenApiDocument } from "./contract.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";
import { demandsOf } from "./transports.ts";

/* The documents by which programs and agents find and use the service. */

let deployment: Deployment;
let document: OpenApiDocument;
let contract: Contract;
beforeAll(async () => {
  deployment = await startDeployment();
  await giveTable(deployment);
  await readDocument();
});
afterAll(() => deployment.close());

async function readDocument() {
  document = await readJson("/openapi.json");
  contract = contractOf(document);
}

const DOCUMENTS: [path: string, mediaType: string][] = [
  ["/openapi.json", "application/json"],
  ["/discovery", "application/json"],
  ["/.well-known/x402", "application/json"],
  ["/.well-known/x402.json", "application/json"],
  ["/.well-known/agent-card.json", "application/json"],
  ["/.well-known/agent.json", "application/json"],
  ["/.well-known/ai-plugin.json", "application/json"],
  ["/.well-known/mcp/server-card.json", "application/json"],
  ["/mcp/server-card", "application/mcp-server-card+json"],
  ["/.well-known/ai-catalog.json", "application/ai-catalog+json"],
  ["/.well-known/attestor-keys.json", "application/json"],
  ["/.well-known/jwks.json", "application/jwk-set+json"],
  ["/.well-known/api-catalog", "application/linkset+json"],
  ["/.well-known/security.txt", "text/plain"],
  ["/llms.txt", "text/plain"],
  ["/problems", "application/json"],
  ["/logo.svg", "image/svg+xml"],
  ["/block-capabilities", "application/json"],
];

/** Asks for a document as it is, which fetch by itself does not. */
const fetchPlain = (path: string, { headers, ...init }: RequestInit = {}) =>
  fetch(`${deployment.url}${path}`, { ...init, headers: { "accept-encoding": "identity", ...headers } });
const read = async (path: string) => (await fetch(`${deployment.url}${path}`)).text();
const readJson = async (path: string) => JSON.parse(await read(path));
/** All headers but those that differ in each answer. */
function ofAll(headers: Headers) {
  const { date: _date, "x-request-id": _id, ...rest } = Object.fromEntries(headers);
  return rest;
}

describe("every document", () => {
  test.each(DOCUMENTS)("%s has the media type of the contract, and may be cached", async (path, mediaType) => {
    const response = await fetchPlain(path);
    const { status, headers } = response;
    const text = await response.text();
    expect(contract({ method: "GET", path, status, headers, text })).toEqual([]);
    expect(headers.get("content-type")?.split(";")[0]).toBe(mediaType);
    expect(headers.get("access-control-allow-origin")).toBe("*");

    const etag = headers.get("etag") as string;
    const again = await fetchPlain(path, { headers: { "if-none-match": `"other", ${etag}` } });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
    const other = await fetchPlain(path, { headers: { "if-none-match": '"other"' } });
    expect([other.status, await other.text()]).toEqual([200, text]);

    const head = await fetchPlain(path, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    expect(head.headers.get("etag")).toBe(etag);
    const withQuery = await fetchPlain(`${path}?utm=1`);
    expect([await withQuery.text(), ofAll(withQuery.headers)]).toEqual([text, ofAll(headers)]);
  });

  test("links only to resources that exist", async () => {
    const texts = await Promise.all(DOCUMENTS.map(([path]) => read(path)));
    const urls = texts.flatMap((text) => text.match(/https?:\/\/[^\s"'()<>\\`,]+[^\s"'()<>\\`,.:;]/g) ?? []);
    // The origin is the service's name; its path / is the page, if that was built.
    // `{id}` in a template, and ID in a sample, stand for what the reader has.
    const isWhole = (url: string) => !/\{|\/(ID|SHA256|NETWORK|ADDRESS)(\/|$)/.test(url);
    const ours = [...new Set(urls.filter((url) => url.startsWith(`${deployment.url}/`) && isWhole(url)))];
    expect(ours.length).toBeGreaterThan(20);
    const statuses = await Promise.all(ours.map(async (url) => ({ url, status: (await fetch(url)).status })));
    // 405: the resource exists, for another method.
    expect(statuses.filter(({ status }) => ![200, 405].includes(status))).toEqual([]);
  });

  test("names no other host of ours", async () => {
    const texts = await Promise.all(DOCUMENTS.map(([path]) => read(path)));
    expect(texts.flatMap((text) => text.match(/https?:\/\/(localhost|127\.0\.0\.1)[^/"\s]*/g) ?? [])).toSatisfy(
      (origins: string[]) =>
        origins.every((origin) => [deployment.url, deployment.sandbox.facilitatorUrl].includes(origin)),
    );
  });
});

test.each(["curl", "Python", "JavaScript"])("the samples of the contract in %s run", async (label) => {
  const samples = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => [`${method} ${path}`, operation["x-codeSamples"]]),
    ),
  );
  const { url, sandbox } = deployment;
  const payment = await sign(`${url}/attest`, { txid: sandbox.sampleTransactions.algorand }, algorandClient(sandbox));
  const bought = await pay(`${url}/attest`, { txid: sandbox.sampleTransactions.algorand }, payment);
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "bundle.json"), bought.text);
  const run = async (operation: string) => {
    const source = samples[operation]?.find((one) => one.label === label)?.source ?? "";
    const [program = "", ...given] = RUNNERS[label] as string[];
    return (await promisify(execFile)(program, [...given, source], { cwd: folder.path })).stdout;
  };
  expect(await run("post /verify")).toContain('"verified":true');
  expect(await run("post /attest")).toContain('"x402Version":2');
  expect(await run("get /problems/{code}")).toContain('"advice":');
});

const RUNNERS: Readonly<Record<string, string[]>> = {
  curl: ["sh", "-c"],
  Python: ["python3", "-c"],
  JavaScript: [process.execPath, "--input-type=module", "--eval"],
};

test("/version says which commit this is, as git does, and the schema of the journal", async () => {
  const { stdout } = await promisify(execFile)("git", ["rev-parse", "HEAD"], { cwd: import.meta.dirname });
  const { name, version, revision, schema } = await readJson("/version");
  expect([name, version, revision]).toEqual(["attestd", document.info.version, stdout.trim()]);
  expect(schema).toBeGreaterThan(0);
});

test("/status says what is sold, by whom, and how far the ledger is", async () => {
  const { sandbox, url } = deployment;
  const [keys] = (await readJson("/.well-known/attestor-keys.json")).keys.toReversed();
  const offers = decodePaymentRequiredHeader(
    (await post(`${url}/attest`, { txid: sandbox.sampleTransactions.algorand })).headers.get("payment-required") ?? "",
  ).accepts;
  const asked = await fetch(`${sandbox.algorand.networkUrl}/v2/transactions/params`);
  const params = (await asked.json()) as { "last-round": number };
  const status = await readJson("/status");
  expect(status).toMatchObject({
    status: "pass",
    reasons: [],
    origin: url,
    sandbox: true,
    attestor: { kid: keys.kid, algorandAddress: keys.algorandAddress, fromRound: keys.fromRound },
    chains: expect.arrayContaining([{ chain: "algorand", networks: ["algorand-mainnet"] }]),
    networks: expect.arrayContaining([
      { network: "algorand-mainnet", priceUsdc: `${Number(offers[0]?.amount) / 1e6}` },
    ]),
  });
  expect(status.contact).toBeUndefined();
  expect(status.ledger.network).toMatch(/^algorand:/);
  expect(status.ledger.round).toBeGreaterThanOrEqual(params["last-round"] - 5);
  expect(Math.abs(Date.parse(status.ledger.seenAt) - Date.now())).toBeLessThan(60_000);
});

test.each(["/openapi.json", "/openapi.json?utm=1", "/llms.txt", "/.well-known/mcp/server-card.json"])(
  "%s is compressed for those who take gzip, under a tag of its own",
  async (path) => {
    const plain = await fetchPlain(path);
    const headers = { "accept-encoding": "gzip" };
    const compressed = await fetch(`${deployment.url}${path}`, { headers });
    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    const text = await plain.text();
    expect(await compressed.text()).toBe(text);
    expect(Number(compressed.headers.get("content-length"))).toBeLessThan(text.length / 2);
    expect([plain.headers.get("vary"), compressed.headers.get("vary")]).toEqual(["accept-encoding", "accept-encoding"]);
    const etag = compressed.headers.get("etag") as string;
    expect(etag).not.toBe(plain.headers.get("etag"));
    const again = await fetch(`${deployment.url}${path}`, { headers: { ...headers, "if-none-match": etag } });
    expect([again.status, again.headers.get("etag"), again.headers.get("vary")]).toEqual([
      304,
      etag,
      "accept-encoding",
    ]);
    expect((await fetchPlain(path, { headers: { "if-none-match": etag } })).status).toBe(200);
  },
);

test("/llms.txt has the grammar of the convention's parser: prose, then sections of links", async () => {
  // The grammar of llms_txt.parse_llms_file (github.com/AnswerDotAI/llms-txt, 0.0.6).
  const [start = "", ...rest] = (await read("/llms.txt")).split(/^##[^\S\n]*(.*?$)/m);
  const head = /^#\s*(?<title>.+?$)\n+(?:^>\s*(?<summary>.+?$))?\n+(?<info>[\s\S]*)/m.exec(start.trim())?.groups;
  expect(head).toMatchObject({ title: "attestd", summary: expect.stringContaining("proof bundle") });
  expect(head?.info).toContain("PAYMENT-SIGNATURE");
  const sections = rest.flatMap((name, i) => (i % 2 === 0 ? [[name, rest[i + 1] ?? ""] as const] : []));
  expect(sections.map(([name]) => name)).toEqual(["Paid", "Free", "Agents", "Documents"]);
  for (const [name, links] of sections) {
    const lines = links.trim().split(/\n+/);
    expect([name, lines.filter((line) => !/-\s*\[[^\]]+\]\([^)]+\)(?::\s*.*)?/.test(line))]).toEqual([name, []]);
  }
});

test("the MCP server card has SEP-2127's form and path", async () => {
  const catalog = await readJson("/.well-known/ai-catalog.json");
  expect(catalog).toEqual({
    specVersion: "1.0",
    entries: [
      {
        identifier: "urn:air:localhost:mcp:attestd",
        type: "application/mcp-server-card+json",
        url: `${deployment.url}/mcp/server-card`,
      },
    ],
  });
  const answer = await fetch(catalog.entries[0].url, { headers: { accept: "application/mcp-server-card+json" } });
  const card = (await answer.json()) as Record<string, string>;
  expect(answer.headers.get("content-type")).toBe("application/mcp-server-card+json");
  // What its schema requires (github.com/modelcontextprotocol/experimental-ext-server-card, 8924e08).
  expect(card).toMatchObject({
    $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    name: expect.stringMatching(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
    version: "0.1.0",
    description: expect.stringMatching(/^.{1,100}$/),
    title: expect.stringMatching(/^.{1,100}$/),
    remotes: [{ type: "streamable-http", url: `${deployment.url}/mcp` }],
  });
  expect(await readJson("/.well-known/mcp/server-card.json")).toEqual(card);
});

describe("the OpenAPI document", () => {
  test("has no errors by two validators", async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    await using folder = await temporaryFolder();
    const file = join(folder.path, "openapi.json");
    await writeFile(file, JSON.stringify(document));
    const redocly = join(import.meta.dirname, "../../node_modules/@redocly/cli/bin/cli.js");
    const { stdout } = await promisify(execFile)(process.execPath, [redocly, "lint", "--format=json", file], {
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    });
    expect(JSON.parse(stdout).problems).toEqual([]);
  });

  test("has the paid operations and ways to pay in the form that indexers read", () => {
    // agentcash.dev/docs/discovery, which x402scan follows.
    expect(document).toMatchObject({
      info: { "x-guidance": expect.stringContaining("PAYMENT-SIGNATURE"), contact: { email: expect.any(String) } },
    });
    for (const path of ["/attest", "/attest-block", "/prove-tx-inclusion"])
      expect(document.paths[path]?.post).toMatchObject({
        "x-payment-info": { protocols: [{ x402: {} }], price: { mode: "fixed", currency: "USD", amount: "0.001" } },
        requestBody: { content: { "application/json": { schema: expect.anything() } } },
        responses: { 402: expect.anything() },
      });
  });

  test("is of version 3.1.0, describes interface 0.1.0, and names each operation of it", () => {
    expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "0.1.0" }, security: [] });
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations).toEqual(
      expect.arrayContaining([
        "GET /health",
        "GET /ready",
        "GET /discovery",
        "GET /openapi.json",
        "GET /.well-known/x402",
        "GET /.well-known/x402.json",
        "GET /.well-known/agent-card.json",
        "GET /.well-known/agent.json",
        "GET /.well-known/ai-plugin.json",
        "GET /llms.txt",
        "POST /verify",
        "POST /attest",
        "POST /attest-block",
        "POST /prove-tx-inclusion",
        "POST /verify-block",
        "POST /verify-tx-inclusion",
        "GET /block-capabilities",
      ]),
    );
  });
});

test("a page of another origin can pay, and read the payment's headers", async () => {
  const asked = await fetch(`${deployment.url}/attest`, {
    method: "OPTIONS",
    headers: {
      origin: "https://page.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "access-control-expose-headers,content-type,payment-signature",
    },
  });
  expect(asked.status).toBe(204);
  expect(asked.headers.get("access-control-allow-origin")).toBe("*");
  expect(asked.headers.get("access-control-allow-methods")).toContain("POST");
  expect(asked.headers.get("access-control-allow-headers")?.toLowerCase().split(", ")).toEqual(
    expect.arrayContaining([
      "payment-signature",
      "content-type",
      // Sent by @x402/fetch and @x402/axios with a payment.
      "access-control-expose-headers",
      "authorization",
      "traceparent",
      "tracestate",
      "a2a-version",
      "x-a2a-extensions",
      "mcp-protocol-version",
    ]),
  );
  const priced = await fetch(`${deployment.url}/attest`, {
    method: "POST",
    headers: { origin: "https://page.example" },
  });
  expect(priced.status).toBe(402);
  expect(priced.headers.get("access-control-allow-origin")).toBe("*");
  expect(priced.headers.get("access-control-expose-headers")).toContain("PAYMENT-REQUIRED, PAYMENT-RESPONSE");
});

test("the key history and the JWK Set have the same keys", async () => {
  const [{ keys: history }, { keys }] = [
    await readJson("/.well-known/attestor-keys.json"),
    await readJson("/.well-known/jwks.json"),
  ];
  expect(keys).toEqual(
    history.map(({ kid, pqPublicKey }: Record<string, string>) => ({
      kty: "AKP",
      alg: "ML-DSA-65",
      use: "sig",
      kid,
      pub: Buffer.from(pqPublicKey as string, "base64").toString("base64url"),
    })),
  );
});

describe("the ways to pay", () => {
  const SEVEN = ["scheme", "network", "asset", "payTo", "maxAmountRequired", "priceUsdc", "facilitatorUrl"] as const;

  /** The ways to pay, as each document states them. */
  async function tables() {
    const { x402 } = await readJson("/discovery");
    const { resources } = await readJson("/.well-known/x402");
    const { paths } = await readJson("/openapi.json");
    const paid = ["/attest", "/attest-block", "/prove-tx-inclusion"];
    // A batch has prices of its own, which batch.test.ts compares.
    const single = resources.filter(({ url }: { url: string }) => !url.endsWith("/attest-batch"));
    return [
      x402,
      ...single.map(({ url, method, description, mimeType, ...terms }: Record<string, unknown>) => terms),
      ...paid.map((path) => paths[path].post["x-x402"]),
    ];
  }

  function expected(over: { price?: [string, string]; base?: boolean } = {}) {
    const [maxAmountRequired, priceUsdc] = over.price ?? ["1000", "0.001"];
    const { payTo, facilitatorUrl } = deployment.sandbox;
    const common = { scheme: "exact", maxAmountRequired, priceUsdc, facilitatorUrl };
    const algorand = { ...common, network: "algorand-mainnet", asset: "31566704", payTo: payTo.algorand };
    const asset = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    const accepts =
      over.base === false ? [algorand] : [algorand, { ...common, network: "eip155:8453", asset, payTo: payTo.base }];
    const headers = ["PAYMENT-REQUIRED", "PAYMENT-SIGNATURE", "PAYMENT-RESPONSE"];
    return { version: 2, ...algorand, headers, accepts };
  }

  test("are the same seven strings each in discovery, the x402 document and the contract", async () => {
    const all = await tables();
    expect(all).toHaveLength(7);
    for (const table of all) expect(table).toEqual(expected());
    for (const option of all[0].accepts) {
      expect(Object.keys(option)).toEqual(SEVEN);
      expect(Object.values(option).every((value) => typeof value === "string")).toBe(true);
    }
    const { json } = await post(`${deployment.url}/attest`, "");
    const options = json.options as unknown[];
    expect(options.slice(0, 2)).toEqual(all[0].accepts);
  });

  test("name Solana only in the text index and in the 402 of a Base source", async () => {
    const solana = deployment.sandbox.payTo.solana as string;
    for (const [path] of DOCUMENTS.filter(([path]) => path !== "/llms.txt")) {
      const text = await read(path);
      expect([path, text.includes(solana), text.includes("solana:")]).toEqual([path, false, false]);
    }
    const llms = await read("/llms.txt");
    expect(llms).toContain(
      `asset EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v, payTo ${solana}, amount 1000 micro-USDC (0.001 USDC)`,
    );
  });

  test("and every link follow the settings", async () => {
    const contact = "mailto:attest@attestd.example";
    await deployment.restart({
      public_url: "https://attestd.example",
      mcp_url: "https://mcp.example",
      prices: { call_micro_usdc: 4000 },
      rails: { algorand: { price_micro_usdc: 2500 }, base: undefined },
      facilitators: [{ url: deployment.sandbox.facilitatorUrl, rails: ["algorand", "solana"] }],
      contact,
    });
    await readDocument();
    for (const table of await tables()) expect(table).toEqual(expected({ price: ["2500", "0.0025"], base: false }));
    for (const line of ["amount 2500 micro-USDC (0.0025 USDC)", "amount 4000 micro-USDC (0.004 USDC)"])
      expect(await read("/llms.txt")).toContain(line);
    const { json: required } = await post(`${deployment.url}/attest`, "");
    const amounts = ({ accepts }: { accepts?: unknown }) =>
      (accepts as { amount: string }[]).map(({ amount }) => amount);
    expect(amounts(required)).toEqual(["2500", "4000"]);
    const { algorand, base } = deployment.sandbox.sampleTransactions;
    for (const [txid, prices] of [
      [algorand, ["2500"]],
      [base, ["2500", "4000"]],
    ] as const)
      for (const demand of Object.values(await demandsOf(deployment.url, txid as string)))
        expect(amounts(demand)).toEqual(prices);
    expect(await readJson("/.well-known/x402.json")).toMatchObject({
      links: {
        openapi: "https://attestd.example/openapi.json",
        discovery: "https://attestd.example/discovery",
        textIndex: "https://attestd.example/llms.txt",
        mcp: "https://mcp.example/mcp",
      },
    });
    expect(await readJson("/.well-known/agent-card.json")).toMatchObject({ url: "https://attestd.example/a2a" });
    expect(await readJson("/.well-known/mcp/server-card.json")).toMatchObject({
      remotes: [{ url: "https://mcp.example/mcp" }],
    });
    expect(await readJson("/.well-known/ai-plugin.json")).toMatchObject({
      api: { type: "openapi", url: "https://attestd.example/openapi.json" },
      contact_email: "attest@attestd.example",
    });
    expect(await read("/.well-known/security.txt")).toMatch(
      /^Contact: mailto:attest@attestd\.example\nExpires: 20\d\d-\d\d-\d\dT00:00:00Z\n/,
    );
    // The first entry of the key history keeps its original origin.
    const texts = await Promise.all(
      DOCUMENTS.filter(([path]) => path !== "/.well-known/attestor-keys.json").map(([path]) => read(path)),
    );
    expect(texts.join("\n")).not.toContain(deployment.url);
  });
});
