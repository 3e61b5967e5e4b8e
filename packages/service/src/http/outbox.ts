import type { ServerResponse } from "node:http";
import { SAME_HEADER } from "../calls/problems.ts";
import { Problem } from "../problems.ts";

const MIB = 1024 * 1024;
/** Bytes of answers that may wait for one client, beside a first one of whatever size: those of two large batches. */
const MAX_PER_CLIENT = 32 * MIB;
/** The same for all clients. */
const MAX_IN_ALL = 128 * MIB;
/** The slowest reader whose answer is never dropped for want of room, in bytes per ms. */
const MIN_RATE = 50;
/** How long an answer may be behind that reader, or without any progress, in ms: such a reader is seen to take some every 26 s. */
const STALE_MS = 30_000;
/** After how many seconds a refused request may come again. */
const RETRY_AFTER = 10;

export type OutboxOptions = {
  maxPerClient?: number;
  maxInAll?: number;
  /** Monotonic, in ms. */
  now?: () => number;
};

/** An answer that waits for its client to read it. */
export type Waiting = {
  /** To be called whenever the connection has taken some of it. @param bytes how many */
  took(bytes: number): void;
};

/** `since`: when it was sent, `tookAt`: when `taken` grew last, by the outbox's clock. */
type Entry = { outgoing: ServerResponse; client: string; bytes: number; taken: number; since: number; tookAt: number };

/** From when an answer may be dropped: its client takes nothing, or a little now and then to keep its place. */
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

/**
 * Bounds the bytes of answers that are under way: a client that does not read what it asked for makes the service hold it. An
 * answer counts from when it is sent until its client's connection has taken all of it, or has ended.
 */
export function createOutbox({
  maxPerClient = MAX_PER_CLIENT,
  maxInAll = MAX_IN_ALL,
  now = () => performance.now(),
}: OutboxOptions = {}) {
  const waiting = new Set<Entry>();
  const byClient = new Map<string, number>();
  let inAll = 0;

  function add(entry: Entry): void {
    // Its client hung up before it was ready: there is no `close` to come.
    if (entry.outgoing.closed) return;
    waiting.add(entry);
    inAll += entry.bytes;
    byClient.set(entry.client, (byClient.get(entry.client) ?? 0) + entry.bytes);
    entry.outgoing.once("close", () => remove(entry));
  }

  function remove(entry: Entry): void {
    if (!waiting.delete(entry)) return;
    const { client, bytes } = entry;
    inAll -= bytes;
    const rest = (byClient.get(client) ?? 0) - bytes;
    if (rest > 0) byClient.set(client, rest);
    else byClient.delete(client);
  }

  /**
   * Closes the connections of stale answers, the stalest first, until so many bytes more are within a limit. Closes none
   * where that makes too little room.
   *
   * @param client whose answers are meant; those of all unless given
   */
  function makeRoom(bytes: number, limit: number, client?: string): void {
    const among = [...waiting].filter((entry) => client === undefined || entry.client === client);
    const stale = among.filter((entry) => staleAt(entry) <= now()).sort((a, b) => staleAt(a) - staleAt(b));
    let held = bytesOf(among);
    if (isOver(held - bytesOf(stale), bytes, limit)) return;
    for (const entry of stale) {
      if (!isOver(held, bytes, limit)) return;
      held -= entry.bytes;
      remove(entry);
      entry.outgoing.req.socket.destroy();
    }
  }

  function ownOf(client: string): number {
    return byClient.get(client) ?? 0;
  }

  return {
    /** Bytes that wait now, and connections on which they do. */
    get load() {
      return { bytes: inAll, answers: waiting.size };
    },

    /**
     * Counts an answer that is about to be sent.
     *
     * @param client the name under which its requests are counted
     * @param bytes that are held until it is sent
     * @returns why it may not be sent, if so
     */
    admit(outgoing: ServerResponse, client: string, bytes: number): Waiting | Problem {
      if (isOver(ownOf(client), bytes, maxPerClient)) makeRoom(bytes, maxPerClient, client);
      if (isOver(ownOf(client), bytes, maxPerClient)) {
        const held = Math.ceil(ownOf(client) / MIB);
        return refusal(outgoing, `${held} MiB of answers wait for this client to read them.`);
      }
      if (isOver(inAll, bytes, maxInAll)) makeRoom(bytes, maxInAll);
      if (isOver(inAll, bytes, maxInAll))
        return refusal(outgoing, "Too many answers wait for their clients to read them.");
      const entry: Entry = { outgoing, client, bytes, taken: 0, since: now(), tookAt: now() };
      add(entry);
      return {
        took(more) {
          entry.taken += more;
          entry.tookAt = now();
        },
      };
    },
  };
}

/** A payment that came with the request is safe, whatever became of it: its answer is there for the same header. */
function refusal({ req }: ServerResponse, detail: string): Problem {
  const members = req.headers["payment-signature"] === undefined ? {} : SAME_HEADER;
  return new Problem("too_many_requests", detail, { retryAfter: RETRY_AFTER, members });
}
