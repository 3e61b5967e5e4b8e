import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Failure } from "../../failure.ts";
import { readableLog, type Terminal } from "../../terminal/terminal.ts";
import type { Ready } from "../serve/run.ts";

const STOP_TIMEOUT_MS = 20_000;

/**
 * Starts `attestd serve --sandbox` as a process, so that it can be killed and restarted while the networks keep running, and
 * waits until it listens. It stops when this process ends for any reason, because its IPC channel closes then.
 *
 * @param settingsFile the file for `--settings`
 * @param variables all environment variables of the child
 * @param signal stops the wait and the child
 * @param next what to do if it does not start, in sentences
 * @returns `url`: its origin; `showLog` starts to print its log, which is buffered until then; `ended` resolves with the
 *   reason when it has ended
 * @throws Failure with the child's exit code if it ended before it listened; its standard error has the reason
 */
export async function startServiceProcess(
  settingsFile: string,
  variables: NodeJS.ProcessEnv,
  signal: AbortSignal,
  next: readonly string[],
) {
  const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, "serve", "--sandbox", "--settings", settingsFile], {
    env: variables,
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const ended = once(child, "exit").then(([code, name]) => String(name ?? `exit code ${code}`));
  const stop = () => end(child, ended);
  signal.addEventListener("abort", stop, { once: true });

  const first = await Promise.race([once(child, "message"), ended]).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  if (typeof first === "string") throw new Failure(child.exitCode || 1, `the service did not start (${first})`, next);
  const [{ ready: url }] = first as [Ready];
  return {
    url,
    async showLog(out: Terminal) {
      const readable = await readableLog(out);
      if (readable && child.stdout) createInterface({ input: child.stdout }).on("line", (line) => readable.write(line));
      else child.stdout?.pipe(process.stdout, { end: false });
    },
    ended,
    [Symbol.asyncDispose]: stop,
  };
}

async function end(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill("SIGTERM");
  const timeout = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timeout);
}
