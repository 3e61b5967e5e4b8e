import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Listener } from "../../calls/journal.ts";

/** NOTIFY channels; on the first the payload is the key of the call that ended. */
export const ENDED = "attestd_ended";
export const FREED = "attestd_freed";

/** How long after a broken connection the next is made, in ms. Notifications in between are lost. */
const PAUSE_MS = 1_000;

/**
 * Listens on a connection of its own until it is closed, and makes a new one whenever it breaks.
 *
 * @param connect makes a client that has not connected yet
 * @throws Error when the first connection cannot be made
 */
export async function listenOn(connect: () => Client, hear: Required<Listener>) {
  const stop = new AbortController();
  const first = await open(connect, hear);
  const kept = keep(first);

  async function keep(opened: Connection): Promise<void> {
    let connection: Connection | undefined = opened;
    while (!stop.signal.aborted) {
      await connection?.broken(stop.signal);
      await connection?.end();
      await sleep(PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      connection = stop.signal.aborted ? undefined : await open(connect, hear).catch(() => undefined);
    }
    await connection?.end();
  }

  return {
    async close(): Promise<void> {
      stop.abort();
      await kept;
    },
  };
}

type Connection = { broken(stop: AbortSignal): Promise<void>; end(): Promise<void> };

async function open(connect: () => Client, hear: Required<Listener>): Promise<Connection> {
  const client = connect();
  const broken = new Promise<void>((resolve) => {
    client.on("error", () => resolve());
    client.on("end", () => resolve());
  });
  client.on("notification", ({ channel, payload }) => {
    if (channel === ENDED && payload) hear.ended(payload);
    if (channel === FREED) hear.freed();
  });
  const end = () => client.end().catch(() => undefined);
  try {
    await client.connect();
    await client.query(`LISTEN ${ENDED}; LISTEN ${FREED}`);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    broken: (stop) => {
      const stopped = Promise.withResolvers<void>();
      stop.addEventListener("abort", () => stopped.resolve(), { once: true });
      return Promise.race([broken, stopped.promise]);
    },
    end,
  };
}
