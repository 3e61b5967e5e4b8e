import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { aborted, parseEnv } from "node:util";
import type { Sandbox, SandboxOptions as StartOptions } from "@attestd/sandbox";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";
import { foundText } from "../files.ts";
import { lockFile } from "../folder-lock.ts";
import type { Working } from "../live-line.ts";
import { forShell, IS_RELEASED, ownCommand } from "../own-command.ts";
import { describeSandbox, printBanner } from "../sandbox-description.ts";
import { type SandboxFolder, sandboxFolder } from "../sandbox-folder.ts";
import { childVariables, newServiceSettings, seedSettings, writeSettings } from "../sandbox-settings.ts";
import { startServiceProcess } from "../service-process.ts";
import type { Settings } from "../settings-file.ts";
import { portTaken } from "./serve.ts";

export type SandboxOptions = {
  port?: string;
  roundMs: string;
  baseBlockMs?: string;
  stateProofInterval: string;
  replay?: string;
  dir: string;
  fresh?: boolean;
};

const HOST = "127.0.0.1";
const DEFAULT_PORT = "4020";

/**
 * Runs the local networks and the service on them until it is asked to stop. The sandbox in the folder goes on where it was;
 * where there is none, or with `fresh`, there is a new one.
 *
 * @throws Failure `usage` when the port is in use, another sandbox has the folder, or what is in it is damaged
 */
export async function sandbox(options: SandboxOptions, environment: Environment): Promise<ExitCode> {
  const stop = environment.stop();
  const port = wholeNumber("--port", options.port ?? (environment.variables.PORT || DEFAULT_PORT), 0, 65_535);
  const roundMs = wholeNumber("--round-ms", options.roundMs, 10, 60_000);
  const baseBlockMs =
    options.baseBlockMs === undefined ? undefined : wholeNumber("--base-block-ms", options.baseBlockMs, 10, 60_000);
  const interval = intervalOf(options.stateProofInterval);
  const pace = { roundMs, baseBlockMs, stateProofs: interval === 0 ? undefined : { interval } };
  const folder = sandboxFolder(options.dir);
  const { replay } = options;
  if (replay !== undefined) await readdir(replay).catch(failsFor(EXIT.usage, `replay ${replay}`, "folder"));
  const startNetworks = await readNetworks(pace, options);
  await checkPort(port);

  await mkdir(folder.path, { recursive: true, mode: 0o700 }).catch(failsFor(EXIT.usage, `use ${folder.path}`));
  const remedy = "Stop it, or choose another folder: --dir.";
  using _lock = lockFile(folder.lock, `another sandbox has ${folder.path}`, remedy);
  if (options.fresh || !existsSync(folder.archive)) await clear(folder);
  // It names addresses of the last start.
  await rm(folder.description, { force: true });
  const before = await settingsBefore(folder);

  // Disposed in reverse order: the service, then its networks, then the lock.
  using working = environment.working("starting the networks");
  const networks = await startNetworks(folder.archive);
  await using running = new AsyncDisposableStack();
  running.defer(() => networks.close());
  if (stop.aborted) return EXIT.good;
  const run = { port, dir: options.dir, before, environment, working, stop };
  await runService(folder, networks, run).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
  return EXIT.good;
}

type Run = {
  port: number;
  dir: string;
  before: Settings;
  environment: Environment;
  working: Working;
  stop: AbortSignal;
};

