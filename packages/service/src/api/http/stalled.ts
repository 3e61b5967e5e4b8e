import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * How long a connection may take none of the bytes that wait for it, in ms. A client that reads 50 kB/s is seen to take
 * some at least every 26 s: the system asks for more only when a third of its buffer, of up to 4 MB, is free.
 */
const MAX_STALL_MS = 60_000;

/** How much a connection had taken in all, and when that was first seen. */
type Seen = { taken: number; at: number };

/** Closes connections whose clients do not read. @param maxStallMs after how long; it may take a quarter longer */
export function closeStalled(server: Server, maxStallMs = MAX_STALL_MS): void {
  const connections = new Map<Socket, Seen>();
  server.on("connection", (socket) => {
    connections.set(socket, { taken: 0, at: 0 });
    socket.once("close", () => connections.delete(socket));
  });
  const looking = setInterval(() => {
    const now = performance.now();
    for (const [socket, seen] of connections) {
      const waits = socket.writableLength;
      const taken = socket.bytesWritten - waits;
      if (waits === 0 || taken !== seen.taken) connections.set(socket, { taken, at: now });
      else if (now - seen.at >= maxStallMs) socket.destroy();
    }
  }, maxStallMs / 4).unref();
  server.once("close", () => clearInterval(looking));
}
