import { hash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { ProofError } from "@attestd/proof";
import {
  blockHash,
  encodeMsgpack,
  getBytes,
  getInteger,
  headerRound,
  restoreTransaction,
  splitBlock,
  txid,
} from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import { LRUCache } from "lru-cache";
import { hasCode } from "../errors.ts";
import type { Algod } from "../providers/algod.ts";
import { type AlgorandNodes, locate } from "../providers/algorand-nodes.ts";
import { isProviderError, unavailable } from "../providers/provider.ts";
import { agree, failover, fastest } from "../providers/quorum.ts";
import type { Rounds, Standing, Window } from "./ledger.ts";
import { OlderRounds, RoundMemory } from "./round-memory.ts";

export type RoundWatcherOptions = {
  nodes: AlgorandNodes;
  /** Base64, 32 bytes: of the network that every block must belong to. */
  genesisHash: string;
  /** ms. */
  now?: () => number;
  /** Called each time reading fails; reading goes on after a pause. */
  onError?: (error: unknown) => void;
  /** The first pause after a failure; each further one is twice as long, up to 32 times the first. */
  retryMs?: number;
};

/** `at`: the time in the header, in ms. */
type Seen = { ids: string[]; at: number; key: string };

/** Entries of `#absentBefore` (some 200 bytes each). */
const MAX_ABSENT = 20_000;
/** Rounds by which nodes may lag behind the memory when they answer that a transaction is in none. */
const LAG_ROUNDS = 20;
/** How old the latest round's header may be, in ms: some seven of MainNet's rounds. */
const CURRENT_MS = 20_000;

/**
 * Reads every round as it comes, each block once from every algod, and keeps the ids on which the quorum agrees. They are
 * recomputed from blocks, so that the memory also proves that an id is not in its rounds.
 */
export class RoundWatcher implements Rounds {
  readonly #options: Required<RoundWatcherOptions>;
  readonly #nodes: AlgorandNodes;
  readonly #memory = new RoundMemory();
  readonly #older: OlderRounds;
  /** By id of a transaction, a round before which the nodes know of none that has it: they are not asked every round. */
  readonly #absentBefore = new LRUCache<string, number>({ max: MAX_ABSENT });
  readonly #stopping = new AbortController();
  #latestAt = 0;
  #headerAt = 0;
  /** Emits `round` after each round. */
  readonly #news = new EventEmitter().setMaxListeners(0);
  #running: Promise<void> | undefined;

  constructor(options: RoundWatcherOptions) {
    this.#options = { now: Date.now, onError: () => {}, retryMs: 250, ...options };
    this.#nodes = options.nodes;
    this.#older = new OlderRounds(options.nodes);
  }

  /** Begins with the network's present round. */
  start(): void {
    this.#running ??= this.#run(this.#stopping.signal);
  }

  /** Ends reading, and every wait with an AbortError. A stopped watcher cannot be started again. */
  async stop(): Promise<void> {
    this.#stopping.abort(new DOMException("the round watcher has stopped", "AbortError"));
    await this.#running;
  }

  latest(): number {
    return this.#memory.latest;
  }

  latestAt(): number {
    return this.#latestAt;
  }

  isCurrent(): boolean {
    return this.#options.now() - this.#headerAt < CURRENT_MS;
  }

  /** The round of a transaction in the rounds already read; undefined leaves it open. */
  seen(id: string): number | undefined {
    return this.#memory.roundOf(id);
  }

  async find(id: string, signal: AbortSignal): Promise<{ round: number } | undefined> {
    const round = this.#memory.roundOf(id);
    return round === undefined ? locate(this.#nodes, id, signal) : { round };
  }

  async standing(id: string, window: Window, signal: AbortSignal): Promise<Standing> {
    const known = this.#memory.roundOf(id);
    if (known !== undefined) return { state: "confirmed", round: known };

    const passed = this.#memory.latest >= window.lastValid;
    const oldest = this.#memory.oldest;
    if (oldest <= window.firstValid) return { state: passed ? "dead" : "open" };

    if (!passed && oldest <= (this.#absentBefore.get(id) ?? 0)) return { state: "open" };
    const location = await locate(this.#nodes, id, signal);
    if (location !== undefined) return { state: "confirmed", round: location.round };
    if (!passed) {
      this.#absentBefore.set(id, this.#memory.latest - LAG_ROUNDS);
      return { state: "open" };
    }
    return this.#searchRounds(id, window.firstValid, Math.min(window.lastValid, oldest - 1), signal);
  }

  async settled(id: string, window: Window, signal: AbortSignal): Promise<Exclude<Standing, { state: "open" }>> {
    for (;;) {
      const seen = this.#memory.latest;
      const standing = await this.standing(id, window, signal).catch((error: unknown) => {
        if (isProviderError(error)) return { state: "open" } as const;
        throw error;
      });
      if (standing.state !== "open") return standing;
      await this.#after(seen, signal);
    }
  }

  next(signal: AbortSignal): Promise<number> {
    return this.#after(this.#memory.latest, signal);
  }

  async #after(round: number, signal: AbortSignal): Promise<number> {
    const ends = AbortSignal.any([signal, this.#stopping.signal]);
    while (this.#memory.latest <= round)
      await once(this.#news, "round", { signal: ends }).catch(() => ends.throwIfAborted());
    return this.#memory.latest;
  }

  /** Never rejects. */
  async #run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        for (let round = await this.#begin(signal); ; round++) {
          await this.#read(round, signal);
          failures = 0;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#options.onError(error);
        await pause(this.#options.retryMs * 2 ** Math.min(failures, 5), undefined, { signal }).catch(() => {});
      }
    }
  }

  /** The round to go on with: the next one, or the network's present one when the gap exceeds the memory. */
  async #begin(signal: AbortSignal): Promise<number> {
    const next = this.#memory.latest + 1;
    const question = { about: "the latest round", signal };
    const head = await failover(this.#nodes.algods, (algod, ends) => algod.lastRound(ends), question);
    return head - next < RoundMemory.ROUNDS && next > 1 ? next : head;
  }

  async #read(round: number, signal: AbortSignal): Promise<void> {
    const about = `round ${round}`;
    await fastest(this.#nodes.algods, (algod, ends) => hasRound(algod, round, ends), { about, signal });
    const ask = (algod: Algod, ends: AbortSignal) => readRound(algod, round, this.#options.genesisHash, ends);
    const question = { about, same: ({ key }: Seen) => key, signal };
    const [{ ids, at }] = await agree(this.#nodes.algods, ask, question, this.#nodes.rules);

    this.#memory.add(round, ids);
    this.#latestAt = this.#options.now();
    this.#headerAt = at;
    this.#news.emit("round");
  }

  /** Dead when the quorum's lists of every round's ids lack it; open when a round cannot be read. */
  async #searchRounds(id: string, from: number, to: number, signal: AbortSignal): Promise<Standing> {
    for (let round = from; round <= to; round++) {
      try {
        if (await this.#older.holds(id, round, signal)) return { state: "confirmed", round };
      } catch (error) {
        if (hasCode(error, "providers_unavailable")) return { state: "open" };
        throw error;
      }
    }
    return { state: "dead" };
  }
}

/** Waits until the node has the round. @throws ProviderError when none came within the node's minute */
async function hasRound(algod: Algod, round: number, signal: AbortSignal): Promise<void> {
  const latest = await algod.waitForBlockAfter(round - 1, signal);
  if (latest < round) throw unavailable(`${algod.name} has had no round since ${latest}`);
}

async function readRound(algod: Algod, round: number, genesisHash: string, signal: AbortSignal): Promise<Seen> {
  // Without a block at first, another node was faster.
  const later = () => hasRound(algod, round, signal).then(() => algod.block(round, signal));
  const answer = (await algod.block(round, signal)) ?? (await later());
  if (answer === undefined) throw unavailable(`${algod.name} does not keep round ${round}`);
  return algod.decode(() => readBlock(answer, round, genesisHash));
}

/** @throws ProofError `malformed` when this is not a block of that round and network */
function readBlock(answer: Uint8Array, round: number, genesisHash: string): Seen {
  const { header, headerBytes, transactions } = splitBlock(answer);
  const genesis = getBytes(header, "gh", 32);
  if (headerRound(header) !== round || genesis === undefined || toBase64(genesis) !== genesisHash)
    throw new ProofError("malformed", `not a block of round ${round} of the network ${genesisHash}`);
  const ids = transactions.map((entry) => txid(encodeMsgpack(restoreTransaction(entry, header))));
  // The header commits to the transactions, which is not recomputed here: the ids are compared beside it.
  return {
    ids,
    at: Number(getInteger(header, "ts")) * 1_000,
    key: `${blockHash(headerBytes)} ${hash("sha256", ids.join())}`,
  };
}