async function runService(folder: SandboxFolder, networks: Sandbox, run: Run): Promise<void> {
  const { environment, working, stop } = run;
  const { out, err } = environment;
  working.show("starting the service");
  const { PUBLIC_URL, MCP_URL } = environment.variables;
  const address = { host: HOST, port: run.port };
  // Behind a proxy, a tunnel or a container only the operator knows the public URLs.
  const settings = { ...newServiceSettings(networks, folder, address, run.before), PUBLIC_URL, MCP_URL };
  await writeSettings(folder, settings);
  const next = seedSettings(run.before) ? ["If a file of the sandbox is damaged, start a new one: add --fresh."] : [];
  await using service = await startServiceProcess(folder.settings, childVariables(environment.variables), stop, next);
  // A restarted service gets the same port.
  await writeSettings(folder, { ...settings, PORT: new URL(service.url).port });
  await describeSandbox(folder, networks, service.url);

  working.show(undefined);
  await printBanner(out, networks, service.url, run.dir);
  await service.showLog(out);
  let death: string | undefined;
  void service.ended.then((how) => {
    if (stop.aborted || death !== undefined) return;
    err.line(`attestd: the service ended (${how}). The networks keep running.`);
    err.line(`  Start it again: ${ownCommand()} serve --sandbox --env ${forShell(join(run.dir, "service.env"))}`);
  });
  death = (await Promise.race([networks.died, aborted(stop, stop)])) || undefined;
  if (death !== undefined)
    throw new Failure(EXIT.unreachable, "the sandbox cannot go on", [
      death,
      "The next start goes on with what was kept.",
    ]);
}

function intervalOf(text: string): number {
  const interval = wholeNumber("--state-proof-interval", text, 0, 256);
  if (interval === 0 || (interval >= 16 && Number.isInteger(Math.log2(interval)))) return interval;
  throw new Failure(EXIT.usage, `--state-proof-interval can't be ${text}`, [
    "Write 16, 32, 64, 128 or 256, or 0 for none.",
  ]);
}

/** A sandbox as the options describe it, to be started. @throws Failure `usage` for a wrong option */
async function readNetworks(
  pace: Pick<StartOptions, "roundMs" | "baseBlockMs" | "stateProofs">,
  options: SandboxOptions,
): Promise<(archive: string) => Promise<Sandbox>> {
  const networks = await import("@attestd/sandbox").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    const remedy = IS_RELEASED
      ? "It has an archive of its own, attestd-sandbox-…: unpack it in the folder in which you unpacked this one."
      : "It needs the development dependencies: run npm ci without --omit=dev.";
    throw new Failure(EXIT.usage, "the sandbox is not installed here", [remedy], error);
  });
  const { startSandbox, ArchiveError } = networks;
  return (archive) =>
    startSandbox({ ...pace, replayDir: options.replay, archive }).catch((error: Error) => {
      if (error instanceof ArchiveError) throw damaged(error.message, error);
      throw new Failure(EXIT.usage, "the networks did not start", [error.message], error);
    });
}

/**
 * Removes the files of an earlier sandbox, and only those: the folder may have others. Its data goes by one step, so that
 * a sandbox that was removed in part is not taken up again.
 */
async function clear(folder: SandboxFolder): Promise<void> {
  const { description, keys, settings, data, removed, payments } = folder;
  await rm(removed, { recursive: true, force: true });
  if (existsSync(data)) await rename(data, removed);
  for (const path of [removed, description, keys, settings, payments]) await rm(path, { recursive: true, force: true });
  await mkdir(data, { mode: 0o700 });
}

/** The service's settings at the last start. @throws Failure `usage` when the seed of the sandbox's keys is not there */
async function settingsBefore({ settings, journal }: SandboxFolder): Promise<Settings> {
  const before = parseEnv(foundText(settings) ?? "");
  if (existsSync(journal) && seedSettings(before) === undefined)
    throw damaged(`${settings}: the seed of the attestor's key is not there`);
  return before;
}

function damaged(what: string, cause?: Error): Failure {
  return new Failure(EXIT.usage, what, ["The sandbox of before is damaged. Start a new one: add --fresh."], cause);
}

/** Fails before any network is started if the port is in use. */
async function checkPort(port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer().listen(port, HOST);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EADDRINUSE") throw portTaken(EXIT.usage, port, "--port or PORT");
    throw new Failure(EXIT.usage, `port ${port} cannot be used`, [error.message], error);
  });
  server.close();
  await once(server, "close");
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= least && value <= most) return value;
  throw new Failure(EXIT.usage, `${name} must be a whole number from ${least} to ${most}, and is ${text}`);
}
