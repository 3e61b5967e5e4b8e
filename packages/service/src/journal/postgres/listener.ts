import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Listener } from "../../calls/journal.ts";

/** NOTIFY channels; on the first the payload is the key of the call that ended. */
export const ENDED = "attestd_ended";
export const FREED = "attestd_freed";

/** How long after a broken connection the next is made, in ms. Notifications in between are lost. */
const PAUSE_MS = 1_000;

/**
 * Listens on a connection of its own, and makes a new one whenever it breaks.
 *
 * @param connect makes a client that has not connected yet
 * @returns ends the listening
 * @throws Error when the first connection cannot be made
 */
export async function listenOn(connect: () => Client, hear: Required<Listener>): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const { signal } = stop;
  const kept = keep(await open(connect, hear));

  async function keep(first: Client): Promise<void> {
    for (let client: Client | undefined = first; ; ) {
      if (client) {
        // Settles when the connection ends or breaks, and when `signal` is aborted.
        await once(client, "end", { signal }).catch(() => undefined);
        await client.end().catch(() => undefined);
      }
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      client = await open(connect, hear).catch(() => undefined);
    }
  }

  return () => {
    stop.abort();
    return kept;
  };
}

async function open(connect: () => Client, hear: Required<Listener>): Promise<Client> {
  const client = connect();
  client.on("notification", ({ channel, payload }) => {
    if (channel === ENDED && payload) hear.ended(payload);
    if (channel === FREED) hear.freed();
  });
  try {
    await client.connect();
    await client.query(`LISTEN ${ENDED}; LISTEN ${FREED}`);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}
