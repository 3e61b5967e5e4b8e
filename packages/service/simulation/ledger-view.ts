import type { Attempt, Ledger, Rounds, Submission, TransactionStatus, Window } from "../src/ledger/ledger.ts";
import { RoundMemory } from "../src/ledger/round-memory.ts";
import type { LedgerNote } from "../src/ledger/search.ts";
import { isProviderError } from "../src/providers/provider.ts";
import type { Span } from "../src/providers/reading.ts";
import type { Faults } from "./faults.ts";
import type { SimulatedLedger } from "./ledger.ts";
import type { Ask } from "./network.ts";
import { NODES, type Nodes, type Sight } from "./nodes.ts";
import type { Life, Scheduler } from "./scheduler.ts";

export type LedgerViewOptions = {
  life: Life;
  ledger: SimulatedLedger;
  scheduler: Scheduler;
  faults: Faults;
  ask: Ask;
  nodes: Nodes;
};

/** Where one node has a transaction, among the rounds up to one. */
type Located = { round: number | undefined; upTo: number };

/** How soon a round that could not be read is asked for again. */
const RETRY_MS = 1_000;

/** The rounds as one process sees them: each a while after it came, and from its start on (ledger/rounds.ts). */
class RoundsView implements Rounds {
  readonly #options: LedgerViewOptions;
  readonly #memory = new RoundMemory();
  readonly #waiting = new Set<() => void>();
  readonly #unwatch: () => void;
  #latestAt = 0;
  #reading = false;

