import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import pino from "pino";
import { createListener } from "../../packages/service/src/api/http/listener.ts";
import { closeStalled } from "../../packages/service/src/api/http/stalled.ts";

/*
 * Answers GET /large as the service answers one for a delivered batch: 11 MiB that were read for this request alone. Counts what
 * it sends and holds. It is a process of its own, so that the bytes are its own; `--expose-gc` leaves out what nobody holds.
 */

export type Said = { port: number } | { status: number } | { closed: true } | { held: number };

const LARGE = 11 * 1024 * 1024;
/** After the test has ended there is nobody to tell. */
const say = (said: Said) => void process.send?.(said, undefined, undefined, () => undefined);

const listener = createListener({
  routes: [
    {
      method: "GET",
      path: "/large",
      handle: async () => {
        await setImmediate();
        return { status: 200, headers: {}, body: new Uint8Array(LARGE) };
      },
    },
  ],
  origin: "https://attestd.example",
  log: pino({ level: "silent" }),
  observe: (_, { status }) => say({ status }),
});

const server = createServer(listener);
server.keepAliveTimeout = 100;
closeStalled(server, Number(process.argv[2]));
server.on("connection", (socket) => socket.once("close", () => say({ closed: true })));
server.listen(0, "127.0.0.1", () => say({ port: (server.address() as AddressInfo).port }));
process.on("message", () => {
  globalThis.gc?.();
  say({ held: process.memoryUsage().arrayBuffers });
});
process.on("disconnect", () => process.exit());
