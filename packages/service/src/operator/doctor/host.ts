import { once } from "node:events";
import { stat } from "node:fs/promises";
import { createServer } from "node:net";
import type { Config, Settings } from "../../config/config.ts";
import { fileOf, isTable } from "../../config/references.ts";
import { type Finding, fail, inSeconds, ok, warning } from "../../health/finding.ts";
import type { ClockComparison } from "../../providers/host-clock.ts";
import { majorityOf } from "../../providers/quorum.ts";

/** The limit of upstreams named in the sentence about clocks. */
const MAX_NAMED = 3;
const HEALTH_MS = 3_000;
const READABLE_BY_OTHERS = 0o077;

/** Finds settings that are valid, but that an operator may not have meant. */
export function checkChoices({ publicUrl, host, port, sandbox, ...config }: Config): Finding[] {
  if (sandbox) return [];
  const findings: Finding[] = [];
  const quorum = config.providerQuorum ?? Number.POSITIVE_INFINITY;
  const nodes = [...config.own.values()].map((own) => (own as { rpc?: unknown[] }).rpc ?? []);
  const longest = Math.max(...[config.algorand.algod, config.algorand.indexer, ...nodes].map(({ length }) => length));
  if (quorum < majorityOf(longest)) {
    const risk = `${quorum} of ${longest} nodes are believed while the others are away, lies and all`;
    findings.push(warning(`provider_quorum: ${risk}. Remove it, so that a majority must agree.`));
  }
  if (publicUrl === undefined) {
    const remedy = "Set it before the first start: the key history names it for ever";
    findings.push(warning(`public_url is not set: every link names http://${host}:${port}. ${remedy}.`));
  } else if (publicUrl.startsWith("http:"))
    findings.push(warning(`public_url is without TLS: clients refuse to pay there. Write https://….`));
  return findings;
}

/**
 * Finds files with secrets that other users of this machine can read. @param files paths by the setting or option that
 * names them
 */
export async function checkSecretFiles(files: Iterable<readonly [name: string, path: string]>): Promise<Finding[]> {
  const found = await Promise.all(
    [...files].map(async ([name, path]) => {
      const stats = await stat(path).catch(() => undefined);
      if (!stats?.isFile() || (stats.mode & READABLE_BY_OTHERS) === 0) return [];
      const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
      return [warning(`${name}: ${path} has mode ${mode}, and others can read it. Run: chmod 600 ${path}`)];
    }),
  );
  return found.flat();
}

/** Returns the files with secrets that settings name, by the dotted key of the setting. */
export function secretFilesOf({ tables, folder }: Settings): [string, string][] {
  const within = (value: unknown, key: string): [string, string][] => {
    const path = fileOf(value, { folder });
    if (path !== undefined) return [[key, path]];
    if (Array.isArray(value)) return value.flatMap((one, index) => within(one, `${key} (entry ${index + 1})`));
    if (!isTable(value)) return [];
    return Object.entries(value).flatMap(([name, one]) => within(one, key === "" ? name : `${key}.${name}`));
  };
  return within(tables, "");
}

/** Checks that the service can listen, or listens already, by listening for a moment. */
export async function checkPort({ host, port }: Config): Promise<{ finding: Finding; isServed: boolean }> {
  if (port === 0) return { finding: ok("port: the service takes a free port."), isServed: false };
  const where = `host, port: ${host}:${port}`;
  const server = createServer().listen(port, host);
  try {
    await once(server, "listening");
    server.close();
    return { finding: ok(`${where} is free to listen on.`), isServed: false };
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE") {
      const remedy = code === "EACCES" ? "Choose a port above 1023" : "Name an address of this machine";
      return { finding: fail(`${where} cannot be listened on: ${code}. ${remedy}.`), isServed: false };
    }
    const isServed = await isAttestd(`http://${host.includes(":") ? `[${host}]` : host}:${port}`);
    const finding = isServed
      ? ok(`${where}: an attestd runs there.`)
      : fail(`${where} is in use by another program. Stop that, or choose another port.`);
    return { finding, isServed };
  }
}

/** Whether an attestd answers at an origin. */
async function isAttestd(origin: string): Promise<boolean> {
  const signal = AbortSignal.timeout(HEALTH_MS);
  const answer = await fetch(`${origin}/.well-known/attestor-keys.json`, { signal, redirect: "error" }).catch(
    () => undefined,
  );
  const body = await answer?.json().catch(() => undefined);
  return Array.isArray((body as { keys?: unknown } | undefined)?.keys);
}

/** Reports what the upstreams' answers have shown about this host's clock. */
export function checkClock({ verdict, aheadMs, by, of }: ClockComparison): Finding[] {
  if (verdict === "unknown") return [];
  const names = by.slice(0, MAX_NAMED).join(", ") + (by.length > MAX_NAMED ? ", …" : "");
  if (verdict === "right") return [ok(`The clock of this host agrees with ${names}.`)];
  const side = aheadMs > 0 ? "ahead of" : "behind";
  const sentence = `The clock of this host is ${inSeconds(aheadMs)} ${side} ${by.length} of ${of} others (${names})`;
  if (verdict === "doubtful") return [warning(`${sentence}. Set it by NTP, or find out which of them is wrong.`)];
  return [fail(`${sentence}: payments and tokens count as expired or not yet valid. Set it by NTP.`)];
}
