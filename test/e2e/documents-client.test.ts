import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { giveTable } from "./checkpoint-table.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";

/* Generates a client from the OpenAPI document, compiles it, and calls every free operation. */

const ROOT = resolve(import.meta.dirname, "../..");

/** Runs Node. @throws Error with its output */
async function run(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error) => {
    throw new Error(`${args.join(" ")} failed: ${error.stdout}${error.stderr}`, { cause: error });
  });
  return stdout;
}

const { resolve: locate } = createRequire(import.meta.url);
const generator = join(locate("openapi-typescript/package.json"), "../bin/cli.js");
/** openapi-typescript needs the compiler's JavaScript API. */
const withApi = String(pathToFileURL(join(ROOT, "build/typescript-api.mjs")));

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] });
  await giveTable(deployment);
});
afterAll(() => deployment.close());

/** The program that uses the client. A file has the bundles, an argument the service's address. */
const PROGRAM = `
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.ts";

type Schemas = components["schemas"];
const [, , baseUrl, file] = process.argv as [string, string, string, string];
const bundles: { proof: Schemas["ProofBundle"]; block: Schemas["BlockBundle"]; inclusion: Schemas["InclusionBundle"]; id: string; network: string; address: string } =
  JSON.parse(readFileSync(file, "utf8"));
const client = createClient<paths>({ baseUrl });
const answers = [
  await client.GET("/health"),
  await client.GET("/ready"),
  await client.GET("/block-capabilities"),
  await client.GET("/bundles/{id}", { params: { path: { id: bundles.id } } }),
  await client.GET("/bundles/{id}/evidence", { params: { path: { id: bundles.id }, query: { detached: "1" } } }),
  await client.GET("/.well-known/attestor-keys.json"),
  await client.GET("/.well-known/jwks.json"),
  await client.GET("/.well-known/algorand-checkpoints.json"),
  await client.GET("/problems"),
  await client.GET("/problems/{code}", { params: { path: { code: "body_invalid" } } }),
  await client.POST("/verify", { body: bundles.proof, params: { query: { chain: "1" } } }),
  await client.POST("/verify-block", { body: bundles.block }),
  await client.POST("/verify-tx-inclusion", { body: bundles.inclusion }),
  await client.GET("/openapi.json"),
  await client.GET("/discovery"),
  await client.GET("/.well-known/x402"),
  await client.GET("/.well-known/x402.json"),
  await client.GET("/.well-known/agent-card.json"),
  await client.GET("/.well-known/agent.json"),
  await client.GET("/.well-known/ai-plugin.json"),
  await client.GET("/.well-known/mcp/server-card.json"),
  await client.GET("/mcp/server-card"),
  await client.GET("/.well-known/ai-catalog.json"),
  await client.GET("/.well-known/api-catalog"),
  await client.GET("/.well-known/security.txt", { parseAs: "text" }),
  await client.GET("/llms.txt", { parseAs: "text" }),
  await client.GET("/logo.svg", { parseAs: "text" }),
  await client.GET("/status"),
  await client.GET("/version"),
  await client.GET("/networks/{network}", { params: { path: { network: bundles.network } } }),
  await client.GET("/networks/{network}/balances/{address}", {
    params: { path: { network: bundles.network, address: bundles.address } },
  }),
];

// The types have the members of replies, of problems, and of PaymentRequired.
const report = await client.POST("/verify", { body: bundles.proof });
const verified: boolean | undefined = report.data?.verified;
const refused = await client.POST("/verify", { body: { ...bundles.proof, attest: { ...bundles.proof.attest, round: 1 } } });
const failures = refused.error?.report?.failures.map(({ check }) => check) ?? [];
const priced = await client.POST("/attest", { body: { txid: bundles.proof.source.txnId } });
const offers = priced.error && "accepts" in priced.error ? priced.error.accepts.map(({ amount }) => amount) : [];
// @ts-expect-error an id is a string
void (() => client.POST("/attest", { body: { txid: 7 } }));
// @ts-expect-error there is no such path
void (() => client.GET("/nothing"));

const told = answers.map(({ response, data }) => [new URL(response.url).pathname, response.status, data !== undefined]);
console.log(JSON.stringify({ answers: told, verified, failures, offers }));
`;

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "es2024",
    module: "nodenext",
    types: ["node"],
    allowImportingTsExtensions: true,
    exactOptionalPropertyTypes: true,
  },
};

async function buy(path: string, body: unknown) {
  const url = `${deployment.url}${path}`;
  const { status, text } = await pay(url, body, await sign(url, body, algorandClient(deployment.sandbox)));
  expect(status).toBe(200);
  return JSON.parse(text);
}

test("a generated client compiles and calls every free operation", { timeout: 240_000 }, async () => {
  const { algorand: txid, algorandHeight: height } = deployment.sandbox.sampleTransactions;
  const chain = "algorand";
  const [proof, block, inclusion] = await Promise.all([
    buy("/attest", { txid }),
    buy("/attest-block", { chain, height }),
    buy("/prove-tx-inclusion", { chain, txId: txid, height }),
  ]);
  const { bundleId } = await import("@attestd/proof");
  const { accepts } = (await post(`${deployment.url}/attest`, { txid })).json as { accepts: { network: string }[] };
  const network = accepts[0]?.network ?? "";
  const address = deployment.sandbox.payTo.algorand;

  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  const document = await (await fetch(`${deployment.url}/openapi.json`)).text();
  await mkdir(at("client"));
  await symlink(join(ROOT, "node_modules"), at("node_modules"));
  await writeFile(at("openapi.json"), document);
  await writeFile(
    at("bundles.json"),
    JSON.stringify({ proof, block, inclusion, id: bundleId(proof), network, address }),
  );
  await writeFile(at("client/package.json"), '{"type":"module"}');
  await writeFile(at("client/tsconfig.json"), JSON.stringify(TSCONFIG));
  await writeFile(at("client/program.ts"), PROGRAM);
  await run("--import", withApi, generator, at("openapi.json"), "-o", at("client/schema.ts"));

  await run(join(ROOT, "node_modules/typescript/lib/tsc.js"), "-p", at("client"));
  const told: { answers: [path: string, status: number, data: boolean][] } = JSON.parse(
    await run(at("client/program.ts"), deployment.url, at("bundles.json")),
  );
  expect(told).toMatchObject({ verified: true, offers: ["1000"] });
  expect(told).toMatchObject({ failures: expect.arrayContaining(["signature"]) });
  expect(told.answers.filter(([, status, data]) => ![200, 202].includes(status) || !data)).toEqual([]);

  type Item = Record<string, { "x-x402"?: unknown }>;
  const free = Object.entries<Item>(JSON.parse(document).paths)
    .filter(([, item]) => Object.values(item).every((operation) => operation["x-x402"] === undefined))
    // There is no state proof here; evidence.test.ts fetches one.
    .filter(([path]) => path !== "/stateproofs/{sha256}")
    .map(([path]) => path.replace("{id}", bundleId(proof)).replace("{code}", "body_invalid"))
    .map((path) => path.replace("{network}", encodeURIComponent(network)).replace("{address}", address));
  expect(told.answers.map(([path]) => path).sort()).toEqual(free.sort());
});
