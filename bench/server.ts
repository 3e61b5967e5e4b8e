import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Sandbox, type SandboxOptions, startSandbox } from "@attestd/sandbox";
import { sandboxFolder } from "../packages/attestd/src/trust/sandbox-folder.ts";
import { readSettingsFile } from "../packages/service/src/config/settings-file.ts";
import { merged, settingsFileOf, type Table } from "../packages/service/test/settings.ts";
import { sandboxSettings } from "../test/helpers/sandbox-settings.ts";
import type { Request } from "./load.ts";

/** A server in a process of its own, which says over IPC where it listens: `{ready: url}`. */
export interface Server extends AsyncDisposable {
  url: string;
  pid: number;
}

const ATTESTD = fileURLToPath(new URL("../packages/attestd/src/main.ts", import.meta.url));

/** @param file of this folder */
export function startBare(file: string, args: readonly string[] = []): Promise<Server> {
  return start(fileURLToPath(new URL(file, import.meta.url)), args);
}

/** Bare node:http that answers a request with the bytes that `server` answered it with. */
export function startReplies(server: Pick<Server, "url">, request: Request): Promise<Server> {
  return startBare("bare-replies.ts", [server.url, JSON.stringify(request)]);
}

/** `attestd serve` on a sandbox, as an operator would start it. @param over settings that replace those of the file */
export function startAttestd(settingsFile: string, over?: Table): Promise<Server> {
  const file =
    over === undefined ? settingsFile : settingsFileOf(merged(readSettingsFile(settingsFile, {}).tables, over));
  return start(ATTESTD, ["serve", "--sandbox", "--settings", file]);
}

/** As `startAttestd` does, of another clone. @param clone its folder, in which `npm ci` has run */
export function startClone(clone: string, settingsFile: string): Promise<Server> {
  return start(join(clone, "packages/attestd/src/main.ts"), ["serve", "--sandbox", "--settings", settingsFile]);
}

/** As `startAttestd` does, by the code of the release archive. @param folder where its `lib` was written */
export function startPacked(folder: string, settingsFile: string): Promise<Server> {
  return start(join(folder, "attestd.mjs"), ["serve", "--sandbox", "--settings", settingsFile]);
}

/** The networks of a sandbox in this process, for a service in another. */
export interface Networks extends AsyncDisposable {
  sandbox: Sandbox;
  /** For what a benchmark leaves; removed with the networks. */
  dir: string;
  /** Settings of a service on these networks, for `startAttestd`. */
  settingsFile: string;
}

/**
 * @param roundMs 0 leaves the rounds to the benchmark, and Base out
 * @param over settings that replace the sandbox's own
 */
export async function startNetworks(
  roundMs: number,
  over: (sandbox: Sandbox) => Promise<Table> = async () => ({}),
  onRequest?: SandboxOptions["onRequest"],
): Promise<Networks> {
  const dir = await mkdtemp(join(tmpdir(), "attestd-bench-"));
  const sandbox = await startSandbox({ roundMs, networks: roundMs === 0 ? [] : ["base"], onRequest });
  return {
    sandbox,
    dir,
    settingsFile: await settingsIn(dir, sandbox, await over(sandbox)),
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await rm(dir, { recursive: true });
    },
  };
}

/** Writes the settings of a service with a journal and keys of its own. @returns the file */
export async function settingsIn(dir: string, sandbox: Sandbox, over: Table = {}): Promise<string> {
  const folder = sandboxFolder(dir);
  await sandboxSettings(sandbox, folder, { log_level: "error", ...over });
  return folder.settings;
}

/** Makes a round as soon as the ledger has a transaction for it, of networks whose rounds are left to the benchmark. */
export function blocksAtOnce({ sandbox }: Networks): Disposable {
  const { ledger } = sandbox.algorand;
  const watch = setInterval(() => {
    if (ledger.pool().length > 0) ledger.advance();
  }, 1);
  return { [Symbol.dispose]: () => clearInterval(watch) };
}

async function start(file: string, args: readonly string[]): Promise<Server> {
  const child = fork(file, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = once(child, "exit");
  const [message] = await Promise.race([once(child, "message"), ended]);
  if (child.exitCode !== null || typeof message !== "object") throw new Error(`${file} did not start`);
  return {
    url: message.ready,
    pid: child.pid as number,
    [Symbol.asyncDispose]: () => end(child, ended),
  };
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill("SIGTERM");
  await ended;
}
