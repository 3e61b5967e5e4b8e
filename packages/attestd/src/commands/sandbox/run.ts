import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { aborted } from "node:util";
import type { Sandbox } from "@attestd/sandbox";
import type { Table } from "@attestd/service/settings";
import { EXIT, type ExitCode, Failure, failsFor, portTaken } from "../../failure.ts";
import { lockFile } from "../../files/folder-lock.ts";
import { readFile } from "../../operator/settings.ts";
import type { Environment } from "../../terminal/environment.ts";
import type { Working } from "../../terminal/terminal.ts";
import { type SandboxFolder, sandboxFolder } from "../../trust/sandbox-folder.ts";
import { describeSandbox, forShell, IS_RELEASED, ownCommand, printBanner } from "./description.ts";
import { startServiceProcess } from "./service-process.ts";
import { newServiceSettings, seedIn, writeSettings } from "./settings.ts";

type SandboxOptions = { port?: number; roundMs: number; replay?: string; dir: string; fresh?: boolean };

const HOST = "127.0.0.1";
const DEFAULT_PORT = "4020";
/** Rounds of one state proof. MainNet has 256; here some are made within a minute. */
const STATE_PROOF_INTERVAL = 16;

/**
 * Runs the local networks, and the service on them, until it is asked to stop. The sandbox in the folder continues where it was.
 * Without one, or with `fresh`, a new one begins.
 *
 * @throws Failure `usage` when the port is in use, another sandbox uses the folder, or a file in it is damaged
 */
export async function runSandbox(options: SandboxOptions, environment: Environment): Promise<ExitCode> {
  const stop = environment.stop();
  const port = options.port ?? portIn(environment.variables.PORT || DEFAULT_PORT);
  const folder = sandboxFolder(options.dir);
  const { replay } = options;
  if (replay !== undefined) await readdir(replay).catch(failsFor(EXIT.usage, `replay ${replay}`, "folder"));
  const startNetworks = await readNetworks(options);
  await checkPort(port);

  await mkdir(folder.path, { recursive: true, mode: 0o700 }).catch(failsFor(EXIT.usage, `use ${folder.path}`));
  const remedy = "Stop it, or choose another folder: --dir.";
  using _lock = lockFile(folder.lock, `another sandbox uses ${folder.path}`, remedy);
  if (options.fresh) await rm(folder.settings, { force: true });
  if (options.fresh || !existsSync(folder.archive)) await clear(folder);
  // It names the addresses of the last start.
  await rm(folder.description, { force: true });
  const before = settingsBefore(folder);

  // These are disposed in reverse order: the service, then its networks, then the lock.
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
  before: Table;
  environment: Environment;
  working: Working;
  stop: AbortSignal;
};

async function runService(folder: SandboxFolder, networks: Sandbox, run: Run): Promise<void> {
  const { environment, working, stop } = run;
  const { out, err } = environment;
  working.show("starting the service");
  const next = seedIn(folder) ? ["If a file of the sandbox is damaged, start a new one: add --fresh."] : [];
  const settings = newServiceSettings(networks, folder, { host: HOST, port: run.port }, run.before);
  await writeSettings(folder, settings);
  const { PORT: _, ...variables } = environment.variables;
  await using service = await startServiceProcess(folder.settings, variables, stop, next);
  // A restarted service gets the same port.
  const port = Number(new URL(service.url).port);
  await writeSettings(folder, { ...settings, tables: { ...settings.tables, port } });
  await describeSandbox(folder, networks, service.url);

  working.show(undefined);
  await printBanner(out, networks, service.url, run.dir);
  await service.showLog(out);
  let death: string | undefined;
  void service.ended.then((how) => {
    if (stop.aborted || death !== undefined) return;
    err.line(`attestd: the service ended (${how}). The networks keep running.`);
    err.line(`  Start it again: ${ownCommand()} serve --sandbox --settings ${forShell(join(run.dir, "attestd.toml"))}`);
  });
  death = (await Promise.race([networks.died, aborted(stop, stop)])) || undefined;
  if (death !== undefined)
    throw new Failure(EXIT.unreachable, "the sandbox cannot go on", [
      death,
      "The next start continues with what was saved.",
    ]);
}

/** Loads the networks. @returns a function that starts them. @throws Failure `usage` when the sandbox is not installed */
async function readNetworks({ roundMs, replay }: SandboxOptions): Promise<(archive: string) => Promise<Sandbox>> {
  const networks = await import("@attestd/sandbox").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    const remedy = IS_RELEASED
      ? "It has an archive of its own, attestd-sandbox-…: unpack it in the folder in which you unpacked this one."
      : "It needs the development dependencies: run npm ci without --omit=dev.";
    throw new Failure(EXIT.usage, "the sandbox is not installed here", [remedy], error);
  });
  const { startSandbox, ArchiveError } = networks;
  return (archive) =>
    startSandbox({ roundMs, stateProofs: { interval: STATE_PROOF_INTERVAL }, replayDir: replay, archive }).catch(
      (error: Error) => {
        if (error instanceof ArchiveError) throw damaged(error.message, error);
        throw new Failure(EXIT.usage, "the networks did not start", [error.message], error);
      },
    );
}

/**
 * Removes the files of an earlier sandbox, and only those: the folder may contain others. Its data is removed in one step, so
 * that a sandbox that was removed in part is not continued.
 */
async function clear(folder: SandboxFolder): Promise<void> {
  const { description, keys, data, removed, payments } = folder;
  await rm(removed, { recursive: true, force: true });
  if (existsSync(data)) await rename(data, removed);
  for (const path of [removed, description, keys, payments]) await rm(path, { recursive: true, force: true });
  await mkdir(data, { mode: 0o700 });
}

/** Reads what was written into the settings by hand. @throws Failure `usage` when the seed of the attestor's key is missing */
function settingsBefore(folder: SandboxFolder): Table {
  if (existsSync(folder.journal) && seedIn(folder) === undefined)
    throw damaged(`${folder.data}: the seed of the attestor's key is missing`);
  return existsSync(folder.settings) ? readFile(folder.settings, {}, true).tables : {};
}

function damaged(what: string, cause?: Error): Failure {
  return new Failure(EXIT.usage, what, ["The earlier sandbox is damaged. Start a new one: add --fresh."], cause);
}

/** Checks that the port is free, before any network is started. */
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

/** The port in an environment variable. @throws Failure `usage` */
function portIn(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Failure(EXIT.usage, `PORT must be a whole number from 0 to 65535, and is ${text}`);
}
