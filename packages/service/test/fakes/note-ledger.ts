import type { Attempt, Ledger, Rounds, SpecialNote, Submission, TransactionStatus } from "../../src/ledger/ledger.ts";
import { LedgerRules, type LedgerTransaction } from "./ledger-rules.ts";

/** A ledger by Algorand's rules that records notes. Waiting for a round produces it. */
export class NoteLedger implements Pick<Ledger, "caip2" | "address" | "sign" | "submit" | "rounds"> {
  readonly caip2: string;
  readonly address: string;
  /** Rounds that take nothing in, from now on. */
  fullRounds = 0;
  refusal: Submission | undefined;
  readonly recorded: { txid: string; round: number; note: string }[] = [];
  readonly #signed = new Map<string, LedgerTransaction>();
  readonly #rules = new LedgerRules(100);

  constructor(caip2: string, address: string) {
    this.caip2 = caip2;
    this.address = address;
  }

  get round(): number {
    return this.#rules.round;
  }

  set round(round: number) {
    this.#rules.round = round;
  }

  async sign(note: string, lease: Uint8Array, _signal: AbortSignal, special?: SpecialNote): Promise<Attempt> {
    const lastValid = special?.lastValid ?? this.round + 100;
    const txid = `NOTE ${this.#signed.size}`;
    const attempt = { txid, raw: new TextEncoder().encode(txid), firstValid: this.round, lastValid };
    this.#signed.set(txid, {
      ...{ id: txid, firstValid: this.round, lastValid, lease: Buffer.from(lease).toString("hex") },
      unavailableReason: () => undefined,
      confirm: (round) => this.recorded.push({ txid, round, note }),
    });
    return attempt;
  }

  async submit(raw: Uint8Array): Promise<Submission> {
    if (this.refusal) return this.refusal;
    const sent = this.#signed.get(new TextDecoder().decode(raw));
    if (!sent) throw new Error("bytes that were never signed");
    return this.#rules.submit(sent);
  }

  readonly rounds = {
    latest: () => this.round,
    latestAt: () => 0,
    isCurrent: () => true,
    behind: () => 0,
    next: async () => this.#advance(),
    status: async (txid: string, { lastValid }: Pick<Attempt, "lastValid">): Promise<TransactionStatus> => {
      const round = this.#rules.roundOf(txid);
      if (round !== undefined) return { state: "confirmed", round };
      return { state: this.round >= lastValid ? "dead" : "open" };
    },
    settled: () => Promise.reject(new Error("not asked for here")),
    find: () => Promise.reject(new Error("not asked for here")),
  } satisfies Rounds;

  #advance(): number {
    const isFull = this.fullRounds > 0;
    if (isFull) this.fullRounds -= 1;
    this.#rules.makeRound(() => isFull);
    return this.round;
  }
}
