import { setTimeout as pause } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { RunWork } from "../chains/block-work.ts";
import { hasCode, ignoring } from "../lib/errors.ts";
import { inOwnMemory } from "../lib/own-memory.ts";
import { Waiters } from "../lib/waiters.ts";
import type { Algod } from "../providers/algod.ts";
import {
  type Absence,
  ALGOD_REMEMBERS,
  type AlgorandNodes,
  type FactsOf,
  type Location,
  locate,
  locateOlder,
  lookInIndexers,
} from "../providers/algorand-nodes.ts";
import { isProviderError } from "../providers/provider.ts";
import { agreeOnQuantity } from "../providers/quantity.ts";
import { agree, failover, fastest } from "../providers/quorum.ts";
import type { Rounds, TransactionStatus, Window } from "./ledger.ts";
import { olderRounds, RoundMemory } from "./round-memory.ts";
import { hasRound, type RoundRead, readRound } from "./round-reader.ts";

export type RoundWatcherOptions = {
  nodes: AlgorandNodes;
  /** The genesis hash of the network of every block, base64, 32 bytes. */
  genesisHash: string;
  /** Where a large block is processed; default: on this thread. */
  run?: RunWork;
  /** ms. */
  now?: () => number;
  /** Called with the time of each new block, Unix ms, when it is read. */
  onBlock?: (time: number) => void;
  /** Called each time reading fails. Reading continues after a pause. */
  onError?: (error: unknown) => void;
  /** The first pause after a failure, in ms; each further pause is twice as long, up to 32 times the first. */
  retryMs?: number;
};

const NEXT_ROUND = "round";
/** The limit of entries in `#absentBefore` (some 200 bytes each). */
const MAX_ABSENT = 20_000;
/** The limit of the newest blocks that are kept, in bytes: some five minutes of MainNet. */
const MAX_BLOCK_BYTES = 16 * 1024 * 1024;
/** How many rounds nodes may lag behind the memory when they answer that a transaction is in no round. */
const LAG_ROUNDS = 20;
/** How long a look-up may wait for the nodes' latest round, in ms. */
const CATCH_UP_MS = 2_000;
/** The greatest age of the latest round's header, in ms: some seven of MainNet's rounds. */
const CURRENT_MS = 20_000;

/**
 * Reads every round as it comes, each block once from every algod, and keeps the ids on which the quorum agrees. They
 * are recomputed from blocks, so the memory also proves that an id is not in its rounds.
 */
export class RoundWatcher implements Rounds {
  readonly #options: Required<Omit<RoundWatcherOptions, "run">> & Pick<RoundWatcherOptions, "run">;
  readonly #nodes: AlgorandNodes;
  readonly #memory = new RoundMemory();
  /** Whether an older round contains a transaction. */
  readonly #holds: ReturnType<typeof olderRounds>;
  /**
   * For a transaction's id, the round before which the nodes know no round with it: so they are not asked every round.
   */
  readonly #absentBefore = new LRUCache<string, number>({ maxSize: MAX_ABSENT, sizeCalculation: () => 1 });
  readonly #blocks = new LRUCache<number, Uint8Array>({ maxSize: MAX_BLOCK_BYTES });
  readonly #stopping = new AbortController();
  #latestAt = 0;
  #headerAt = 0;
  /** The latest round that a node is known to have. */
  #head = 0;
  /** The callers that wait for the next round. */
  readonly #waiters = new Waiters<never>();
  #running: Promise<void> | undefined;

  constructor(options: RoundWatcherOptions) {
    this.#options = { now: Date.now, onBlock: () => {}, onError: () => {}, retryMs: 250, ...options };
    this.#nodes = options.nodes;
    this.#holds = olderRounds(options.nodes);
  }

  /** Starts with the network's current round. */
  start(): void {
    this.#running ??= this.#run(this.#stopping.signal);
  }

  /** Stops reading, and ends every wait with an AbortError. A stopped watcher cannot be started again. */
  async stop(): Promise<void> {
    this.#stopping.abort(new DOMException("the round watcher has stopped", "AbortError"));
    this.#waiters.wake(NEXT_ROUND);
    await this.#running;
  }

  latest(): number {
    return this.#memory.latest;
  }

