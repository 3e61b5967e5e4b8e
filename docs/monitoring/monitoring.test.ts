import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { metricsTable } from "../../build/metrics-table.ts";
import { COUNTERS, GAUGES, HISTOGRAMS } from "../../packages/service/src/observe/metrics/table.ts";

const read = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8");
const namesOf = (metrics: Readonly<Record<string, { name: string }>>) => Object.values(metrics).map(({ name }) => name);

/** Every name that Prometheus has of our metrics. */
const SERVED = new Set([
  ...namesOf(COUNTERS),
  ...namesOf(GAUGES),
  ...namesOf(HISTOGRAMS).flatMap((name) => ["bucket", "count", "sum"].map((part) => `${name}_${part}`)),
]);

test("the page lists the metrics that are served", () => {
  const cells = (table: string) => table.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const [, onPage = ""] = read("README.md").split(/<!-- metrics -->\n|\n<!-- end -->/);
  const rows = (table: string) => cells(table.trim()).filter(([, name]) => name?.startsWith("`"));
  expect(rows(onPage)).toEqual(rows(metricsTable()));
});

test.each(["alerts.yml", "alerts.test.yml", "dashboard.json"])("%s names no other metric", (file) => {
  const named = new Set(read(file).match(/\battestd_\w+/g));
  expect(named.size).toBeGreaterThan(4);
  expect([...named].filter((name) => !SERVED.has(name))).toEqual([]);
});

test("the page says what to do about each alert, and the dashboard shows every metric but the version", () => {
  const alerts = read("alerts.yml").match(/(?<=alert: )\w+/g) ?? [];
  const [, advice = ""] = read("README.md").split(/\n## Alerts, and what to do\n|\n## Tried\n/);
  const advised = advice.match(/(?<=`)Attestd\w+(?=`)/g) ?? [];
  expect(alerts.toSorted()).toEqual(advised.toSorted());
  const shown = read("dashboard.json");
  const unseen = [COUNTERS, GAUGES, HISTOGRAMS].flatMap(namesOf).filter((name) => !shown.includes(name));
  expect(unseen).toEqual(["attestd_build_info"]);
});

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool) console.log("promtool is not installed (apt-get install prometheus): the alert rules are not tried");

test.skipIf(!hasPromtool)("promtool takes the rules, and each incident fires its alert and ends it", () => {
  for (const args of [
    ["check", "rules", "alerts.yml"],
    ["test", "rules", "alerts.test.yml"],
  ]) {
    const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: import.meta.dirname, encoding: "utf8" });
    expect({ status, said: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, said: "" });
  }
});

const hasAmtool = spawnSync("amtool", ["--version"]).status === 0;
if (!hasAmtool)
  console.log("amtool is not installed (apt-get install prometheus-alertmanager): its example is not tried");

test.skipIf(!hasAmtool)("amtool takes the example, which has a receiver of its own for each severity", () => {
  const amtool = (...args: string[]) => spawnSync("amtool", args, { cwd: import.meta.dirname, encoding: "utf8" });
  const { status, stderr } = amtool("check-config", "alertmanager.yml");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const severities = new Set(read("alerts.yml").match(/(?<=severity: )\w+/g));
  const receivers = [...severities].map((severity) =>
    amtool("config", "routes", "test", "--config.file=alertmanager.yml", `severity=${severity}`).stdout.trim(),
  );
  expect(Object.fromEntries([...severities].map((severity, i) => [severity, receivers[i]]))).toEqual({
    page: "page",
    ticket: "ticket",
  });
});
