import { getHeapStatistics } from "node:v8";
import type { Clock } from "../clock.ts";
import { Problem } from "../problems.ts";
import { currentContext } from "../tracing/context.ts";
import { SAME_HEADER } from "./problems.ts";

export type ReadingOptions = {
  /** Bytes that may be under way in all, and of one client. */
  maxBytes: number;
  maxOfClient: number;
  clock: Pick<Clock, "after">;
};

/** Bytes that a service reads at a time. */
const MAX_BYTES = 64 * 2 ** 20;
/** How long a request waits for its turn, and one that has begun to be answered, in ms. */
const PATIENCE_MS = 5_000;
const LONG_PATIENCE_MS = 60_000;
/** Requests that wait, at most. */
const MAX_WAITING = 1_000;
const RETRY_AFTER = 5;

type Waiting = { bytes: number; client: string; enter: () => void };

export type Reading = ReturnType<typeof createReading>;

/** Bounds of a process: a quarter of its heap, and of that a quarter for a client. */
export function readingLimits(heapBytes = getHeapStatistics().heap_size_limit) {
  const maxBytes = Math.min(MAX_BYTES, Math.floor(heapBytes / 4));
  return { maxBytes, maxOfClient: Math.floor(maxBytes / 4) };
}

/**
 * Bounds the bytes of delivered bundles that are in memory on their way to clients, in all and of each. What is more waits
 * shortly, and is then refused. What alone is more than a bound goes when nothing else is under way.
 */
export function createReading({ maxBytes, maxOfClient, clock }: ReadingOptions) {
  const ofClients = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let underWay = 0;

  function fits({ bytes, client }: Waiting): boolean {
    const own = ofClients.get(client) ?? 0;
    return (underWay === 0 || underWay + bytes <= maxBytes) && (own === 0 || own + bytes <= maxOfClient);
  }

  function add(client: string, bytes: number): void {
    underWay += bytes;
    const own = (ofClients.get(client) ?? 0) + bytes;
    if (own > 0) ofClients.set(client, own);
    else ofClients.delete(client);
  }

  function leave(client: string, bytes: number): void {
    add(client, -bytes);
    for (const one of waiting) if (fits(one)) one.enter();
  }

  return {
    /** Bytes that are under way. */
    underWay: () => underWay,
    /**
     * Waits until so many bytes may be read for the client of the context.
     *
     * @param hasBegun whether the answer has begun, which is then not refused as soon
     * @returns to be disposed of when they are no longer in memory
     * @throws Problem `over_capacity`
     */
    async enter(bytes: number, hasBegun = false): Promise<Disposable> {
      const client = currentContext()?.client?.() ?? "";
      let isOver = false;
      const end = () => {
        if (!isOver) leave(client, bytes);
        isOver = true;
      };
      const own: Waiting = { bytes, client, enter: () => undefined };
      if (fits(own)) add(client, bytes);
      else await turn(own, hasBegun ? LONG_PATIENCE_MS : PATIENCE_MS);
      return { [Symbol.dispose]: end };
    },
  };

  function turn(own: Waiting, patienceMs: number): Promise<void> {
    if (waiting.size >= MAX_WAITING) throw refusal();
    return new Promise((resolve, reject) => {
      const cancel = clock.after(patienceMs, () => {
        waiting.delete(own);
        reject(refusal());
      });
      own.enter = () => {
        cancel();
        waiting.delete(own);
        add(own.client, own.bytes);
        resolve();
      };
      waiting.add(own);
    });
  }
}

function refusal(): Problem {
  const detail =
    "Too many large bundles are being read. Nothing was charged for this request: send the same one again.";
  return new Problem("over_capacity", detail, { retryAfter: RETRY_AFTER, members: SAME_HEADER });
}
