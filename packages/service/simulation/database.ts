import { type Division, divisionOf, keptBundle, rowOf } from "../src/calls/apart.ts";
import type { Call, CallHead } from "../src/calls/call.ts";
import { APART } from "../src/calls/call.ts";
import {
  callStale,
  expectationLost,
  type Identity,
  type Journal,
  type Listener,
  nameTaken,
  type StoredBundle,
} from "../src/calls/journal.ts";
import { isAtRest, isFinal, isUnpaid } from "../src/calls/machine.ts";
import { MAX_REFUSED, MAX_REFUSED_OF_PAYER, type RefusedPayment } from "../src/calls/refused.ts";
import { ServiceError } from "../src/errors.ts";
import type { RailName } from "../src/payment/rails/rail.ts";
import { BESIDE_ITEM } from "../src/subjects/batch-answer.ts";
import { Expectations } from "./expectations.ts";

export type DatabaseOptions = {
  /** The journal's own clock, in ms. */
  now(): number;
  /** How long leases outlive the last sign of life now, in ms. */
  leaseMs(): number;
  /** Called with every commit of a call. */
  committed?(call: Call): void;
  /** Called with every lease that is taken from a running replica. */
  taken?(call: Call): void;
  /** Steps taken so far. */
  step?(): number;
};

/** How a replica reaches the database: carries the work there, has it done, and brings back what came of it. */
export type Link = <T>(what: string, about: string, work: () => T) => Promise<T>;

/** Brings a hint to a replica, perhaps late, twice or never. */
export type Hint = (deliver: () => void) => void;

export type ConnectOptions = {
  link?: Link;
  hint?: Hint;
  /** Whether the replica's process is there; it always is unless given. */
  isThere?: () => boolean;
  /** Whether it is there or only stands still: its connections are then still open. */
  isAlive?: () => boolean;
  /** Called when a call of this replica is inserted, with the step in which it was first expected. */
  inserted?(call: Call, expectedIn: number | undefined): void;
  /** Called when this replica learns that no other one expects a call under a name. */
  unexpected?(name: string): void;
};

type Replica = { aliveUntil: number; isThere: () => boolean };

/** Calls are never mutated, so that a row may be the very object that was committed. */
type Row = { call: Call; carrier: number | undefined };

