import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COUNTERS, GAUGES, HISTOGRAMS } from "../../packages/service/src/observe/metrics/table.ts";
import { increaseOf, sampleOf } from "../helpers/samples.ts";
import { algorandClient, type Deployment, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";
import { demandsOf, transportsOf } from "./transports.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] }, { admin: { port: 0 } });
});
afterAll(() => deployment.close());

async function scrape(): Promise<string> {
  const response = await fetch(`${deployment.adminUrl}/metrics`);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  return response.text();
}

/** A request for an attestation, and its payment. */
async function signed() {
  const body = { txid: deployment.sandbox.sampleTransactions.algorand };
  const url = `${deployment.url}/attest`;
  const payment = await sign(url, body, algorandClient(deployment.sandbox));
  return () => payUntilAnswered(url, body, payment);
}

const CALLS = { rail: "algorand", subject: "transaction" };

test("counters that an operator alerts on are there before anything is counted", async () => {
  const text = await scrape();
  for (const outcome of ["owed", "loss"])
    expect(sampleOf(text, "attestd_calls_total", { ...CALLS, outcome }), outcome).toBeGreaterThanOrEqual(0);
  for (const payment of ["none", "sent"]) {
    const failures = { transport: "http", endpoint: "/attest", status: "500", payment };
    expect(sampleOf(text, "attestd_http_answers_total", failures), payment).toBeGreaterThanOrEqual(0);
  }
});

test("a purchase, its verification and a price are counted, each once, whatever was counted before", async () => {
  expect((await (await signed())()).status).toBe(200);
  const before = await scrape();
  const { status, text: bundle } = await (await signed())();
  expect(status).toBe(200);
  expect((await post(`${deployment.url}/verify`, bundle)).status).toBe(200);
  expect((await post(`${deployment.url}/verify`, bundle.replace('"round":', '"round":1'))).status).toBe(400);

  const after = await scrape();
  const grown = (name: string, labels?: Readonly<Record<string, string>>) => increaseOf([before, after], name, labels);
  const algod = new URL(deployment.sandbox.algodUrl).host;
  const attest = { transport: "http", endpoint: "/attest" };
  expect(grown("attestd_calls_total", { ...CALLS, outcome: "done" })).toBe(1);
  expect(grown("attestd_call_duration_seconds_count", CALLS)).toBe(1);
  for (const state of ["settling", "paid", "signed", "confirmed", "done"])
    expect(grown("attestd_call_transitions_total", { rail: "algorand", state }), state).toBe(1);
  for (const stage of ["settle", "sign", "submit", "seal"])
    expect(grown("attestd_call_stage_duration_seconds_count", { stage }), stage).toBeGreaterThan(0);
  // The chain may show the payment before the facilitator answers, and the call end before its answer is counted.
  const settled = async () => {
    const now = await scrape();
    return ["success", "not_awaited", "pending", "refused", "failed"].map((outcome) =>
      increaseOf([before, now], "attestd_settlements_total", { rail: "algorand", outcome }),
    );
  };
  await expect.poll(async () => (await settled()).join(), { timeout: 60_000 }).toMatch(/^(1,0|0,1),0,0,0$/);
  const type = "transaction-attestation";
  expect(grown("attestd_verifications_total", { type, verdict: "verified" }), after).toBe(1);
  expect(grown("attestd_verifications_total", { type, verdict: "rejected" })).toBe(1);
  expect(grown("attestd_http_answers_total", { ...attest, payment: "none", status: "402" })).toBe(1);
  expect(grown("attestd_http_answers_total", { ...attest, payment: "sent", status: "200" })).toBe(1);
  expect(grown("attestd_journal_commit_duration_seconds_count", { operation: "insert" })).toBe(1);
  expect(sampleOf(after, "attestd_ready")).toBe(1);
  expect(sampleOf(after, "attestd_rail_open", { rail: "algorand" })).toBe(1);
  expect(sampleOf(after, "attestd_upstream_breakers_open", { upstream: algod })).toBe(0);
  expect(sampleOf(after, "attestd_attestations_affordable")).toBeGreaterThan(1_000);
  expect(grown("attestd_ledger_round")).toBeGreaterThan(0);
  expect(grown("attestd_upstream_requests_total", { upstream: algod, outcome: "answered" })).toBeGreaterThan(0);
});

test("a call is counted once, however often its payment comes: meanwhile, and once it is delivered", async () => {
  const before = await scrape();
  const buy = await signed();
  const answers = [...(await Promise.all([buy(), buy(), buy()])), await buy()];
  const bundles = new Set(answers.map(({ status, text }) => (status === 200 ? text : status)));
  expect(bundles.size).toBe(1);

  const after = await scrape();
  const grown = (name: string, labels: Readonly<Record<string, string>>) => increaseOf([before, after], name, labels);
  expect(
    grown("attestd_http_answers_total", { transport: "http", endpoint: "/attest", payment: "sent", status: "200" }),
  ).toBe(4);
  expect(grown("attestd_payments_total", { rail: "algorand", answer: "delivered" })).toBeGreaterThan(1);
  expect(grown("attestd_calls_total", { ...CALLS, outcome: "done" })).toBe(1);
  expect(grown("attestd_call_duration_seconds_count", CALLS)).toBe(1);
  expect(grown("attestd_call_transitions_total", { rail: "algorand", state: "done" })).toBe(1);
});

test("calls over MCP and A2A are counted as HTTP answers them, paid or not", async () => {
  const txid = deployment.sandbox.sampleTransactions.algorand;
  const pay = () => sign(`${deployment.url}/attest`, { txid }, algorandClient(deployment.sandbox));
  const before = await scrape();
  await demandsOf(deployment.url, txid);
  await demandsOf(deployment.url, "no transaction's id").catch(() => undefined);
  const between = await scrape();
  await using transports = await transportsOf(deployment.url);
  for (const transport of ["MCP", "A2A"] as const)
    expect(await transports[transport](txid, await pay()), transport).toMatchObject({ kind: "delivered" });
  const after = await scrape();

  for (const transport of ["mcp", "a2a"]) {
    const grown = (texts: readonly [string, string], status: string, payment = "none") =>
      increaseOf(texts, "attestd_http_answers_total", { transport, endpoint: "/attest", status, payment });
    const unpaid = ["402", "400", "200"].map((status) => grown([before, between], status));
    expect(unpaid, transport).toEqual([1, 1, 0]);
    expect(grown([between, after], "200", "sent"), transport).toBe(1);
    const failures = { transport, endpoint: "/attest", status: "500", payment: "none" };
    expect(sampleOf(before, "attestd_http_answers_total", failures), transport).toBeGreaterThanOrEqual(0);
  }
});

test("every metric is described, and promtool finds no fault", async () => {
  const text = await scrape();
  for (const { name, help } of [COUNTERS, GAUGES, HISTOGRAMS].flatMap((metrics) => Object.values(metrics)))
    expect(text).toContain(`# HELP ${name} ${help}\n`);
  const { error, status, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  if (error) console.log("promtool is not installed (apt-get install prometheus): the metrics are not linted");
  else
    expect({ status, stderr: stderr.split("\n").filter((line) => line.includes("attestd_")) }).toEqual({
      status,
      stderr: [],
    });
});

test("the listener shows the metrics alone, and the public one does not show them", async () => {
  const { adminUrl, url } = deployment;
  expect((await fetch(`${adminUrl}/`)).status).toBe(404);
  expect((await fetch(`${adminUrl}/metrics`, { method: "POST" })).status).toBe(405);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
});
