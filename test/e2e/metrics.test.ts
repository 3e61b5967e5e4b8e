import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COUNTERS, GAUGES, HISTOGRAMS } from "../../packages/service/src/metrics/table.ts";
import { algorandClient, type Deployment, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] }, { ADMIN_PORT: "0" });
});
afterAll(() => deployment.close());

async function scrape(): Promise<string> {
  const response = await fetch(`${deployment.adminUrl}/metrics`);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  return response.text();
}

/** The value of a sample, in Prometheus' text format. */
function sampleOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  for (const line of text.split("\n")) {
    const [, found, set = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const own = Object.entries(labels).every(([label, at]) => set.split(",").includes(`${label}="${at}"`));
    if (found === name && own) return Number(value);
  }
  return undefined;
}

test("a purchase, its verification and a price are counted, each once", async () => {
  const body = { txid: deployment.sandbox.sampleTransactions.algorand };
  const before = await scrape();
  const calls = { rail: "algorand", subject: "transaction" };
  const attest = { endpoint: "/attest", payment: "none" };
  expect(sampleOf(before, "attestd_calls_total", { ...calls, outcome: "owed" })).toBe(0);
  expect(sampleOf(before, "attestd_http_answers_total", { ...attest, status: "500" })).toBe(0);

  const url = `${deployment.url}/attest`;
  const payment = await sign(url, body, algorandClient(deployment.sandbox));
  const bought = await payUntilAnswered(url, body, payment);
  expect(bought.status).toBe(200);
  const bundle = bought.text;
  expect((await post(`${deployment.url}/verify`, bundle)).status).toBe(200);
  expect((await post(`${deployment.url}/verify`, bundle.replace('"round":', '"round":1'))).status).toBe(400);

  const after = await scrape();
  expect(sampleOf(after, "attestd_calls_total", { ...calls, outcome: "done" })).toBe(1);
  expect(sampleOf(after, "attestd_call_duration_seconds_count", calls)).toBe(1);
  for (const state of ["settling", "paid", "signed", "confirmed", "done"])
    expect(sampleOf(after, "attestd_call_transitions_total", { rail: "algorand", state }), state).toBe(1);
  for (const stage of ["settle", "sign", "submit", "seal"])
    expect(sampleOf(after, "attestd_call_stage_duration_seconds_count", { stage }), stage).toBeGreaterThan(0);
  expect(sampleOf(after, "attestd_settlements_total", { rail: "algorand", outcome: "success" })).toBe(1);
  const type = "transaction-attestation";
  expect(sampleOf(after, "attestd_verifications_total", { type, verdict: "verified" }), after).toBe(1);
  expect(sampleOf(after, "attestd_verifications_total", { type, verdict: "rejected" })).toBe(1);
  expect(sampleOf(after, "attestd_http_answers_total", { ...attest, status: "402" })).toBe(1);
  expect(sampleOf(after, "attestd_http_answers_total", { endpoint: "/attest", payment: "sent", status: "200" })).toBe(
    1,
  );
  expect(sampleOf(after, "attestd_journal_commit_duration_seconds_count", { operation: "insert" })).toBe(1);
  expect(sampleOf(after, "attestd_ready")).toBe(1);
  expect(sampleOf(after, "attestd_rail_open", { rail: "algorand" })).toBe(1);
  expect(sampleOf(after, "attestd_upstream_breakers_open")).toBe(0);
  expect(sampleOf(after, "attestd_attestations_affordable")).toBeGreaterThan(1_000);
  expect(sampleOf(after, "attestd_ledger_round")).toBeGreaterThan(sampleOf(before, "attestd_ledger_round") as number);
  expect(sampleOf(after, "attestd_upstream_requests_total", { outcome: "answered" })).toBeGreaterThan(0);
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
