import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { Job, LoadResult } from "./load.ts";
import { percentile } from "./measure.ts";

/*
 * The other end of `load.ts`: keeps a request in flight on every connection until the time is over or the requests have
 * run out. It shares its cores with what it measures, so it does as little as can be: requests are bytes made beforehand,
 * and of an answer only the status and the length are read.
 */

const HEAD_END = Buffer.from("\r\n\r\n");
const LENGTH = /\r\ncontent-length: (\d+)/i;

process.on("message", (job: Job) => {
  void run(job).then((result) => process.send?.(result));
});

async function run({ port, requests, connections, seconds, rampMs = 0 }: Job): Promise<LoadResult> {
  const bytes = requests.map((request) => Buffer.from(request, "base64"));
  const latencies: number[] = [];
  const statuses = new Map<number, number>();
  const start = performance.now();
  const end = seconds === undefined ? Number.POSITIVE_INFINITY : start + seconds * 1000;
  let sent = 0;

  /** The next request, or nothing when the work is done. */
  const next = (): Buffer | undefined => {
    if (performance.now() >= end || (seconds === undefined && sent >= bytes.length)) return undefined;
    return bytes[sent++ % bytes.length];
  };

  async function work(_: unknown, index: number): Promise<void> {
    if (rampMs > 0) await setTimeout((rampMs * index) / connections);
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    try {
      for (let request = next(); request; request = next()) {
        const before = performance.now();
        const answered = await exchange(socket, request);
        latencies.push(performance.now() - before);
        statuses.set(answered, (statuses.get(answered) ?? 0) + 1);
      }
    } finally {
      socket.destroy();
    }
  }

  await Promise.all(Array.from({ length: connections }, work));
  return {
    answered: latencies.length,
    seconds: (performance.now() - start) / 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    statuses: [...statuses],
  };
}

/** Sends a request and reads its answer to the end. @returns its status */
function exchange(socket: Socket, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0);
    let status = 0;
    let missing = -1;
    const stop = () => socket.off("data", onData).off("error", onEnd).off("close", onEnd);
    const onEnd = (error?: unknown) => {
      stop();
      reject(error instanceof Error ? error : new Error("the connection was closed before the answer"));
    };
    const onData = (chunk: Buffer) => {
      if (missing >= 0) {
        missing -= chunk.length;
      } else {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const split = head.indexOf(HEAD_END);
        if (split < 0) return;
        const text = head.toString("latin1", 0, split);
        status = Number(text.slice(9, 12));
        const length = LENGTH.exec(text)?.[1] ?? (status === 304 ? "0" : undefined);
        if (length === undefined) return onEnd(new Error("an answer without content-length"));
        missing = Number(length) - (head.length - split - HEAD_END.length);
      }
      if (missing > 0) return;
      stop();
      resolve(status);
    };
    socket.on("data", onData).on("error", onEnd).on("close", onEnd);
    socket.write(request);
  });
}
