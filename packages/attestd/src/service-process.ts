import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Ready } from "./commands/serve.ts";
import { Failure } from "./failure.ts";

/** The service in a process of its own, so that it can be killed and started again while the networks stay. */
export interface ServiceProcess extends AsyncDisposable {
  /** Origin that it listens on. */
  url: string;
  /** Lets its log through; until then it is held back. */
  showLog(): void;
  /** Resolves when the process has ended, with how. */
  ended: Promise<string>;
}

const STOP_PATIENCE_MS = 20_000;

/**
 * Starts `attestd serve --sandbox` and waits until it listens. The child stops when this process is gone: its IPC
 * channel closes then, whatever ended the parent.
 *
 * @param settingsFile for `--env`
 * @param variables the child's whole environment
 * @param signal stops waiting, and the child
 * @throws Failure with the child's own exit code when it ended before it listened; it has said why on stderr
 */
export async function startServiceProcess(
  settingsFile: string,
  variables: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<ServiceProcess> {
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, "serve", "--sandbox", "--env", settingsFile], {
    env: variables,
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const ended = once(child, "exit").then(([code, name]) => String(name ?? `exit code ${code}`));
  const stop = () => end(child, ended);
  signal.addEventListener("abort", stop, { once: true });

  const first = await Promise.race([ready(child), ended]).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  if (typeof first === "string") throw new Failure(child.exitCode || 1, `the service did not start (${first})`);
  return {
    url: first.ready,
    showLog: () => child.stdout?.pipe(process.stdout, { end: false }),
    ended,
    [Symbol.asyncDispose]: stop,
  };
}

async function ready(child: ChildProcess): Promise<Ready> {
  const [message] = await once(child, "message");
  return message as Ready;
}

async function end(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill("SIGTERM");
  const impatience = setTimeout(() => child.kill("SIGKILL"), STOP_PATIENCE_MS);
  await ended;
  clearTimeout(impatience);
}
