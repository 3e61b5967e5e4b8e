import { once } from "node:events";
import { mkdir, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Sandbox } from "@attestd/sandbox";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, fileTrouble } from "../failure.ts";
import { lockFile } from "../folder-lock.ts";
import type { Working } from "../live-line.ts";
import { printBanner } from "../sandbox-banner.ts";
import { describeSandbox } from "../sandbox-description.ts";
import { type SandboxFolder, sandboxFolder } from "../sandbox-folder.ts";
import { childVariables, newServiceSettings, writeSettings } from "../sandbox-settings.ts";
import { startServiceProcess } from "../service-process.ts";
import { aborted } from "../stop.ts";
import { portTaken } from "./serve.ts";

export type SandboxOptions = { port?: string; roundMs: string; replay?: string; dir: string };

const HOST = "127.0.0.1";
const DEFAULT_PORT = "4020";

/**
 * Runs the local networks and the service on them until it is asked to stop. Every start makes a new sandbox in the
 * folder: its ledgers live in memory, so what was written about earlier ones is of no use.
 *
 * @throws Failure `usage` when the port is taken or another sandbox has the folder
 */
export async function sandbox(options: SandboxOptions, environment: Environment): Promise<ExitCode> {
  const stop = environment.stop();
  const port = wholeNumber("--port", options.port ?? environment.port ?? DEFAULT_PORT, 0, 65_535);
  const roundMs = wholeNumber("--round-ms", options.roundMs, 10, 60_000);
  const folder = sandboxFolder(options.dir);
  if (options.replay !== undefined) await checkReplay(options.replay);
  await checkPort(port);

  using _lock = await takeFolder(folder);
  await clear(folder);

  // Disposed in reverse: the service stops before the networks that it works on, and the lock goes last.
  using working = environment.working("starting the networks");
  const networks = await startNetworks(roundMs, options.replay);
  await using running = new AsyncDisposableStack();
  running.defer(() => networks.close());
  if (stop.aborted) return EXIT.good;
  try {
    await runService(folder, networks, { port, dir: options.dir, environment, working, stop });
  } catch (error) {
    if (stop.aborted) return EXIT.good;
    throw error;
  }
  return EXIT.good;
}

type Run = { port: number; dir: string; environment: Environment; working: Working; stop: AbortSignal };

async function runService(folder: SandboxFolder, networks: Sandbox, run: Run): Promise<void> {
  const { environment, working, stop } = run;
  const { out, err } = environment;
  working.say("starting the service");
  const { PUBLIC_URL, MCP_URL } = environment.variables;
  const address = { host: HOST, port: run.port };
  // How others reach a loopback host is known to whoever leads them there: a proxy, a tunnel, a container.
  const settings = { ...newServiceSettings(networks, folder, address), PUBLIC_URL, MCP_URL };
  await writeSettings(folder, settings);
  await using service = await startServiceProcess(folder.settings, childVariables(environment.variables), stop);
  // A restarted service takes the place of this one: the same address, the same everything.
  await writeSettings(folder, { ...settings, PORT: new URL(service.url).port });
  const description = await describeSandbox(folder, networks, service.url);

  working.say(undefined);
  await printBanner(out, description, run.dir);
  service.showLog();
  void service.ended.then((how) => {
    if (stop.aborted) return;
    err.line(`attestd: the service ended (${how}). The networks keep running.`);
    err.line(`  Start it again: npx attestd serve --sandbox --env ${join(run.dir, "service.env")}`);
  });
  const death = await Promise.race([networks.died, aborted(stop).then(() => undefined)]);
  if (death !== undefined) throw new Failure(EXIT.unreachable, "a network of the sandbox ended by itself", [death]);
}

async function startNetworks(roundMs: number, replay: string | undefined): Promise<Sandbox> {
  const { startSandbox } = await import("@attestd/sandbox");
  return startSandbox({ roundMs, replayDir: replay }).catch((error: Error) => {
    throw new Failure(EXIT.usage, "the networks did not start", [error.message], error);
  });
}

/** Ours until it is disposed, or this process ends. */
async function takeFolder(folder: SandboxFolder): Promise<Disposable> {
  await mkdir(folder.path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new Failure(EXIT.usage, `can't use ${folder.path}`, [fileTrouble(error)], error);
  });
  const lock = lockFile(folder.lock);
  if (lock) return lock;
  throw new Failure(EXIT.usage, `another sandbox has ${folder.path}`, ["Stop it, or choose another folder: --dir."]);
}

/** Removes what an earlier sandbox left, by name: the folder may be anyone's. */
async function clear(folder: SandboxFolder): Promise<void> {
  const { description, keys, settings, data, payments } = folder;
  for (const path of [description, keys, settings, data, payments]) await rm(path, { recursive: true, force: true });
  await mkdir(data, { mode: 0o700 });
}

async function checkReplay(dir: string): Promise<void> {
  await readdir(dir).catch((error: unknown) => {
    throw new Failure(EXIT.usage, `can't replay ${dir}`, [fileTrouble(error, "folder")], error);
  });
}

/** Says at once, before any network is started, that the port is taken. */
async function checkPort(port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer().listen(port, HOST);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EADDRINUSE") throw portTaken(port, "--port or PORT");
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
