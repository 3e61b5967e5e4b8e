import { afterEach, expect, test } from "vitest";
import { increaseOf, sampleOf } from "../../../../../test/helpers/samples.ts";
import { gauge, startMetrics } from "./meter.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

test("a gauge that fails, is late or has no value is left out, and the others are served", async () => {
  const metrics = await startMetrics();
  const before = await metrics.text();
  ends.push(
    gauge("journalSize", () => Promise.reject(new Error("the connection was refused"))),
    gauge("round", () => {
      throw new Error("no round");
    }),
    gauge("oldestEvidence", () => new Promise(() => undefined)),
    gauge("journalFree", () => []),
    gauge("ready", () => [{ labels: {}, value: 1 }]),
    gauge("signerUsable", () => [{ labels: { key: "pq", signer: "seed" }, value: 1 }]),
    gauge("signerUsable", () => Promise.reject(new Error("no such key"))),
  );
  const begun = performance.now();
  const after = await metrics.text();
  // Prometheus abandons a scrape after ten seconds; the service promises one second per gauge, all read in parallel.
  expect(performance.now() - begun).toBeLessThan(3_000);

  const absent = ["journal_size_bytes", "ledger_round", "oldest_evidence_seconds", "journal_free_bytes"];
  for (const name of absent) expect(sampleOf(after, `attestd_${name}`), name).toBeUndefined();
  expect(sampleOf(after, "attestd_ready")).toBe(1);
  expect(sampleOf(after, "attestd_signer_usable", { key: "pq" })).toBe(1);
  expect(sampleOf(after, "process_cpu_seconds_total")).toBeGreaterThan(0);
  const failed = [
    "journal_size_bytes",
    "ledger_round",
    "oldest_evidence_seconds",
    "signer_usable",
    "journal_free_bytes",
  ];
  expect(
    failed.map((name) =>
      increaseOf([before, after], "attestd_metric_read_failures_total", { metric: `attestd_${name}` }),
    ),
  ).toEqual([1, 1, 1, 1, 0]);
});

test("a read that is under way is waited for by every scrape, and adds up in none", async () => {
  let reads = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  ends.push(
    gauge("journalSize", async () => {
      reads += 1;
      await promise;
      return [{ labels: {}, value: 4_096 }];
    }),
  );
  const metrics = await startMetrics();
  // Both have asked for the gauge before they first wait.
  const scrapes = [metrics.text(), metrics.text()];
  expect(reads).toBe(1);
  resolve();
  const texts = await Promise.all(scrapes);
  expect(texts.map((text) => sampleOf(text, "attestd_journal_size_bytes"))).toEqual([4_096, 4_096]);
  expect(reads).toBe(1);
  await metrics.text();
  expect(reads).toBe(2);
});
