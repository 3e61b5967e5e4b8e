import { randomBytes, randomUUID } from "node:crypto";
import { type ClientConfig, DatabaseError } from "pg";
import type { Logger } from "pino";
import { divisionOf } from "../../calls/apart.ts";
import {
  callStale,
  expectationLost,
  type Identity,
  LEASE_MS,
  type Listener,
  nameTaken,
  type OpenCall,
} from "../../calls/journal.ts";
import { isAtRest, isFinal } from "../../calls/machine.ts";
import { begunEvidence, evidenceJournal } from "../evidence.ts";
import type { WholeJournal } from "../journal.ts";
import { createPacker, createPruner, type PackingPort, REST, type Rest } from "../packer.ts";
import type { Dictionary } from "../packing.ts";
import { createPackingFailures } from "../packing-failures.ts";
import { evidenceRow, progressOf, requestOf } from "../record.ts";
import { addressOf, connected, connectionTo, messageOf, newClient, newPool, SESSION } from "./connections.ts";
import { createExpectations } from "./expectations.ts";
import { listenOn } from "./listener.ts";
import { type Ask, postgresReads, statement } from "./reader.ts";
import { migrate } from "./schema.ts";
import { createWriter, SessionEnded } from "./writer.ts";

/** Connections for everything but the commits of calls. */
const MAX_READERS = 8;
/** The error after which the database has no free bytes (disk_full), and for how long, in ms. */
const DISK_FULL = "53100";
const FULL_FOR_MS = 60_000;

/**
 * A journal in a PostgreSQL database, which several replicas may have open at once.
 *
 * @param url `postgres://…`, as libpq reads it; made ready for use when the database is empty
 * @param log of calls that could not be packed
 * @throws Error when the database cannot be used, or a later release has written it; it never names user or password
 */
export async function openPostgresJournal(url: string, log?: Pick<Logger, "warn">): Promise<WholeJournal> {
  await connected(url, async (client) => {
    await client.query(SESSION);
    await migrate(client);
  });
  const config = connectionTo(url);
  try {
    return await open(config, log);
  } catch (error) {
    // Neither the error nor its cause is passed on: the driver may have attached user or password.
    throw new Error(`${addressOf(config)}: ${messageOf(error)}`);
  }
}

