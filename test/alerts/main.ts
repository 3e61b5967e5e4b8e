import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { type Alertmanager, findAlertmanager, type Message, startAlertmanager } from "./alertmanager.ts";
import { INCIDENTS, type Incident } from "./incidents.ts";
import { FACTOR, freePort } from "./program.ts";
import { findPrometheus, type Prometheus, startPrometheus } from "./prometheus.ts";
import { openStage, type Stage } from "./stage.ts";

/*
 * npm run test:alerts
 *
 * A real Prometheus scrapes a real service that sells all the time. Each incident is made, must fire its alerts, is ended,
 * and must end them. The result is written into docs/monitoring/README.md.
 */

const PAGE = new URL("../../docs/monitoring/README.md", import.meta.url);
const SECTION = /(<!-- the last run of test:alerts -->)[\s\S]*(<!-- end of the run -->)/;
/** How long an alert may take to fire or to end, and how long the first metrics may take, in ms. */
const PATIENCE_MS = 240_000;
const POLL_MS = 250;
const WARM_UP = 12;
/** Served only where traces are sent, which this service does not. */
const OF_TRACES = "attestd_trace_spans_total";

type Row = { incident: Incident; fired: number[]; ended: number; skipped?: string };

const found = findPrometheus();
if ("missing" in found) console.log(`skipped: ${found.missing}`);
else process.exitCode = (await run(found.version)) ? 0 : 1;

async function run(version: string): Promise<boolean> {
  await using folder = await temporaryFolder();
  const adminPort = await freePort();
  await using opened = new AsyncDisposableStack();
  const pager = await openPager(join(folder.path, "alertmanager"));
  if (pager) opened.use(pager);
  await using stage = await openStage(adminPort);
  const target = `127.0.0.1:${adminPort}`;
  await using prometheus = await startPrometheus(join(folder.path, "prometheus"), target, pager ? [pager.url] : []);
  await until(async () => stage.delivered() >= WARM_UP, "the first purchases");
  const areServed = async () => (await unservedMetrics(prometheus)).length === 0;
  await until(areServed, "a sample of every metric").catch(() => undefined);
  const unserved = await unservedMetrics(prometheus);
  if (unserved.length > 0) console.log(`no sample under load: ${unserved.join(", ")}`);
  await until(async () => (await prometheus.firing()).size === 0, "quiet before the first incident");

  const rows: Row[] = [];
  for (const incident of INCIDENTS) {
    const row = await play(incident, stage, prometheus, pager);
    rows.push(row);
    console.log(cells(row).join(" | "));
  }
  const text = report(rows, version, stage.delivered(), pager);
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(
    PAGE,
    page.replace(SECTION, (_, start, end) => `${start}\n\n${text}\n\n${end}`),
  );
  return unserved.length === 0;
}

async function play(
  incident: Incident,
  stage: Stage,
  prometheus: Prometheus,
  pager: Alertmanager | undefined,
): Promise<Row> {
  const skipped = incident.skip?.(stage);
  if (skipped !== undefined) return { incident, fired: [], ended: 0, skipped };
  const { alerts, what } = incident;
  const paged = [...pages().intersection(new Set(alerts))];
  const before = pager?.messages().length ?? 0;
  const began = performance.now();
  const since = (time: number) => (performance.now() - time) / 1000;
  await incident.begin(stage);
  const fired = await Promise.all(
    alerts.map(async (alert) => {
      await until(async () => (await prometheus.firing()).has(alert), `${alert}, after: ${what}`);
      return since(began);
    }),
  );
  // Alertmanager sends nothing of an alert that is over before it has sent anything.
  await told(pager, paged, "firing", before);
  await incident.end(stage);
  const healed = performance.now();
  const isOver = async () => (await prometheus.firing()).isDisjointFrom(new Set(alerts));
  await until(isOver, `the end of ${alerts.join(", ")}, after: ${what}`);
  const ended = since(healed);
  // Nothing of this incident is left for the next one.
  let firing = new Set<string>();
  const isQuiet = async () => {
    firing = await prometheus.firing();
    return firing.size === 0;
  };
  await until(isQuiet, () => `quiet after: ${what}; ${[...firing].join(", ")} still fire`);
  await told(pager, paged, "resolved", before);
  return { incident, fired, ended };
}

/** @returns undefined, once it is said why, where there is none */
async function openPager(folder: string): Promise<Alertmanager | undefined> {
  const found = findAlertmanager();
  if ("missing" in found) console.log(`no alert goes beyond Prometheus: ${found.missing}`);
  else return startAlertmanager(folder);
}

/** The alerts that get someone up. */
function pages(): Set<string> {
  const rules = readFileSync(new URL("alerts.yml", PAGE), "utf8");
  return new Set(rules.match(/(?<=alert: )\w+(?=\n(?: {8}.*\n)*? {8}labels: \{ severity: page \})/g));
}

/** Waits until the webhook has been told of each of these alerts. @param from how many messages it had before */
async function told(
  pager: Alertmanager | undefined,
  alerts: readonly string[],
  status: Message["status"],
  from: number,
): Promise<void> {
  for (const alert of pager ? alerts : []) {
    const has = () =>
      pager
        ?.messages()
        .slice(from)
        .some((one) => one.alert === alert && one.status === status);
    await until(async () => has() === true, `a message to the webhook that ${alert} is ${status}`);
  }
}

/** @throws Error when it is not so in time */
async function until(isSo: () => Promise<boolean>, what: string | (() => string)): Promise<void> {
  const late = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > late)
      throw new Error(`not within ${PATIENCE_MS / 1000} s: ${typeof what === "string" ? what : what()}`);
    await sleep(POLL_MS);
  }
}

/** The metrics that rules or dashboard name, and that a service under load does not serve. */
async function unservedMetrics(prometheus: Prometheus): Promise<string[]> {
  const texts = ["alerts.yml", "dashboard.json"].map((name) => readFileSync(new URL(name, PAGE), "utf8"));
  const named = new Set(texts.flatMap((text) => text.match(/\b(?:attestd|nodejs|process)_\w+/g) ?? []));
  named.delete(OF_TRACES);
  const served = await Promise.all([...named].map(async (name) => [name, await prometheus.has(name)] as const));
  return served.filter(([, isServed]) => !isServed).map(([name]) => name);
}

function cells({ incident, fired, ended, skipped }: Row): string[] {
  const { what, how, alerts } = incident;
  const times = alerts.map((alert, i) => `\`${alert}\` ${fired[i]?.toFixed(0)} s`).join(", ");
  return [what, how, skipped ?? times, skipped === undefined ? `${ended.toFixed(0)} s` : ""];
}

function report(rows: readonly Row[], version: string, delivered: number, pager: Alertmanager | undefined): string {
  const revision = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const table = [
    ["Incident", "How it was made", "Fired after", "Ended after"],
    ["---", "---", "---", "---"],
  ];
  return [
    `Run of ${date}, revision ${revision}, Prometheus ${version}, one scrape a second, every time of a rule divided by ${FACTOR};`,
    `${delivered} purchases were delivered meanwhile.`,
    ...(pager ? [`Alertmanager ${pager.version} told a webhook of each page, and of its end.`] : []),
    "",
    ...[...table, ...rows.map(cells)].map((row) => `| ${row.join(" | ")} |`),
  ].join("\n");
}
