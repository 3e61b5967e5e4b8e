import { getHeapStatistics } from "node:v8";
import { type Clock, systemClock } from "../lib/clock.ts";
import { Problem, SAME_HEADER } from "../lib/problems.ts";
import { currentContext } from "../observe/tracing/context.ts";

export type UnderWayOptions = {
  /** Bytes that may be under way in all, and of one client. */
  maxBytes: number;
  maxOfClient: number;
  clock: Pick<Clock, "after">;
  /** Monotonic, in ms. */
  now?: () => number;
};

/** Bytes that a service has under way at a time. */
const MAX_BYTES = 128 * 2 ** 20;
/** The slowest reader whose answer is never closed for want of room, in bytes per ms. */
const MIN_RATE = 50;
/** How long an answer may be behind that reader, or without any progress, in ms: such a reader is seen to take some every 26 s. */
const STALE_MS = 30_000;
/** How long a request waits for its turn, and one that has begun to be answered, in ms. */
const PATIENCE_MS = 5_000;
const LONG_PATIENCE_MS = 60_000;
/** Requests that wait, at most. */
const MAX_WAITING = 1_000;
/** After how many seconds a refused request may come again. */
export const RETRY_AFTER = 10;

/** Bytes that are asked for. `close`: ends the client's connection, where it has one. */
type Asked = { client: string; bytes: number; close: (() => void) | undefined };
/** `since`: when they were put under way, `tookAt`: when `taken` grew last. */
type Entry = Asked & { taken: number; since: number; tookAt: number };
type Waiting = Asked & { enter: () => void };

/** Bytes under way, until they are disposed of. */
export type Held = Disposable & {
  /** To be called whenever the connection has taken some of them. @param bytes how many */
  took(bytes: number): void;
};

export type UnderWay = ReturnType<typeof createUnderWay>;

/** Bounds of a process: a quarter of its heap, and of that a quarter for a client. */
export function underWayLimits(heapBytes = getHeapStatistics().heap_size_limit) {
  const maxBytes = Math.min(MAX_BYTES, Math.floor(heapBytes / 4));
  return { maxBytes, maxOfClient: Math.floor(maxBytes / 4) };
}

/**
 * Bounds the bytes that are in memory on their way to clients, in all and of each: answers that wait for their clients to read
 * them, and the pieces of long ones. The first ones of a client go, however many, and where nothing else is under way.
 */
export function createUnderWay(
  { maxBytes, maxOfClient, clock, now = () => performance.now() }: UnderWayOptions = {
    ...underWayLimits(),
    clock: systemClock,
  },
) {
  const entries = new Set<Entry>();
  const waiting = new Set<Waiting>();
  /** Bytes under way in all, and of each client that has any. */
  let inAll = 0;
  const ofClients = new Map<string, number>();

  function heldBy(client?: string): number {
    return client === undefined ? inAll : (ofClients.get(client) ?? 0);
  }

  function count(client: string, bytes: number): void {
    inAll += bytes;
    const held = heldBy(client) + bytes;
    if (held > 0) ofClients.set(client, held);
    else ofClients.delete(client);
  }

  function fits({ client, bytes }: Asked): boolean {
    return !isOver(heldBy(client), bytes, maxOfClient) && !isOver(heldBy(), bytes, maxBytes);
  }

  function add(asked: Asked): Held {
    const entry: Entry = { ...asked, taken: 0, since: now(), tookAt: now() };
    entries.add(entry);
    count(entry.client, entry.bytes);
    return {
      took(more) {
        entry.taken += more;
        entry.tookAt = now();
      },
      [Symbol.dispose]: () => leave(entry),
    };
  }

  function leave(entry: Entry): void {
    if (!entries.delete(entry)) return;
    count(entry.client, -entry.bytes);
    for (const one of waiting) if (fits(one)) one.enter();
  }

  /**
   * Closes the connections of stale answers, the stalest first, until so many bytes more are within a limit. Closes none
   * where that makes too little room.
   *
   * @param client whose answers are meant; those of all unless given
   */
  function makeRoom(bytes: number, limit: number, client?: string): void {
    let held = heldBy(client);
    if (!isOver(held, bytes, limit)) return;
    const ofClient = [...entries].filter((entry) => client === undefined || entry.client === client);
    const stale = ofClient.filter((entry) => entry.close && staleAt(entry) <= now());
    if (isOver(held - bytesOf(stale), bytes, limit)) return;
    for (const entry of stale.sort((a, b) => staleAt(a) - staleAt(b))) {
      if (!isOver(held, bytes, limit)) return;
      held -= entry.bytes;
      leave(entry);
      entry.close?.();
    }
  }

  /** @returns undefined where there is no room */
  function tryEnter(asked: Asked): Held | undefined {
    makeRoom(asked.bytes, maxOfClient, asked.client);
    makeRoom(asked.bytes, maxBytes);
    return fits(asked) ? add(asked) : undefined;
  }

  function turn(asked: Asked, patienceMs: number): Promise<Held> {
    if (waiting.size >= MAX_WAITING) throw refusal();
    return new Promise((resolve, reject) => {
      const cancel = clock.after(patienceMs, () => {
        waiting.delete(own);
        reject(refusal());
      });
      const own: Waiting = {
        ...asked,
        enter() {
          cancel();
          waiting.delete(own);
          resolve(add(asked));
        },
      };
      waiting.add(own);
    });
  }

  return {
    /** Bytes that are under way. */
    bytes: () => inAll,
    tryEnter,
    /**
     * Waits until so many bytes may be put under way for the client of the context.
     *
     * @param hasBegun whether the answer has begun, which is then not refused as soon
     * @throws Problem `over_capacity`
     */
    async enter(bytes: number, hasBegun = false): Promise<Held> {
      const { client, answer } = currentContext() ?? {};
      const asked = { client: client?.() ?? "", bytes, close: answer?.close };
      return tryEnter(asked) ?? turn(asked, hasBegun ? LONG_PATIENCE_MS : PATIENCE_MS);
    },
  };
}

/** From when an answer may be closed: its client takes nothing, or a little now and then to keep its place. */
function staleAt({ since, taken, tookAt }: Entry): number {
  return STALE_MS + Math.min(tookAt, since + taken / MIN_RATE);
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Whether so many bytes more are above a limit; the first ones are not, however many. */
function isOver(held: number, more: number, limit: number): boolean {
  return held > 0 && held + more > limit;
}

function refusal(): Problem {
  const detail =
    "Too many large bundles are being sent. Nothing was charged for this request: send the same one again.";
  return new Problem("over_capacity", detail, { retryAfter: RETRY_AFTER, members: SAME_HEADER });
}
