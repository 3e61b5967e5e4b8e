import type { KeyEntry } from "@attestd/proof/trust";
import type { Clock } from "../../clock.ts";
import type { Call } from "../call.ts";
import { isAtRest, isFinal, isUnpaid } from "../machine.ts";
import { type Identity, LEASE_MS, type Listener, StaleCall, type Store } from "../store.ts";

type Row = { call: Call; owner: symbol };
type Payee = Awaited<ReturnType<Store["payees"]>>[number];

/**
 * A journal in memory that several replicas share as they share a database, for tests and simulations: it keeps the
 * contract but for power, and tells time by the clock that it is given.
 */
export class MemoryJournal {
  readonly #clock: Pick<Clock, "now">;
  readonly #rows = new Map<string, Row>();
  /** The row's key by each of its keys and aliases. */
  readonly #names = new Map<string, string>();
  readonly #bundles = new Map<string, string>();
  readonly #payees = new Map<string, Payee>();
  readonly #keys: KeyEntry[] = [];
  /** When the leases of each replica run out. */
  readonly #until = new Map<symbol, number>();
  readonly #listeners = new Set<Listener>();
  #identity: Identity | undefined;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Opens another replica. It dies with its last `renew`, as a process does that is killed. */
  replica(): Store {
    const me = Symbol("replica");
    const held = new Set<string>();
    const renew = () => this.#until.set(me, this.#clock.now() + LEASE_MS);
    renew();
    return {
      claim: async (identity) => {
        this.#identity ??= identity;
        return this.#identity;
      },
      find: async (key) => this.#find(key),
      insert: async (call) => {
        const names = [call.key, ...call.aliases];
        for (const name of names) {
          const holder = this.#find(name);
          if (holder) return holder;
        }
        this.#rows.set(call.key, { call, owner: me });
        for (const name of names) this.#names.set(name, call.key);
        held.add(call.key);
        return call;
      },
      update: async (after) => {
        const row = this.#rows.get(after.key);
        if (row?.call.version !== after.version - 1) throw new StaleCall(after.key);
        const replaced = row.call.attempts.find(({ txid }, place) => after.attempts[place]?.txid !== txid);
        if (replaced) throw new Error(`the attempt ${replaced.txid} has been recorded`);
        row.call = after;
        if (after.bundle) this.#bundles.set(after.bundle.id, after.bundle.body);
        if (isAtRest(after)) held.delete(after.key);
        if (!isFinal(after.state)) return;
        for (const listener of this.#listeners) listener.ended?.(after.key);
      },
      open: async () => this.#open().map(({ call }) => call),
      lease: async (limit) => {
        const free = this.#open().filter(({ call, owner }) =>
          owner === me ? !held.has(call.key) : (this.#until.get(owner) ?? 0) <= this.#clock.now(),
        );
        return free.slice(0, limit).map((row) => {
          row.owner = me;
          held.add(row.call.key);
          return row.call;
        });
      },
      exposure: async (rail, payer) =>
        this.#open()
          .filter(({ call }) => call.rail === rail && call.payer === payer && isUnpaid(call.state))
          .reduce((sum, { call }) => sum + BigInt(call.requirement.amount), 0n),
      holds: (key) => held.has(key),
      renew: async () => {
        renew();
        const gone = [...held].filter((key) => {
          const row = this.#rows.get(key);
          return row?.owner !== me || isAtRest(row.call);
        });
        for (const key of gone) held.delete(key);
        return gone;
      },
      release: async () => {
        this.#until.delete(me);
        held.clear();
        for (const listener of this.#listeners) listener.freed?.();
      },
      listen: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      bundle: async (id) => this.#bundles.get(id),
      rememberPayees: async (payees) => {
        for (const payee of payees) this.#payees.set(`${payee.rail} ${payee.address}`, payee);
      },
      payees: async () => [...this.#payees.values()],
      keys: async () => [...this.#keys],
      appendKey: async (entry) => {
        if (!this.#keys.some(({ kid }) => kid === entry.kid)) this.#keys.push(entry);
      },
      close: async () => undefined,
    };
  }

  #find(name: string): Call | undefined {
    return this.#rows.get(this.#names.get(name) ?? "")?.call;
  }

  #open(): Row[] {
    return [...this.#rows.values()]
      .filter(({ call }) => !isAtRest(call))
      .sort((a, b) => a.call.createdAt - b.call.createdAt);
  }
}