async function open(config: ClientConfig, log: Pick<Logger, "warn"> | undefined): Promise<WholeJournal> {
  const me = randomUUID();
  const held = new Set<string>();
  const listeners = new Set<Listener>();

  await using opened = new AsyncDisposableStack();
  const pool = newPool(config, { max: MAX_READERS });
  opened.defer(() => pool.end());
  const committing = newPool(config, { max: 1, pipeline: true, idleTimeoutMillis: 0 });
  opened.defer(() => committing.end());
  let fullUntil = Number.NEGATIVE_INFINITY;
  const writer = createWriter(committing, ({ code }) => {
    if (code === DISK_FULL) fullUntil = performance.now() + FULL_FOR_MS;
  });
  const stopListening = await listenOn(() => newClient(config), {
    ended(key) {
      for (const listener of [...listeners]) listener.ended?.(key);
    },
    freed() {
      for (const listener of [...listeners]) listener.freed?.();
    },
  });
  opened.defer(stopListening);

  const expectations = createExpectations(writer);

  const ask: Ask = async (name, ...values) => (await pool.query(statement(name, values))).rows;
  const { rows, calls, same } = postgresReads(ask);

  const find = async (key: string) => (await calls("find", key))[0];

  async function renew(): Promise<string[]> {
    const asked = [...held];
    await ask("renew", me, LEASE_MS);
    const lost = asked.length === 0 ? [] : await ask<{ key: string }>("lost", me, asked);
    return lost.map(({ key }) => key).filter((key) => held.delete(key));
  }

  const packingFailed = createPackingFailures(log);
  const packing = (rest: Rest): PackingPort => ({
    dictionaries: () => ask<Dictionary>("dictionaries"),
    async commit(rows, fresh) {
      for (const { hash, kind, content } of fresh) await ask("addDictionary", hash, kind, content);
      const hashes = rows.map(({ dictionary }) => dictionary?.hash ?? null);
      const columns = [rows.map(({ key }) => key), rows.map(({ packed }) => packed), hashes];
      await ask("pack", ...columns, rest);
    },
  });
  const packer = createPacker({ ...packing(REST.packed), take: (limit) => rows("toPack", me, limit) }, (error) =>
    packingFailed(messageOf(error)),
  );
  opened.defer(packer.stop);

  await ask("forget");
  await renew();
  packer.start();
  const closing = opened.move();
  return {
    ...same,
    find,
    renew,
    async open() {
      const found = await ask<Omit<OpenCall, "bundle"> & { bundleId: string | null }>("open");
      return found.map(({ bundleId, ...call }) => ({
        ...call,
        ...(bundleId !== null && { bundle: { id: bundleId } }),
      }));
    },
    holds: (key) => held.has(key),
    async claim(own) {
      await ask("claim", JSON.stringify(own));
      return (await same.identity()) as Identity;
    },
    markCopied: async () => void (await ask("markCopied")),
    async secret() {
      await ask("beginSecret", JSON.stringify(randomBytes(32).toString("hex")));
      const [row] = await ask<{ value: string }>("secret");
      return Uint8Array.fromHex(row?.value ?? "");
    },
    ...expectations.journal,
    ...evidenceJournal(ask, same),
    collects: async () => (await ask<{ collects: boolean }>("collects", me))[0]?.collects ?? false,
    async insert(call, expectation) {
      const { key, rail, payer, subjectHash, createdAt, state, version, requirement } = call;
      const names = [key, ...call.aliases];
      const evidence = evidenceRow(call);
      const fixed = [key, rail, payer, subjectHash, createdAt, requestOf(call)];
      const moving = [state, version, progressOf(call), me];
      const values = [
        names,
        ...fixed,
        ...moving,
        evidence?.hash,
        evidence?.content,
        requirement.amount,
        evidence?.bytes,
      ];
      const session = expectation && expectations.sessionOf(expectation);
      const inserting = writer.write(key, statement("insert", values), session);
      const { rowCount } = await inserting.catch((error: unknown) => {
        throw error instanceof SessionEnded ? expectationLost() : error;
      });
      if (rowCount !== 0) {
        held.add(key);
        return call;
      }
      for (const name of names) {
        const holder = await find(name);
        if (holder) return holder;
      }
      throw new Error(`no call has the key ${key}, and it could not be inserted`);
    },
    async update(after) {
      const { key, version, state, bundle, attempts, evidence, refund } = after;
      const last = attempts.at(-1);
      const division = bundle && divisionOf(bundle);
      const row = [key, version, state, !isAtRest(after), progressOf(after), bundle?.id, division?.body];
      const attempt = [last?.txid, attempts.length - 1, last?.raw, last?.firstValid, last?.lastValid, last?.dead];
      const parts = division?.parts ?? [];
      const begun = division ? begunEvidence(after) : [];
      const columns = [
        ...[begun.map(({ blockHash }) => blockHash), division?.bytes, division && parts.length],
        ...[parts.map(({ id = null }) => id), parts.map(({ text }) => text)],
        ...[begun.map(({ kind }) => kind), begun.map(({ id }) => id)],
        ...[begun.map(({ round }) => round), begun.map(({ txnId }) => txnId)],
      ];
      const values = [...row, ...attempt, isFinal(state), evidence === undefined, refund, ...columns];
      const moving = writer.write(key, statement("update", values));
      const { rowCount } = await moving.catch((error: unknown) => {
        throw isNameTaken(error) ? nameTaken(key) : error;
      });
      if (rowCount !== 1) throw callStale(key);
      if (!isAtRest(after)) return;
      held.delete(key);
      packer.start();
    },
    async lease(limit) {
      const taken = await ask<{ key: string }>("lease", me, [...held], limit);
      if (taken.length === 0) return [];
      const keys = taken.map(({ key }) => key);
      // In a statement of its own: an UPDATE would return the attempts as they were when it began.
      const leased = await calls("among", keys);
      for (const key of keys) held.add(key);
      return leased;
    },
    async rememberRefused({ key, payer, subjectHash }) {
      const added = await ask("rememberRefused", key, payer, subjectHash);
      if (added.length > 0) await ask("forgetRefused", payer);
    },
    exposure: async (rail, payer) => BigInt((await ask<{ amount: string }>("exposure", rail, payer))[0]?.amount ?? 0),
    async release() {
      await ask("release", me);
      held.clear();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async rememberPayees(payees) {
      for (const { rail, address } of payees) await ask("rememberPayee", rail, address);
    },
    appendKey: async (entry) => void (await ask("appendKey", entry.kid, JSON.stringify(entry))),
    appendRevocation: async ({ kid, revokedRound }) => void (await ask("appendRevocation", kid, revokedRound)),
    async announce({ record, attempt }) {
      const { txid, raw, firstValid, lastValid } = attempt;
      await ask("announce", JSON.stringify(record), txid, raw, firstValid, lastValid);
      const standing = await same.announced();
      if (!standing) throw new Error("the announcement was concluded by another process");
      return standing;
    },
    conclude: async (txid, outcome) => void (await ask("conclude", txid, outcome === "noted")),
    unpacked: async () => (await ask<{ calls: number }>("unpacked"))[0]?.calls ?? 0,
    prune: createPruner({ ...packing(REST.pruned), take: (before, limit) => rows("toPrune", before, limit) }),
    freeBytes: async () => (performance.now() < fullUntil ? 0n : undefined),
    sizeBytes: async () => Number((await ask<{ size: string }>("size"))[0]?.size),
    others: async () => (await ask<{ others: number }>("others", me))[0]?.others ?? 0,
    async close() {
      await writer.idle();
      await closing.disposeAsync();
    },
  };
}

/** A unique violation (23505) of the table of names. */
function isNameTaken(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "23505" && error.table === "names";
}
