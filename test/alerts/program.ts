import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The interval between scrapes in docs/monitoring/README.md, in s, and the one here: every time of a rule is divided by it. */
export const FACTOR = 15;
const POLL_MS = 50;

/** A program that runs, and listens at `url`. */
export type Program = AsyncDisposable & { url: string };

/**
 * Starts a program of Prometheus' family on a free port at loopback, and waits until it is ready.
 *
 * @param argsFor its arguments, by the host and port to listen on
 * @throws Error when it ends instead
 */
export async function startProgram(
  binary: string,
  argsFor: (listen: string) => readonly string[],
  stderr: "inherit" | "ignore",
): Promise<Program> {
  const listen = `127.0.0.1:${await freePort()}`;
  const child = spawn(binary, argsFor(listen), { stdio: ["ignore", "ignore", stderr] });
  const url = `http://${listen}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${binary} ended with ${child.exitCode}`);
    const response = await fetch(`${url}/-/ready`).catch(() => undefined);
    if (response?.ok) break;
    await sleep(POLL_MS);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill();
      await once(child, "exit");
    },
  };
}

/** A configuration with every duration divided; thresholds stay. */
export function scaledTimes(text: string, factor = FACTOR): string {
  const ms = { s: 1_000, m: 60_000, h: 3_600_000 };
  const scaled = (_: string, count: string, unit: string) =>
    `${Math.round((Number(count) * ms[unit as keyof typeof ms]) / factor)}ms`;
  return text
    .replace(/(?<=\b(?:for|group_wait|group_interval|repeat_interval): )(\d+)([smh])$/gm, scaled)
    .replace(/(?<=\[)(\d+)([smh])(?=\])/g, scaled);
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
