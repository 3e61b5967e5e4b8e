import { randomBytes, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { KeyEntry } from "@attestd/proof";
import { type ClientBase, DatabaseError, type QueryConfig } from "pg";
import type { Call, CallHead } from "../../calls/call.ts";
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
import { pruned } from "../../calls/pruning.ts";
import { begunEvidence, evidenceJournal } from "../evidence.ts";
import type { WholeJournal } from "../journal.ts";
import { type Dictionary, dictionaryOf, pack } from "../packing.ts";
import { deliveryOf, evidenceRow, progressOf, requestOf } from "../record.ts";
import { addressOf, connected, connectionTo, messageOf, newClient, newPool, SESSION } from "./connections.ts";
import { createContinuity } from "./continuity.ts";
import { createExpectations } from "./expectations.ts";
import { listenOn } from "./listener.ts";
import { type Ask, postgresReads, statement } from "./reader.ts";
import { holdSchema, migrate } from "./schema.ts";
import { SQL } from "./statements.ts";
import { createWriter, SessionEnded } from "./writer.ts";

/** Connections for everything but the commits of calls. */
const MAX_READERS = 8;
/** Parts of a bundle that are packed before others have their turn. */
const PARTS_AT_ONCE = 32;
/** The error after which the database has no free bytes (disk_full), and for how long, in ms. */
const DISK_FULL = "53100";
const FULL_FOR_MS = 60_000;

/**
 * A journal in a PostgreSQL database, which several replicas may have open at once.
 *
 * @param url `postgres://…`, as libpq reads it; made ready for use when the database is empty
 * @throws Error when the database cannot be used, or a later release has written it; it never names user or password
 */
export async function openPostgresJournal(url: string): Promise<WholeJournal> {
  await connected(url, async (client) => {
    await client.query(SESSION);
    await migrate(client);
  });
  try {
    return await open(url);
  } catch (error) {
    // Neither the error nor its cause is passed on: the driver may have attached user or password.
    throw new Error(`${addressOf(connectionTo(url))}: ${messageOf(error)}`);
  }
}

async function open(url: string): Promise<WholeJournal> {
  const config = connectionTo(url);
  const me = randomUUID();
  const continuity = createContinuity(me);
  /** Calls whose leases are ours. One whose row was found at rest is carried no more: should that be lost, it is leased again. */
  const held = new Map<string, "carried" | "ended">();
  const listeners = new Set<Listener>();

  await using opened = new AsyncDisposableStack();
  /** All that this replica packs with. What a server that takes over lacks of them it gets with the first session. */
  const dictionaries = new Map<string, Dictionary>();
  const check = async (client: ClientBase) => {
    await continuity.check(client);
    for (const { hash, content } of dictionaries.values()) await client.query(SQL.addDictionary, [hash, content]);
  };
  const pool = newPool(config, { max: MAX_READERS }, check);
  opened.defer(() => pool.end());
  const committing = newPool(config, { max: 1, pipeline: true, idleTimeoutMillis: 0 }, check);
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
  const { find: read, calls, same } = postgresReads(ask);

  async function find(key: string): Promise<Call | undefined> {
    const call = await read(key);
    if (call && isAtRest(call) && held.has(call.key)) held.set(call.key, "ended");
    return call;
  }

  async function renew(): Promise<string[]> {
    const asked = [...held.keys()];
    await ask("renew", me, LEASE_MS);
    const lost = asked.length === 0 ? [] : await ask<{ key: string }>("lost", me, asked);
    const keys = lost.map(({ key }) => key).filter((key) => held.delete(key));
    continuity.passOn(keys);
    return keys;
  }

  let dictionary: Promise<Dictionary> | undefined;
  /** That of the newest key, kept before anything names it. */
  async function keptDictionary(): Promise<Dictionary> {
    const [row] = await ask<{ entry: KeyEntry }>("newestKey");
    const made = dictionaryOf(row?.entry);
    dictionaries.set(made.hash.toHex(), made);
    await ask("addDictionary", made.hash, made.content);
    return made;
  }
  /** Makes what packs. */
  async function packer(): Promise<(text: string) => Uint8Array> {
    dictionary ??= keptDictionary();
    try {
      const known = await dictionary;
      return (text) => pack(text, known);
    } catch (error) {
      dictionary = undefined;
      throw error;
    }
  }

  /** The statement that writes a transition. */
  async function transition(after: Call): Promise<QueryConfig> {
    const { key, version, state, bundle, attempts, refund } = after;
    const moved = [key, version, state, !isAtRest(after), progressOf(after)];
    const delivery = deliveryOf(after);
    if (delivery) {
      const packed = await packer();
      const { id, body, bytes, parts, delivered } = delivery;
      const begun = begunEvidence(after);
      const own = [id, packed(delivered), body?.length, bytes, parts.length];
      const contents: Uint8Array[] = [];
      for (const { text } of parts) {
        // A batch of a thousand items takes the time of a hundred calls.
        if (contents.length % PARTS_AT_ONCE === PARTS_AT_ONCE - 1) await setImmediate();
        contents.push(packed(text));
      }
      const ofParts = [parts.map(({ id = null }) => id), parts.map(({ text }) => text.length), contents];
      const ofBegun = [
        ...[begun.map(({ kind }) => kind), begun.map(({ id }) => id), begun.map(({ round }) => round)],
        ...[begun.map(({ txnId }) => txnId), begun.map(({ blockHash }) => blockHash)],
      ];
      return statement("deliver", [...moved, ...own, ...ofParts, ...ofBegun]);
    }
    if (bundle) return statement("move", moved);
    if (isFinal(state)) return statement("end", [...moved, refund]);
    const last = attempts.at(-1);
    if (!last) return statement("move", moved);
    const { txid, raw, firstValid, lastValid, dead } = last;
    return statement("moveAttempt", [...moved, txid, attempts.length - 1, raw, firstValid, lastValid, dead]);
  }

  await ask("forget");
  await renew();
  if ((await same.copiedUntil()) !== undefined) continuity.copied(false);
  const closing = opened.move();
  return {
    ...same,
    find,
    async look(key, sha256) {
      const [head] = await ask<CallHead>("head", key);
      return head && { head, ...(head.payloadSha256 === sha256 && { call: await find(head.key) }) };
    },
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
    async markCopied() {
      // On a connection of its own, which a journal that is behind gives to nothing else.
      await connected(url, async (client) => {
        await client.query(SESSION);
        await holdSchema(client);
        await client.query(SQL.markCopied);
      });
      continuity.copied(true);
      held.clear();
    },
    mayLackSince: continuity.since,
    async secret() {
      await ask("beginSecret", JSON.stringify(randomBytes(32).toString("hex")));
      const [row] = await ask<{ value: string }>("secret");
      return Uint8Array.fromHex(row?.value ?? "");
    },
    ...expectations.journal,
    ...evidenceJournal(ask, same),
    collects: async () => (await ask<{ collects: boolean }>("collects", me))[0]?.collects ?? false,
    async insert(call, expectation) {
      const { key, rail, payer, subjectHash, payloadSha256, createdAt, state, version, requirement } = call;
      const names = [key, ...call.aliases];
      const evidence = evidenceRow(call);
      const request = (await packer())(requestOf(call));
      const fixed = [key, rail, payer, subjectHash, payloadSha256, createdAt, requirement.amount, request];
      const moving = [state, progressOf(call), me];
      const { row, items = [] } = evidence ?? {};
      const ofEvidence = [row?.hash, row?.bytes, row?.content];
      const ofItems = [items.map(({ length }) => length), items];
      const values = [names, ...fixed, ...moving, ...ofEvidence, version, ...ofItems];
      const session = expectation && expectations.sessionOf(expectation);
      const inserting = writer.write(key, statement("insert", values), session);
      const { rowCount } = await inserting.catch((error: unknown) => {
        throw error instanceof SessionEnded ? expectationLost() : error;
      });
      if (rowCount !== 0) {
        continuity.confirm("written", call);
        held.set(key, "carried");
        return call;
      }
      for (const name of names) {
        const holder = await find(name);
        if (holder) return holder;
      }
      throw new Error(`no call has the key ${key}, and it could not be inserted`);
    },
    async update(after) {
      const { key } = after;
      const moving = writer.write(key, await transition(after));
      const { rowCount } = await moving.catch((error: unknown) => {
        throw isNameTaken(error) ? nameTaken(key) : error;
      });
      if (rowCount !== 1) throw callStale(key);
      if (held.has(key)) continuity.confirm("written", after);
      if (isAtRest(after)) held.delete(key);
    },
    async lease(limit) {
      const carried = [...held].flatMap(([key, how]) => (how === "carried" ? [key] : []));
      const taken = await ask<CallHead>("lease", me, carried, limit);
      for (const { key } of taken) held.set(key, "carried");
      if (taken[0]) continuity.confirm("leased", taken[0]);
      return taken.sort((a, b) => a.createdAt - b.createdAt);
    },
    async rememberRefused({ key, payer, subjectHash }) {
      const added = await ask("rememberRefused", key, payer, subjectHash);
      if (added.length > 0) await ask("forgetRefused", payer);
    },
    exposure: async (rail, payer) => BigInt((await ask<{ amount: string }>("exposure", rail, payer))[0]?.amount ?? 0),
    async release() {
      await ask("release", me);
      continuity.passOn([...held.keys()]);
      held.clear();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async rememberPayees(payees) {
      for (const { rail, address } of payees) await ask("rememberPayee", rail, address);
    },
    async appendKey(entry) {
      dictionary = undefined;
      await ask("appendKey", entry.kid, JSON.stringify(entry));
    },
    appendRevocation: async ({ kid, revokedRound }) => void (await ask("appendRevocation", kid, revokedRound)),
    async announce({ record, attempt }) {
      const { txid, raw, firstValid, lastValid } = attempt;
      await ask("announce", JSON.stringify(record), txid, raw, firstValid, lastValid);
      const announced = await same.announced();
      if (!announced) throw new Error("the announcement was concluded by another process");
      return announced;
    },
    async conclude(txid, outcome) {
      dictionary = undefined;
      await ask("conclude", txid, outcome === "noted");
    },
    async prune(before, limit) {
      const packed = await packer();
      const found = await calls("toPrune", before, limit);
      // One that is damaged stays, and is no reason to keep the others.
      const whole = found.flatMap((row) => ("fault" in row ? [] : [row]));
      for (const call of whole) {
        await ask("prune", call.key, packed(requestOf(pruned(call))));
        await ask("forgetBytes", call.key);
      }
      return whole.length === 0 ? 0 : found.length;
    },
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
