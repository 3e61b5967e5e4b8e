import { fork } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** One request, as it is sent again and again. */
export type Request = { method: "GET" | "POST"; path: string; headers?: Record<string, string>; body?: string };

/** What `load-process.ts` is asked. Without `seconds`, every request is sent once. */
export type Job = { port: number; requests: string[]; connections: number; seconds?: number; rampMs?: number };

export type LoadResult = {
  answered: number;
  seconds: number;
  /** Latencies in ms. */
  p50: number;
  p99: number;
  /** Answers by status, and how many. */
  statuses: [status: number, count: number][];
};

/** A process that makes requests over kept-alive connections to this machine. */
export interface Load extends AsyncDisposable {
  /**
   * @param url origin of the server
   * @param status that every answer must have, or those that it may have
   * @throws Error when an answer had another one: a benchmark of errors measures nothing
   */
  run(url: string, requests: readonly Request[], options: LoadOptions): Promise<LoadResult>;

  /** A turn of one request again and again. @returns answers a second */
  rate(url: string, request: Request, turn: Turn): () => Promise<number>;

  /** The same. @returns CPU time of the server's process for an answer, in µs (Linux) */
  cpu(server: { url: string; pid: number }, request: Request, turn: Turn): () => Promise<number>;
}

/** How many connections ask at once where a benchmark says nothing else. */
const CONNECTIONS = 64;

/** `rampMs`: the connections begin one after the other within this time, and all at once without it. */
export type LoadOptions = {
  connections: number;
  seconds?: number;
  rampMs?: number;
  status: number | readonly number[];
};

/** @see LoadOptions; 64 connections unless given */
export type Turn = { status: number; seconds: number; connections?: number };

export function startLoad(): Load {
  const child = fork(fileURLToPath(new URL("./load-process.ts", import.meta.url)));
  const load: Load = {
    async run(url, requests, options) {
      const { status, ...how } = options;
      const job: Job = { ...how, port: Number(new URL(url).port), requests: requests.map(bytesOf) };
      child.send(job);
      const [result] = (await once(child, "message")) as [LoadResult];
      const right = [status].flat();
      if (result.statuses.some(([one]) => !right.includes(one)))
        throw new Error(`answers of another status than ${right}: ${JSON.stringify(result.statuses)}`);
      return result;
    },
    rate: (url, request, turn) => async () => {
      const { answered, seconds } = await load.run(url, [request], { connections: CONNECTIONS, ...turn });
      return answered / seconds;
    },
    cpu: (server, request, turn) => async () => {
      const before = await cpuTime(server.pid);
      const { answered } = await load.run(server.url, [request], { connections: CONNECTIONS, ...turn });
      return ((await cpuTime(server.pid)) - before) / 1000 / answered;
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, "exit");
    },
  };
  return load;
}

/**
 * What the threads of a process have computed, in ns: the first number of their schedstat (proc(5)).
 *
 * @param name of the threads that count; all of them unless given
 */
export async function cpuTime(pid: number, name?: string): Promise<number> {
  const of = async (thread: string) => {
    const folder = `/proc/${pid}/task/${thread}`;
    if (name !== undefined && (await readFile(`${folder}/comm`, "utf8")).trim() !== name) return 0;
    return Number.parseInt(await readFile(`${folder}/schedstat`, "utf8"), 10);
  };
  const times = await Promise.all((await readdir(`/proc/${pid}/task`)).map(of));
  return times.reduce((sum, time) => sum + time, 0);
}

/** HTTP/1.1 bytes of a request, base64. */
function bytesOf({ method, path, headers = {}, body = "" }: Request): string {
  const all = {
    host: "127.0.0.1",
    ...(body && { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`).toString("base64");
}
