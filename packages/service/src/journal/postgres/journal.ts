import { randomUUID } from "node:crypto";
import { type ClientConfig, DatabaseError, type QueryConfig, type QueryResultRow } from "pg";
import type { KeyAnnouncement, KeyJournal } from "../../attestor/key-journal.ts";
import type { Call } from "../../calls/call.ts";
import { type Journal, LEASE_MS, type Listener, NameTaken, StaleCall } from "../../calls/journal.ts";
import { isAtRest, isFinal } from "../../calls/machine.ts";
import { type CallRecord, evidenceRow, progressOf, requestOf, toCall } from "../record.ts";
import { connectionTo, messageOf, newClient, newPool, placeOf, SESSION } from "./connections.ts";
import { listenOn } from "./listener.ts";
import { migrate } from "./schema.ts";
import { SQL } from "./statements.ts";
import { Writer } from "./writer.ts";

/** Connections for everything but the commits of calls. */
const READERS = 8;

type Row = Omit<CallRecord, "created_at"> & { created_at: string };
type AnnouncementRow = {
  record: KeyAnnouncement["record"];
  txid: string;
  raw: Buffer;
  first_valid: string;
  last_valid: string;
};

/**
 * A journal in a PostgreSQL database, which several replicas may have open at once.
 *
 * @param url `postgres://…`, as libpq reads it; made ready for use when the database is empty
 * @throws Error when the database cannot be used, or a later release has written it; it never names user or password
 */
export async function openPostgresJournal(url: string): Promise<Journal & KeyJournal> {
  const config = connectionTo(url);
  const place = placeOf(config);
  try {
    return await open(config);
  } catch (error) {
    // Neither the error itself nor its cause: what the driver hangs on its errors is not ours to vouch for.
    throw new Error(`${place}: ${messageOf(error)}`);
  }
}

