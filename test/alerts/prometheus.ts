import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

const RULES = new URL("../../docs/monitoring/alerts.yml", import.meta.url);
/** The interval between scrapes in docs/monitoring/README.md, in s, and the one here: every time of a rule is divided by it. */
export const FACTOR = 15;

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

/** The rules of docs/monitoring/alerts.yml with every duration divided by `FACTOR`; thresholds stay. */
async function scaledRules(): Promise<string> {
  const rules = await readFile(RULES, "utf8");
  const seconds = { s: 1, m: 60, h: 3_600 };
  const scaled = (count: string, unit: string) =>
    `${(Number(count) * seconds[unit as keyof typeof seconds]) / FACTOR}s`;
  return rules
    .replace(/(?<=\bfor: )(\d+)([smh])$/gm, (_, count, unit) => scaled(count, unit))
    .replace(/(?<=\[)(\d+)([smh])(?=\])/g, (_, count, unit) => scaled(count, unit));
}

/** @param folder for its rules and data. @param target host and port of the service's metrics */
export async function startPrometheus(folder: string, target: string): Promise<Prometheus> {
  const found = findPrometheus();
  if ("missing" in found) throw new Error(found.missing);
  await mkdir(folder, { recursive: true });
  const file = (name: string) => join(folder, name);
  await writeFile(file("alerts.yml"), await scaledRules());
  await writeFile(
    file("prometheus.yml"),
    JSON.stringify({
      global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
      rule_files: ["alerts.yml"],
      scrape_configs: [{ job_name: "attestd", static_configs: [{ targets: [target] }] }],
    }),
  );
  const { status, stdout, stderr } = spawnSync(found.promtool, ["check", "config", file("prometheus.yml")], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`promtool refuses the configuration: ${stdout}${stderr}`);
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    found.binary,
    [
      `--config.file=${file("prometheus.yml")}`,
      `--storage.tsdb.path=${file("data")}`,
      `--web.listen-address=${new URL(url).host}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const stop = () => ended(child);
  const get = async (path: string) => {
    const response = await fetch(url + path);
    if (!response.ok) throw new Error(`Prometheus answered ${path} with HTTP ${response.status}`);
    return (await response.json()) as { data: { alerts: Alert[]; result: unknown[] } };
  };
  await ready(`${url}/-/ready`, child);
  return {
    version: found.version,
    async firing() {
      const { alerts } = (await get("/api/v1/alerts")).data;
      return new Set(alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels.alertname));
    },
    has: async (metric) => (await get(`/api/v1/query?query=${metric}`)).data.result.length > 0,
    [Symbol.asyncDispose]: stop,
  };
}

type Alert = { state: "pending" | "firing"; labels: { alertname: string } };

async function ready(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
  }
  throw new Error(`Prometheus ended with ${child.exitCode}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill();
  await once(child, "exit");
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
