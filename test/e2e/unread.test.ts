import { type ChildProcess, fork } from "node:child_process";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDeployment } from "./deployment.ts";
import type { Said } from "./unread-server.ts";

/* Clients that do not read their answers: what they make the service hold is bounded, and they are closed. */

const MIB = 1024 * 1024;
const CLIENTS = 40;

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

test("forty clients that read nothing make the service hold little, and are closed", async () => {
  const child = fork(join(import.meta.dirname, "unread-server.ts"), ["500"], { execArgv: ["--expose-gc"] });
  try {
    const server = listenTo(child);
    const [{ port } = { port: 0 }] = await server.first("port", 1);
    const get = "GET /large HTTP/1.1\r\nhost: a\r\n\r\n";
    const sockets = Array.from({ length: CLIENTS }, () => ask(port, get));
    const statuses = (await server.first("status", CLIENTS)).map(({ status }) => status);
    child.send("held");
    const [{ held } = { held: Number.NaN }] = await server.first("held", 1);
    expect(held / MIB).toBeLessThan(40);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    await server.first("closed", CLIENTS);
    for (const socket of sockets) socket.destroy();
  } finally {
    child.disconnect();
  }
});

test("one connection that asks for a thousand documents and reads none is refused beyond a bound, and closed", async () => {
  const statuses: number[] = [];
  const cut = Promise.withResolvers<string>();
  const log = { write: (line: string) => void (line.includes('"isCut":true') && cut.resolve(line)) };
  const observe = (_: unknown, { status }: { status: number }) => void statuses.push(status);
  const over = { ACCESS_LOG: "1", LOG_LEVEL: "info" };
  const deployment = await startDeployment({ networks: [] }, over, { maxStallMs: 500, log, observe });
  try {
    const { length } = await (await fetch(`${deployment.url}/openapi.json`)).bytes();
    const before = statuses.length;
    const request = "GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n";
    const socket = ask(Number(new URL(deployment.url).port), request.repeat(1_000));
    expect(await cut.promise).toContain('"route":"/openapi.json"');
    socket.destroy();
    const served = statuses.slice(before).filter((status) => status === 200).length;
    expect(served * length).toBeLessThan(40 * MIB);
    expect(statuses.slice(before)).toContain(429);
  } finally {
    await deployment.close();
  }
});