/** What is durable: it holds what was committed, whatever becomes of the processes. Each method is one transaction. */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #rows = new Map<string, Row>();
  /** Keys and aliases with the key of the call that holds them. */
  readonly #holders = new Map<string, string>();
  /** What stands of each bundle in its row, and apart, by its id. */
  readonly #bundles = new Map<string, Division>();
  /** Where each item of a batch stands. */
  readonly #items = new Map<string, { bundleId: string; place: number }>();
  readonly #refused = new Map<string, RefusedPayment>();
  /** Keys of refused payments that were beyond the bounds. */
  readonly #forgotten = new Set<string>();
  readonly #payees: { rail: RailName; address: string }[] = [];
  #identity: Identity | undefined;
  readonly #replicas: Replica[] = [];
  readonly #expectations = new Expectations();
  readonly #listening = new Set<{ hint: Hint; listener: Listener }>();

  constructor(options: DatabaseOptions) {
    this.#options = options;
  }

  /** Every call, as committed. */
  get calls(): Call[] {
    return [...this.#rows.values()].map(({ call }) => call);
  }

  /** The call that holds a key or an alias, as committed. */
  find(key: string): Call | undefined {
    return this.#rows.get(this.#holders.get(key) ?? "")?.call;
  }

  /** The subject for which a refused payment is remembered, if it is. */
  refusedFor(key: string): string | undefined {
    return this.#refused.get(key)?.subjectHash;
  }

  /** Whether a refused payment was forgotten, because its payer had newer ones. */
  hasForgotten(key: string): boolean {
    return this.#forgotten.has(key);
  }

  /** How a delivered bundle is kept. */
  bundle(id: string): Division | undefined {
    return this.#bundles.get(id);
  }

  #stored(id: string): StoredBundle | undefined {
    const item = this.#items.get(id);
    const { bundleId, place } = item ?? { bundleId: id, place: null };
    const kept = this.#bundles.get(bundleId);
    if (!kept) return undefined;
    const { body = "", bytes, parts } = kept;
    const length = place === null ? bytes : BESIDE_ITEM + body.length + (parts[place]?.text.length ?? 0);
    return { bundleId, bytes: length, place, parts: parts.length };
  }

  #partsOf(bundleId: string, from: number, bytes: number): string[] {
    const parts = this.#bundles.get(bundleId)?.parts ?? [];
    let sum = 0;
    const next = parts.slice(from).map(({ text }) => text);
    return next.filter((text, i) => {
      sum += text.length;
      return i === 0 || sum <= bytes;
    });
  }

  /**
   * Opens the journal: one replica. Nothing of it is left but what it committed when its process dies. Unless told
   * otherwise its links lose nothing and take no time.
   */
  connect(options: ConnectOptions = {}): Journal {
    const { hint = (deliver) => deliver(), isThere = () => true, isAlive = isThere, inserted, unexpected } = options;
    /** Replaced whenever a connection breaks. */
    let session = { isOpen: isAlive };
    const link: Link = (what, about, work) =>
      (options.link ?? direct)(what, about, work).catch((error: unknown) => {
        if (error instanceof ServiceError) throw error;
        session.isOpen = () => false;
        session = { isOpen: isAlive };
        throw error;
      });
    const replica = this.#replicas.push({ aliveUntil: this.#leaseEnd(), isThere }) - 1;
    /** Keys of the calls that this replica holds, as far as it knows. */
    const held = new Set<string>();
    const own = new Set<{ hint: Hint; listener: Listener }>();

    return {
      secret: () => link("secret", "", () => new Uint8Array(32)),
      claim: (identity) => link("claim", "", () => (this.#identity ??= identity)),
      find: (key) =>
        link("find", key, () => {
          const call = this.find(key);
          return call && rowOf(call);
        }),
      look: (key, sha256) =>
        link("find", key, () => {
          const call = this.find(key);
          return call && { head: headOf(call), ...(call.payloadSha256 === sha256 && { call: rowOf(call) }) };
        }),
      evidenceOf: (key) =>
        link("evidence", key, () => {
          const evidence = this.#rows.get(key)?.call.evidence;
          return evidence === APART ? undefined : evidence;
        }),
      expect: (names) => {
        const { step = () => 0 } = this.#options;
        return link("expect", names[0] ?? "", () => this.#expectations.add({ names, session, since: step() }));
      },
      isExpectedElsewhere: (name) =>
        link("look for others", name, () => {
          const isElsewhere = this.#expectations.isStanding(name, session);
          if (!isElsewhere) unexpected?.(name);
          return isElsewhere;
        }),
      insert: async (call, expectation) => {
        const holder = await link("insert", call.key, () => {
          const since = expectation && this.#expectations.sinceOf(expectation);
          if (expectation && since === undefined) throw expectationLost();
          const before = this.find(call.key);
          const holder = this.#insert(call, replica);
          if (holder === call && !before) inserted?.(call, since);
          return holder;
        });
        if (holder === call) held.add(call.key);
        return holder;
      },
      update: async (after) => {
        await link(`update to ${after.state}`, after.key, () => this.#update(after));
        if (isAtRest(after)) held.delete(after.key);
      },
      open: () =>
        link("open", "", () =>
          this.#open().map(({ call: { key, state, createdAt, bundle } }) => ({
            key,
            state,
            createdAt,
            ...(bundle && { bundle: { id: bundle.id } }),
          })),
        ),
      lease: async (limit) => {
        const known = new Set(held);
        const calls = await link("lease", "", () => this.#lease(limit, replica, known));
        for (const { key } of calls) held.add(key);
        return calls;
      },
      rememberRefused: (payment) => link("remember refused", payment.key, () => this.#rememberRefused(payment)),
      refused: (key) => link("refused", key, () => this.#refused.get(key)),
      exposure: (rail, payer) => link("exposure", payer, () => this.#exposure(rail, payer)),
      holds: (key) => held.has(key),
      renew: async () => {
        const known = [...held];
        const lost = await link("renew", "", () => this.#renew(replica, known));
        return lost.filter((key) => held.delete(key));
      },
      release: async () => {
        await link("release", "", () => this.#release(replica));
        held.clear();
      },
      listen: (listener) => {
        const entry = { hint, listener };
        own.add(entry);
        this.#listening.add(entry);
        return () => this.#listening.delete(entry);
      },
      stored: (id) => link("bundle", id, () => this.#stored(id)),
      bodyOf: (id) => link("bundle", id, () => this.#bundles.get(id)?.body),
      partsOf: (id, from, bytes) => link("parts", id, () => this.#partsOf(id, from, bytes)),
      rememberPayees: (payees) =>
        link("payees", "", () => {
          for (const { rail, address } of payees)
            if (!this.#payees.some((known) => known.rail === rail && known.address === address))
              this.#payees.push({ rail, address });
        }),
      payees: () => link("payees", "", () => this.#payees.map((payee) => ({ ...payee }))),
      freeBytes: async () => undefined,
      sizeBytes: async () => undefined,
      close: async () => {
        session.isOpen = () => false;
        for (const entry of own) this.#listening.delete(entry);
      },
    };
  }

  /** @returns `call` itself when it was inserted */
  #insert(call: Call, replica: number): Call {
    for (const key of [call.key, ...call.aliases]) {
      const holder = this.find(key);
      if (holder) return holder;
    }
    for (const key of [call.key, ...call.aliases]) this.#holders.set(key, call.key);
    this.#rows.set(call.key, { call, carrier: replica });
    this.#options.committed?.(call);
    return call;
  }

  #update(after: Call): void {
    const row = this.#rows.get(after.key);
    if (row?.call.version !== after.version - 1) throw callStale(after.key);
    const replaced = row.call.attempts.find(({ txid }, place) => after.attempts[place]?.txid !== txid);
    if (replaced) throw new Error(`the attempt ${replaced.txid} has been recorded`);
    const { refund } = after;
    if (refund !== undefined && (this.#holders.get(refund) ?? after.key) !== after.key) throw nameTaken(after.key);
    if (refund !== undefined) this.#holders.set(refund, after.key);
    // Evidence is written when the call is inserted.
    row.call = { ...after, evidence: after.evidence && row.call.evidence };
    const division = after.bundle && divisionOf(after.bundle);
    if (after.bundle && division) {
      const { id: bundleId } = after.bundle;
      row.call = { ...after, bundle: keptBundle(bundleId, division) };
      this.#bundles.set(bundleId, division);
      for (const [place, { id }] of division.parts.entries())
        if (id !== undefined) this.#items.set(id, { bundleId, place });
    }
    this.#options.committed?.(after);
    if (isAtRest(after)) row.carrier = undefined;
    if (!isFinal(after.state)) return;
    this.#tell((listener) => listener.ended?.(after.key));
  }

  #open(): Row[] {
    const open = [...this.#rows.values()].filter(({ call }) => !isAtRest(call));
    return open.sort((a, b) => a.call.createdAt - b.call.createdAt);
  }

  #exposure(rail: string, payer: string): bigint {
    const promised = this.#open().filter(
      ({ call }) => call.rail === rail && call.payer === payer && isUnpaid(call.state),
    );
    return promised.reduce((sum, { call }) => sum + BigInt(call.requirement.amount), 0n);
  }

  #rememberRefused(payment: RefusedPayment): void {
    if (this.#refused.has(payment.key)) return;
    this.#refused.set(payment.key, payment);
    const ofPayer = this.#refused.values().filter(({ payer }) => payer === payment.payer);
    const surplus = [...ofPayer].slice(0, -MAX_REFUSED_OF_PAYER);
    if (this.#refused.size > MAX_REFUSED) surplus.push(...this.#refused.values().take(1));
    for (const { key } of surplus) {
      this.#refused.delete(key);
      this.#forgotten.add(key);
    }
  }

  #lease(limit: number, replica: number, held: ReadonlySet<string>): CallHead[] {
    const now = this.#options.now();
    const isFree = ({ call, carrier }: Row) => {
      if (carrier === undefined) return true;
      return carrier === replica ? !held.has(call.key) : (this.#replicas[carrier]?.aliveUntil ?? 0) <= now;
    };
    const taken = this.#open().filter(isFree).slice(0, limit);
    for (const row of taken) {
      const { call, carrier } = row;
      if (carrier !== undefined && carrier !== replica && this.#replicas[carrier]?.isThere())
        this.#options.taken?.(call);
      row.carrier = replica;
    }
    return taken.map(({ call }) => headOf(call));
  }

  #renew(replica: number, held: readonly string[]): string[] {
    const own = this.#replicas[replica];
    if (own) own.aliveUntil = this.#leaseEnd();
    return held.filter((key) => this.#rows.get(key)?.carrier !== replica);
  }

  #release(replica: number): void {
    for (const row of this.#rows.values()) if (row.carrier === replica) row.carrier = undefined;
    this.#tell((listener) => listener.freed?.());
  }

  #leaseEnd(): number {
    return this.#options.now() + this.#options.leaseMs();
  }

  #tell(what: (listener: Listener) => void): void {
    for (const { hint, listener } of this.#listening) hint(() => what(listener));
  }
}

function headOf({ key, state, version, createdAt, subjectHash, payloadSha256 }: Call): CallHead {
  return { key, state, version, createdAt, subjectHash, payloadSha256 };
}

const direct: Link = async (_what, _about, work) => work();