  constructor(options: LedgerViewOptions) {
    this.#options = options;
    const { ledger } = options;
    this.#memory.add(ledger.round, ledger.idsIn(ledger.round));
    this.#latestAt = options.scheduler.now;
    this.#unwatch = ledger.watch(() => {
      if (options.life.alive) this.#read(false);
      else this.#unwatch();
    });
  }

  stop(): void {
    this.#unwatch();
  }

  latest(): number {
    return this.#memory.latest;
  }

  latestAt(): number {
    return this.#latestAt;
  }

  behind(): number {
    return 0;
  }

  isCurrent(): boolean {
    return true;
  }

  async find(id: string, signal: AbortSignal): Promise<{ round: number } | undefined> {
    const round = this.#memory.roundOf(id) ?? (await this.#locate(id, signal));
    return round === undefined ? undefined : { round };
  }

  async status(id: string, window: Window, signal: AbortSignal): Promise<TransactionStatus> {
    const known = this.#memory.roundOf(id);
    if (known !== undefined) return { state: "confirmed", round: known };
    const passed = this.#memory.latest >= window.lastValid;
    const { oldest } = this.#memory;
    if (oldest <= window.firstValid) return { state: passed ? "dead" : "open" };
    const round = await this.#locate(id, signal);
    if (round !== undefined) return { state: "confirmed", round };
    return { state: passed ? "dead" : "open" };
  }

  async settled(
    id: string,
    window: Window,
    signal: AbortSignal,
  ): Promise<Exclude<TransactionStatus, { state: "open" }>> {
    for (;;) {
      const seen = this.#memory.latest;
      const status = await this.status(id, window, signal).catch((error: unknown) => {
        if (isProviderError(error)) return { state: "open" } as const;
        throw error;
      });
      if (status.state !== "open") return status;
      await this.#after(seen, signal);
    }
  }

  next(signal: AbortSignal): Promise<number> {
    return this.#after(this.#memory.latest, signal);
  }

  async #after(round: number, signal: AbortSignal): Promise<number> {
    while (this.#memory.latest <= round) await this.#coming(signal);
    return this.#memory.latest;
  }

  #coming(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const come = () => {
        this.#waiting.delete(come);
        signal.removeEventListener("abort", cut);
        resolve();
      };
      const cut = () => {
        this.#waiting.delete(come);
        reject(signal.reason);
      };
      this.#waiting.add(come);
      signal.addEventListener("abort", cut);
    });
  }

  /** Where the nodes agree that the transaction is by now. */
  async #locate(id: string, signal: AbortSignal): Promise<number | undefined> {
    const { ledger, nodes } = this.#options;
    const answer = ({ at, now, lies }: Sight): Located => {
      const upTo = ledger.round - (at < now ? 1 : 0);
      const held = ledger.roundOf(id);
      const round = held !== undefined && held <= upTo ? held : undefined;
      if (!lies) return { round, upTo };
      return { round: round === undefined ? upTo : undefined, upTo };
    };
    const same = ({ round }: Located) => `${round}`;
    const behind = ({ round, upTo }: Located, others: readonly Located[]) =>
      round === undefined && others.some((other) => other.round !== undefined && other.round > upTo);
    const asked = { list: "ledger", to: "ledger", what: "locate", about: id, answer, same, behind, signal } as const;
    const [{ round }] = await nodes.agreeOn(asked);
    return round;
  }

  #read(again: boolean): void {
    const { life, ledger, scheduler, faults } = this.#options;
    if (this.#reading && !again) return;
    this.#reading = true;
    if (faults.fate("rounds") !== "well") {
      scheduler.later(life, RETRY_MS, "asks for the round again", "", () => this.#read(true));
      return;
    }
    scheduler.soon(life, "sees the round", "", () => {
      this.#reading = false;
      while (this.#memory.latest < ledger.round) {
        const round = this.#memory.latest + 1;
        this.#memory.add(round, ledger.idsIn(round));
      }
      this.#latestAt = scheduler.now;
      for (const come of [...this.#waiting]) come();
    });
  }
}

/** The ledger as one process reaches it. */
export class LedgerView implements Ledger {
  readonly genesisHash = "c2ltdWxhdGlvbg==";
  readonly caip2 = "algorand:c2ltdWxhdGlvbg";
  readonly address = "ATTESTOR";
  readonly fee = 1_000n;
  readonly rounds: RoundsView;
  readonly #options: LedgerViewOptions;

  constructor(options: LedgerViewOptions) {
    this.#options = options;
    this.rounds = new RoundsView(options);
  }

  async sign(note: string, lease: Uint8Array, signal: AbortSignal): Promise<Attempt> {
    await this.#ask("params", "", signal, () => undefined);
    return this.#options.ledger.sign(note, lease, this.rounds.latest());
  }

  rekey(): never {
    throw new Error("no account is rekeyed here");
  }

  /** What is signed here asks for itself. */
  async prepare(): Promise<void> {}

  async submit(raw: Uint8Array, signal: AbortSignal): Promise<Submission> {
    const { ledger } = this.#options;
    try {
      return await this.#ask("submit", ledger.read(raw)?.id ?? "", signal, () => ledger.submitRaw(raw));
    } catch (error) {
      // Whether a node took it is unknown (ledger/account.ts).
      if (isProviderError(error)) return { status: "retry", reason: error.message };
      throw error;
    }
  }

  async unavailableReason(): Promise<undefined> {}

  async unknownKey(): Promise<undefined> {}

  async spendable(signal: AbortSignal): Promise<bigint> {
    return this.#ask("balance", "", signal, () => BigInt(this.#options.ledger.spendable));
  }

  /** The ledger as the search for attestations reads it. */
  async heads(signal: AbortSignal): Promise<{ latest: number; final: number }> {
    const latest = await this.#ask("heads", "", signal, () => this.#options.ledger.round);
    return { latest, final: latest };
  }

  async *notes({ from, to }: Span, signal: AbortSignal): AsyncGenerator<LedgerNote & { attempt: Attempt }> {
    const read = () => this.#options.ledger.attestations.filter(({ round }) => from <= round && round <= to);
    for (const { attempt, ...found } of await this.#ask("notes", "", signal, read))
      yield { txid: attempt.txid, sender: this.address, movesNothing: true, attempt, ...found };
  }

  #ask<T>(what: string, about: string, signal: AbortSignal, work: () => T): Promise<T> {
    const { life, ask } = this.#options;
    return ask<T>({ life, to: "ledger", what, about, signal, serve: (answer) => answer(work()), ...NODES });
  }
}