  behind(): number {
    return Math.max(0, this.#head - this.#memory.latest);
  }

  latestAt(): number {
    return this.#latestAt;
  }

  /**
   * Returns one of the newest blocks, `{block, cert}` in msgpack, on whose header and transactions the nodes agreed.
   */
  block(round: number): Uint8Array | undefined {
    return this.#blocks.get(round);
  }

  isCurrent(): boolean {
    return this.#options.now() - this.#headerAt < CURRENT_MS;
  }

  async find(id: string, signal: AbortSignal, from = 0, factsOf?: FactsOf): Promise<Location | undefined> {
    const recent = await this.#lookBack(id, signal);
    if (recent && "round" in recent) return recent;
    if (recent === undefined) return locate(this.#nodes, id, signal, factsOf);
    if (recent.after < from) return undefined;
    return isAllOfAlgod(recent)
      ? locateOlder(this.#nodes, id, recent, signal, factsOf)
      : locate(this.#nodes, id, signal, factsOf);
  }

  /**
   * Finds a transaction of any age. An inner transaction is found by its root's round, as long as that round is among
   * those read. For earlier rounds an absence rests on the indexers: this is enough to refuse a source, but not to ask
   * for another payment.
   * @throws ProviderError when the nodes cannot decide
   */
  async search(id: string, signal: AbortSignal): Promise<Location | undefined> {
    const known = this.#memory.roundOf(id);
    if (known !== undefined) return { round: known };
    if (this.#memory.latest === 0) return locate(this.#nodes, id, signal);
    // Before algod is asked for its newest round: most sources are older than the rounds that were read.
    const isAway = (error: unknown) => hasCode(error, "providers_unavailable") && !signal.aborted;
    const older = await lookInIndexers(this.#nodes, id, signal).catch(ignoring(isAway));
    if (older && "round" in older) return older;
    const recent = await this.#lookBack(id, signal);
    if (recent === undefined) return locate(this.#nodes, id, signal);
    if ("round" in recent) return recent;
    if (older && older.upTo >= recent.after) return undefined;
    // An indexer is away or behind: algod may know the rounds in between.
    return isAllOfAlgod(recent) ? locateOlder(this.#nodes, id, recent, signal) : locate(this.#nodes, id, signal);
  }

  /**
   * Looks in the rounds that were read, up to the nodes' newest: an id that algod does not know costs it a scan of
   * 1,000 blocks.
   * @returns undefined when nothing was read yet, or the newest round is not read in time
   */
  async #lookBack(id: string, signal: AbortSignal): Promise<{ round: number } | Absence | undefined> {
    const known = this.#memory.roundOf(id);
    if (known !== undefined) return { round: known };
    if (this.#memory.latest === 0) return undefined;
    const question = { about: "the latest round", signal };
    const head = await failover(this.#nodes.algods, (algod, ends) => algod.lastRound(ends), question);
    const ends = AbortSignal.any([signal, AbortSignal.timeout(CATCH_UP_MS)]);
    while (this.#memory.latest < head) {
      const latest = await this.next(ends).catch(ignoring(() => ends.aborted));
      if (latest === undefined) return undefined;
    }
    const round = this.#memory.roundOf(id);
    return round === undefined ? { after: this.#memory.oldest - 1, upTo: this.#memory.latest } : { round };
  }

  async status(id: string, window: Window, signal: AbortSignal): Promise<TransactionStatus> {
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

  async settled(
    id: string,
    window: Window,
    signal: AbortSignal,
  ): Promise<Exclude<TransactionStatus, { state: "open" }>> {
    for (;;) {
      const seen = this.#memory.latest;
      const status = await this.status(id, window, signal).catch(ignoring(isProviderError));
      if (status && status.state !== "open") return status;
      await this.#after(seen, signal);
    }
  }

  next(signal: AbortSignal): Promise<number> {
    return this.#after(this.#memory.latest, signal);
  }

  async #after(round: number, signal: AbortSignal): Promise<number> {
    while (this.#memory.latest <= round) {
      for (const end of [signal, this.#stopping.signal]) end.throwIfAborted();
      await this.#waiters.wait(NEXT_ROUND, signal);
    }
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

  /** Returns the round to continue with: the next one, or the network's current one when the gap exceeds the memory. */
  async #begin(signal: AbortSignal): Promise<number> {
    const next = this.#memory.latest + 1;
    const question = { about: "the latest round", signal };
    // A node that invents a round can neither keep us waiting for it nor send us back.
    const lastRound = (algod: Algod, ends: AbortSignal) => algod.lastRound(ends);
    this.#head = await agreeOnQuantity(this.#nodes.algods, lastRound, question, this.#nodes.rules);
    return this.#head - next < RoundMemory.ROUNDS && next > 1 ? next : this.#head;
  }

  async #read(round: number, signal: AbortSignal): Promise<void> {
    const about = `round ${round}`;
    this.#head = await fastest(this.#nodes.algods, (algod, ends) => hasRound(algod, round, ends), { about, signal });
    const { genesisHash, run } = this.#options;
    const ask = (algod: Algod, ends: AbortSignal) => readRound(algod, round, genesisHash, ends, run);
    const question = { about, same: ({ key }: RoundRead) => key, signal };
    const [{ ids, at, answer }] = await agree(this.#nodes.algods, ask, question, this.#nodes.rules);

    this.#memory.add(round, ids);
    this.#blocks.set(round, inOwnMemory(answer), { size: answer.length });
    this.#latestAt = this.#options.now();
    this.#headerAt = at;
    this.#options.onBlock(at);
    this.#waiters.wake(NEXT_ROUND);
  }

  /** Returns `dead` when the quorum's ids of every round lack it, `open` when a round cannot be read. */
  async #searchRounds(id: string, from: number, to: number, signal: AbortSignal): Promise<TransactionStatus> {
    for (let round = from; round <= to; round++) {
      try {
        if (await this.#holds(id, round, signal)) return { state: "confirmed", round };
      } catch (error) {
        if (hasCode(error, "providers_unavailable")) return { state: "open" };
        throw error;
      }
    }
    return { state: "dead" };
  }
}

/** Whether an absence covers all rounds for which algod remembers transactions, so that asking algod adds nothing. */
function isAllOfAlgod({ after, upTo }: Absence): boolean {
  return upTo - after >= ALGOD_REMEMBERS;
}
