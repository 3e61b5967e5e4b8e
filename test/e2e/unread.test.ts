import { type ChildProcess, fork } from "node:child_process";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDeployment } from "./deployment.ts";
import type { Said } from "./unread-server.ts";

/* Clients that do not read their answers: what they make the service hold is bounded, and they are closed. */

const MIB = 1024 * 1024;
const CLIENTS = 40;
/** What each of them asks for (`unread-server.ts`). */
const LARGE = 11 * MIB;

/** What a process says, as it comes. */
function listenTo(child: ChildProcess) {
  const said: Said[] = [];
  let changed = Promise.withResolvers<void>();
  child.on("message", (one: Said) => {
    said.push(one);
    changed.resolve();
    changed = Promise.withResolvers();
  });
  return {
    said,
    /** @returns the first so many that have the member, once there are as many */
    async first<K extends string>(member: K, count: number): Promise<Extract<Said, Record<K, unknown>>[]> {
      for (;;) {
        const found = said.filter((one): one is Extract<Said, Record<K, unknown>> => member in one);
        if (found.length >= count) return found.slice(0, count);
        await changed.promise;
      }
    },
  };
}

/** Asks for something, and reads nothing of the answer. */
function ask(port: number, request: string): Socket {
  const socket = connect(port, "127.0.0.1").pause();
  socket.on("error", () => undefined).write(request);
  return socket;
}

/** Forty clients that ask a server of 11 MiB for each of them, and read nothing. @param maxStallMs after which it closes them */
async function fortyClients(
  maxStallMs: number,
  use: (server: ReturnType<typeof listenTo>, child: ChildProcess) => Promise<void>,
) {
  const args = [String(maxStallMs)];
  const child = fork(join(import.meta.dirname, "unread-server.ts"), args, { execArgv: ["--expose-gc"] });
  try {
    const server = listenTo(child);
    const [{ port } = { port: 0 }] = await server.first("port", 1);
    const get = "GET /large HTTP/1.1\r\nhost: a\r\n\r\n";
    const sockets = Array.from({ length: CLIENTS }, () => ask(port, get));
    await use(server, child);
    for (const socket of sockets) socket.destroy();
  } finally {
    child.disconnect();
  }
}

test("forty clients that read nothing make the service hold what two of them asked for", async () => {
  // It closes none of them as long as this test may take.
  await fortyClients(3_600_000, async (server, child) => {
    const statuses = (await server.first("status", CLIENTS)).map(({ status }) => status);
    expect(Map.groupBy(statuses, (status) => status).get(200)).toHaveLength(2);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    // What nobody holds any more is given back beside the program: at last no more than this is left.
    for (let n = 1, held = Number.POSITIVE_INFINITY; held > 2 * LARGE + MIB; n++) {
      child.send("held");
      ({ held } = (await server.first("held", n))[n - 1] as { held: number });
    }
  });
});

test("forty clients that read nothing are closed", async () => {
  await fortyClients(500, async (server) => void (await server.first("closed", CLIENTS)));
});

test("one connection that asks for two hundred documents and reads none is closed; one that asks for a thousand at once, before that", async () => {
  const statuses: number[] = [];
  const cut = Promise.withResolvers<string>();
  const log = { write: (line: string) => void (line.includes('"isCut":true') && cut.resolve(line)) };
  const observe = (_: unknown, { status }: { status: number }) => void statuses.push(status);
  const over = { access_log: true, log_level: "info" };
  const deployment = await startDeployment({ networks: [] }, over, { maxStallMs: 500, log, observe });
  try {
    const { length } = await (await fetch(`${deployment.url}/openapi.json`)).bytes();
    const before = statuses.length;
    const request = "GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n";
    const port = Number(new URL(deployment.url).port);
    const socket = ask(port, request.repeat(200));
    expect(await cut.promise).toContain('"route":"/openapi.json"');
    socket.destroy();
    expect((statuses.length - before) * length).toBeLessThan(40 * MIB);

    const served = statuses.length;
    const flood = ask(port, request.repeat(1_000)).resume();
    await new Promise((resolve) => flood.once("close", resolve));
    expect(statuses.length - served).toBeLessThan(2);
  } finally {
    await deployment.close();
  }
});