async function open(config: ClientConfig): Promise<Journal & KeyJournal> {
  const me = randomUUID();
  const held = new Set<string>();
  const listeners = new Set<Listener>();

  await using opened = new AsyncDisposableStack();
  const migrator = newClient(config);
  try {
    await migrator.connect();
    await migrator.query(SESSION);
    await migrate(migrator);
  } finally {
    await migrator.end().catch(() => undefined);
  }
  const pool = newPool(config, { max: READERS });
  opened.defer(() => pool.end());
  const committing = newPool(config, { max: 1, pipeline: true, idleTimeoutMillis: 0 });
  opened.defer(() => committing.end());
  const room = new Room();
  const writer = new Writer(committing, (error) => room.notice(error));
  const hearing = await listenOn(() => newClient(config), {
    ended: (key) => tell((listener) => listener.ended?.(key)),
    freed: () => tell((listener) => listener.freed?.()),
  });
  opened.defer(() => hearing.close());

  function tell(what: (listener: Listener) => void): void {
    for (const listener of [...listeners]) what(listener);
  }

  async function ask<R extends QueryResultRow>(name: keyof typeof SQL, ...values: unknown[]): Promise<R[]> {
    return (await pool.query<R>(statement(name, values))).rows;
  }

  async function calls(name: "find" | "open" | "among", ...values: unknown[]): Promise<Call[]> {
    return (await ask<Row>(name, ...values)).map((row) => toCall({ ...row, created_at: Number(row.created_at) }));
  }

  async function find(key: string): Promise<Call | undefined> {
    return (await calls("find", key))[0];
  }

  async function announced(): Promise<KeyAnnouncement | undefined> {
    const [row] = await ask<AnnouncementRow>("announced");
    if (!row) return undefined;
    const { record, txid, raw, first_valid, last_valid } = row;
    const attempt = { txid, raw: new Uint8Array(raw), firstValid: Number(first_valid), lastValid: Number(last_valid) };
    return { record, attempt };
  }

  async function renew(): Promise<string[]> {
    const asked = [...held];
    await ask("renew", me, LEASE_MS);
    const lost = asked.length === 0 ? [] : await ask<{ key: string }>("lost", me, asked);
    return lost.map(({ key }) => key).filter((key) => held.delete(key));
  }

  await ask("forget");
  await renew();
  const closing = opened.move();
  return {
    find,
    renew,
    open: () => calls("open"),
    holds: (key) => held.has(key),
    async claim(identity) {
      await ask("claim", JSON.stringify(identity));
      const [row] = await ask("claimed");
      return row?.value;
    },
    async insert(call) {
      const { key, rail, payer, subjectHash, createdAt, state, version } = call;
      const names = [key, ...call.aliases];
      const evidence = evidenceRow(call);
      const { rowCount } = await writer.write(
        key,
        statement("insert", [
          names,
          key,
          rail,
          payer,
          subjectHash,
          createdAt,
          requestOf(call),
          state,
          version,
          progressOf(call),
          me,
          evidence?.hash,
          evidence?.content,
        ]),
      );
      if (rowCount !== 0) {
        held.add(key);
        return call;
      }
      for (const name of names) {
        const holder = await find(name);
        if (holder) return holder;
      }
      throw new Error(`nobody holds ${key}, and it could not be inserted`);
    },
    async update(after) {
      const { key, version, state, bundle, attempts, evidence, refund } = after;
      const last = attempts.at(-1);
      const moving = writer.write(
        key,
        statement("update", [
          key,
          version,
          state,
          !isAtRest(after),
          progressOf(after),
          bundle?.id,
          bundle?.body,
          last?.txid,
          attempts.length - 1,
          last?.raw,
          last?.firstValid,
          last?.lastValid,
          last?.dead,
          isFinal(state),
          evidence === undefined,
          refund,
        ]),
      );
      const { rowCount } = await moving.catch((error: unknown) => {
        throw isNameTaken(error) ? new NameTaken(key) : error;
      });
      if (rowCount !== 1) throw new StaleCall(key);
      if (isAtRest(after)) held.delete(key);
    },
    async lease(limit) {
      const taken = await ask<{ key: string }>("lease", me, [...held], limit);
      if (taken.length === 0) return [];
      const keys = taken.map(({ key }) => key);
      // Read afterwards: an UPDATE gives rows as they are now, but their attempts as they were when it began.
      const leased = await calls("among", keys);
      for (const key of keys) held.add(key);
      return leased;
    },
    async exposure(rail, payer) {
      const [row] = await ask<{ amount: string }>("exposure", rail, payer);
      return BigInt(row?.amount ?? 0);
    },
    async release() {
      await ask("release", me);
      held.clear();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async bundle(id) {
      const [row] = await ask<{ bundle: string }>("bundle", id);
      return row?.bundle;
    },
    async rememberPayees(payees) {
      for (const { rail, address } of payees) await ask("rememberPayee", rail, address);
    },
    payees: () => ask("payees"),
    async keys() {
      return (await ask("keys")).map(({ entry }) => entry);
    },
    async appendKey(entry) {
      await ask("appendKey", entry.kid, JSON.stringify(entry));
    },
    async revocations() {
      const rows = await ask<{ kid: string; revoked_round: string }>("revocations");
      return rows.map(({ kid, revoked_round }) => ({ kid, revokedRound: Number(revoked_round) }));
    },
    async appendRevocation({ kid, revokedRound }) {
      await ask("appendRevocation", kid, revokedRound);
    },
    announced,
    async announce(announcement) {
      const { record, attempt } = announcement;
      const { txid, raw, firstValid, lastValid } = attempt;
      await ask("announce", JSON.stringify(record), txid, raw, firstValid, lastValid);
      const standing = await announced();
      if (!standing) throw new Error("the announcement was concluded by another process");
      return standing;
    },
    async conclude(txid, outcome) {
      await ask("conclude", txid, outcome === "noted");
    },
    freeBytes: async () => room.left(),
    async others() {
      const [row] = await ask<{ others: number }>("others", me);
      return row?.others ?? 0;
    },
    async close() {
      await writer.idle();
      await closing.disposeAsync();
    },
  };
}

/** How long a refusal for want of room counts, in ms. */
const FULL_FOR_MS = 60_000;

/** What the database lets know of the room that it has: that there is none, when it says so (disk_full, 53100). */
class Room {
  #fullUntil = Number.NEGATIVE_INFINITY;

  notice(error: DatabaseError): void {
    if (error.code === "53100") this.#fullUntil = performance.now() + FULL_FOR_MS;
  }

  left(): bigint | undefined {
    return performance.now() < this.#fullUntil ? 0n : undefined;
  }
}

/** A unique violation (23505) of the table of names. */
function isNameTaken(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "23505" && error.table === "names";
}

function statement(name: keyof typeof SQL, values: unknown[]): QueryConfig {
  return { name, text: SQL[name], values };
}
