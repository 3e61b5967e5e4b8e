import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scaledTimes, startProgram } from "./program.ts";

const RULES = new URL("../../docs/monitoring/alerts.yml", import.meta.url);
/** A running Prometheus that scrapes one service. */
export type Prometheus = AsyncDisposable & {
  version: string;
  /** The names of alerts that fire now. */
  firing(): Promise<Set<string>>;
  /** Whether a metric has a sample now. */
  has(metric: string): Promise<boolean>;
};

/**
 * Looks for the programs of Debian's package, in the folder that `ATTESTD_PROMETHEUS` names, else on the PATH.
 *
 * @returns how to get them, where they are not there
 */
export function findPrometheus(): { binary: string; promtool: string; version: string } | { missing: string } {
  const folder = process.env.ATTESTD_PROMETHEUS;
  const path = (name: string) => (folder === undefined ? name : join(folder, name));
  const { status, stdout, stderr } = spawnSync(path("prometheus"), ["--version"], { encoding: "utf8" });
  const version = /version (\S+)/.exec(`${stdout}${stderr}`)?.[1];
  if (status === 0 && version !== undefined) return { binary: path("prometheus"), promtool: path("promtool"), version };
  return {
    missing: [
      `there is no Prometheus ${folder === undefined ? "on the PATH" : `in ${folder}`}. On Debian, without installing it:`,
      "  apt-get download prometheus && dpkg -x prometheus_*.deb /var/tmp/prometheus",
      "  ATTESTD_PROMETHEUS=/var/tmp/prometheus/usr/bin npm run test:alerts",
    ].join("\n"),
  };
}

/**
 * Starts one with the rules of docs/monitoring/alerts.yml, whose times are divided by `FACTOR`.
 *
 * @param folder for its rules and data
 * @param target host and port of the service's metrics
 * @param alertmanagers the URLs of those that it tells of alerts
 */
export async function startPrometheus(
  folder: string,
  target: string,
  alertmanagers: readonly string[] = [],
): Promise<Prometheus> {
  const found = findPrometheus();
  if ("missing" in found) throw new Error(found.missing);
  await mkdir(folder, { recursive: true });
  const file = (name: string) => join(folder, name);
  await writeFile(file("alerts.yml"), scaledTimes(await readFile(RULES, "utf8")));
  await writeFile(
    file("prometheus.yml"),
    JSON.stringify({
      global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
      rule_files: ["alerts.yml"],
      alerting: { alertmanagers: [{ static_configs: [{ targets: alertmanagers.map((url) => new URL(url).host) }] }] },
      scrape_configs: [{ job_name: "attestd", static_configs: [{ targets: [target] }] }],
    }),
  );
  const { status, stdout, stderr } = spawnSync(found.promtool, ["check", "config", file("prometheus.yml")], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`promtool refuses the configuration: ${stdout}${stderr}`);
  const program = await startProgram(
    found.binary,
    (listen) => [
      `--config.file=${file("prometheus.yml")}`,
      `--storage.tsdb.path=${file("data")}`,
      `--web.listen-address=${listen}`,
      "--log.level=error",
    ],
    "inherit",
  );
  const get = async (path: string) => {
    const response = await fetch(program.url + path);
    if (!response.ok) throw new Error(`Prometheus answered ${path} with HTTP ${response.status}`);
    return (await response.json()) as { data: { alerts: Alert[]; result: unknown[] } };
  };
  return {
    version: found.version,
    async firing() {
      const { alerts } = (await get("/api/v1/alerts")).data;
      return new Set(alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels.alertname));
    },
    has: async (metric) => (await get(`/api/v1/query?query=${metric}`)).data.result.length > 0,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

type Alert = { state: "pending" | "firing"; labels: { alertname: string } };
