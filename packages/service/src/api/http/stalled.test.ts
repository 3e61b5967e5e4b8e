import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { closeStalled } from "./stalled.ts";

const LOOK_MS = 15_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Makes a connection with unsent bytes. */
function aConnection(server: EventEmitter) {
  const socket = Object.assign(new EventEmitter(), {
    bytesWritten: 11_000_000,
    writableLength: 11_000_000,
    isDestroyed: false,
    destroy() {
      socket.isDestroyed = true;
      socket.emit("close");
    },
  });
  server.emit("connection", socket);
  return socket;
}

test("a client that reads slowly has its answer, however long it takes; one that stops is closed within 75 s", () => {
  const server = new EventEmitter();
  closeStalled(server as Server);
  const [slow, still] = [aConnection(server), aConnection(server)];
  // At 50 kB/s, in the portions that the system takes: every 26 s.
  for (let portions = 0; slow.writableLength > 0; portions++) {
    slow.writableLength = Math.max(0, slow.writableLength - 1_300_000);
    vi.advanceTimersByTime(26_000);
    expect(slow.isDestroyed).toBe(false);
    expect(still.isDestroyed).toBe(portions * 26_000 + 26_000 >= 60_000 + LOOK_MS);
  }
  // It waits for its next request, or for an answer that is being made.
  vi.advanceTimersByTime(600_000);
  expect(slow.isDestroyed).toBe(false);
  server.emit("close");
  expect(vi.getTimerCount()).toBe(0);
});
