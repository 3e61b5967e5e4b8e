import { type Division, divisionOf, keptBundle, rowOf } from "../src/calls/apart.ts";
import type { Call, CallHead } from "../src/calls/call.ts";
import { APART } from "../src/calls/call.ts";
import { type CopiedJournal, journalBehind } from "../src/calls/copied.ts";
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
import { ServiceError } from "../src/lib/errors.ts";
import type { RailName } from "../src/payment/rails/rail.ts";
import { ITEM_OVERHEAD } from "../src/subjects/batch-answer.ts";
import type { Evidence } from "../src/subjects/product.ts";
import { Expectations } from "./expectations.ts";

export type DatabaseOptions = {
  /** The journal's own clock, in ms. */
  now(): number;
  /** How long leases outlive the last sign of life now, in ms. */
  leaseMs(): number;
  /** Called with every commit of a call. */
  committed?(call: Call): void;
  /** Called with each call whose newest commits are lost, as it was and as it is then; undefined where its row is gone. */
  lost?(before: Call, left: Call | undefined): void;
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

/** A commit of a call, or of a lease; `undo` makes the database as it was before. */
type Commit = { key: string; undo(): void };

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
  /** How to undo each commit of a call or of a lease, the newest last. */
  readonly #commits: Commit[] = [];
  /** The server that has the database, and the one that it was marked for last. Another one has it after each failover. */
  #committed = 0;
  #server = 0;
  #noted = 0;
  #copiedUntil: number | undefined;

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

  /** A standby that lacks the newest commits takes over: they are lost, and every connection breaks. */
  failOver(lost: number): void {
    this.#server += 1;
    const before = new Map<string, Call>();
    for (const { key, undo } of this.#commits.splice(Math.max(0, this.#commits.length - lost)).reverse()) {
      const call = this.#rows.get(key)?.call;
      if (call && !before.has(key)) before.set(key, call);
      undo();
    }
    for (const [key, call] of before) {
      const left = this.#rows.get(key)?.call;
      if (left !== call) this.#options.lost?.(call, left);
    }
  }

  #markCopied(): void {
    for (const key of this.#refused.keys()) this.#forgotten.add(key);
    this.#refused.clear();
    this.#copiedUntil = Math.max(0, ...this.calls.map(({ createdAt }) => createdAt));
  }

  #stored(id: string): StoredBundle | undefined {
    const item = this.#items.get(id);
    const { bundleId, place } = item ?? { bundleId: id, place: null };
    const kept = this.#bundles.get(bundleId);
    if (!kept) return undefined;
    const { body = "", bytes, parts } = kept;
    const length = place === null ? bytes : ITEM_OVERHEAD + body.length + (parts[place]?.text.length ?? 0);
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
  connect(options: ConnectOptions = {}): Journal & CopiedJournal {
    const { hint = (deliver) => deliver(), isThere = () => true, isAlive = isThere, inserted, unexpected } = options;
    const newSession = () => {
      const server = this.#server;
      return { isOpen: () => isAlive() && server === this.#server };
    };
    /** Replaced whenever a connection breaks. */
    let session = newSession();
    /** The server that this replica had a session of last, and the last commit that was confirmed to it. */
    let server: number | undefined;
    let last: { key: string; version: number; place: number } | undefined;
    const passOn = (keys: readonly string[]) => {
      if (last && keys.includes(last.key)) last = undefined;
    };
    let since: number | undefined;

    /** As each new session of a journal must. @throws journal_behind */
    const check = () => {
      if (server === this.#server) return;
      const row = last && this.#rows.get(last.key);
      if (last && !(row && row.call.version >= last.version && row.carrier === replica)) {
        since = this.#options.now();
        throw journalBehind(last.key);
      }
      if (this.#noted !== this.#server) this.#markCopied();
      this.#noted = this.#server;
      if (server !== undefined || this.#copiedUntil !== undefined) since = this.#options.now();
      server = this.#server;
      session = newSession();
    };
    const linked: Link = (what, about, work) => {
      const sentTo = this.#server;
      const served = () => {
        if (sentTo !== this.#server) throw new Error("the connection to the database broke");
        return work();
      };
      return (options.link ?? direct)(what, about, served).catch((error: unknown) => {
        if (error instanceof ServiceError) throw error;
        session.isOpen = () => false;
        session = newSession();
        throw error;
      });
    };
    const link: Link = (what, about, work) =>
      linked(what, about, () => {
        check();
        return work();
      });
    /** Answers may overtake one another: the place of a commit among all says which was last. */
    const confirm = ({ key, version }: Pick<Call, "key" | "version">, place: number) => {
      if (place > (last?.place ?? 0)) last = { key, version, place };
    };
    const replica = this.#replicas.push({ aliveUntil: this.#leaseEnd(), isThere }) - 1;
    /** The calls that this replica holds, as far as it knows, and whether it has found their rows at rest. */
    const held = new Map<string, "carried" | "ended">();
    const own = new Set<{ hint: Hint; listener: Listener }>();

    return {
      secret: () => link("secret", "", () => new Uint8Array(32)),
      claim: (identity) => link("claim", "", () => (this.#identity ??= identity)),
      find: (key) =>
        link("find", key, () => this.find(key)).then((call) => {
          if (call && isAtRest(call) && held.has(call.key)) held.set(call.key, "ended");
          return call && rowOf(call);
        }),
      look: (key, sha256) =>
        link("find", key, () => {
          const call = this.find(key);
          return call && { head: headOf(call), ...(call.payloadSha256 === sha256 && { call: rowOf(call) }) };
        }),
      evidenceOf: (key) =>
        link("evidence", key, () => {
          const call = this.#rows.get(key)?.call;
          const evidence = call && rowOf(call).evidence;
          return (evidence === APART ? call?.evidence : evidence) as Evidence | undefined;
        }),
      evidenceItemsOf: (key, from, bytes) =>
        link("evidence", key, () => {
          const evidence = this.#rows.get(key)?.call.evidence as Evidence | undefined;
          const items = evidence?.kind === "batch" ? (evidence.items ?? []).slice(from) : [];
          const sizes = items.map((item) => JSON.stringify(item).length);
          return items.filter((_, i) => i === 0 || sizes.slice(0, i + 1).reduce((sum, size) => sum + size) <= bytes);
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
        const [holder, place] = await link("insert", call.key, () => {
          const since = expectation && this.#expectations.sinceOf(expectation);
          if (expectation && since === undefined) throw expectationLost();
          const before = this.find(call.key);
          const holder = this.#insert(call, replica);
          if (holder === call && !before) inserted?.(call, since);
          return [holder, this.#committed] as const;
        });
        if (holder === call) {
          confirm(call, place);
          held.set(call.key, "carried");
        }
        return holder;
      },
      update: async (after) => {
        const place = await link(`update to ${after.state}`, after.key, () => {
          this.#update(after);
          return this.#committed;
        });
        confirm(after, place);
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
        const known = new Set(held.keys().filter((key) => held.get(key) === "carried"));
        const [calls, place] = await link("lease", "", () => {
          const leased = this.#lease(limit, replica, known);
          return [leased, this.#committed] as const;
        });
        for (const { key } of calls) held.set(key, "carried");
        if (calls[0]) confirm(calls[0], place);
        return calls;
      },
      rememberRefused: (payment) => link("remember refused", payment.key, () => this.#rememberRefused(payment)),
      refused: (key) => link("refused", key, () => this.#refused.get(key)),
      exposure: (rail, payer) => link("exposure", payer, () => this.#exposure(rail, payer)),
      holds: (key) => held.has(key),
      renew: async () => {
        const known = [...held.keys()];
        const lost = await link("renew", "", () => this.#renew(replica, known));
        passOn(lost);
        return lost.filter((key) => held.delete(key));
      },
      release: async () => {
        await link("release", "", () => this.#release(replica));
        last = undefined;
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
      copiedUntil: () => link("copied until", "", () => this.#copiedUntil),
      markCopied: async () => {
        await linked("mark as copied", "", () => {
          this.#markCopied();
          this.#noted = this.#server;
        });
        last = undefined;
        since = this.#options.now();
        held.clear();
      },
      mayLackSince: () => since,
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
    const names = [call.key, ...call.aliases];
    for (const key of names) this.#holders.set(key, call.key);
    this.#rows.set(call.key, { call, carrier: replica });
    this.#log(call.key, () => {
      for (const name of names) this.#holders.delete(name);
      this.#rows.delete(call.key);
    });
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
    const { call, carrier } = row;
    this.#log(after.key, () => {
      Object.assign(row, { call, carrier });
      if (refund !== undefined) this.#holders.delete(refund);
      if (after.bundle && !call.bundle) this.#bundles.delete(after.bundle.id);
    });
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
    if (!isFinal(after.state)) return;
    this.#tell((listener) => listener.ended?.(after.key));
  }

  #log(key: string, undo: () => void): void {
    this.#committed += 1;
    this.#commits.push({ key, undo });
    if (this.#commits.length > MAX_LOST) this.#commits.shift();
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
      this.#log(call.key, () => {
        row.carrier = carrier;
      });
    }
    return taken.map(({ call }) => headOf(call));
  }

  #renew(replica: number, held: readonly string[]): string[] {
    const own = this.#replicas[replica];
    if (own) own.aliveUntil = this.#leaseEnd();
    return held.filter((key) => {
      const row = this.#rows.get(key);
      return row && (row.carrier !== replica || isAtRest(row.call));
    });
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
/** Commits that may be lost at once, at most. */
const MAX_LOST = 64;

const direct: Link = async (_what, _about, work) => work();
