import type { Attempt, Ledger, Rounds, SpecialNote, Submission, TransactionStatus } from "../../src/ledger/ledger.ts";

type Submitted = Attempt & { note: string; lease: string };

/** A ledger in memory that records notes. Waiting for a round produces it. */
export class NoteLedger implements Pick<Ledger, "caip2" | "address" | "sign" | "submit" | "rounds"> {
  readonly caip2: string;
  readonly address: string;
  round = 100;
  /** Rounds that take nothing in, from now on. */
  fullRounds = 0;
  refusal: Submission | undefined;
  readonly recorded: { txid: string; round: number; note: string }[] = [];
  readonly #signed: Submitted[] = [];
  readonly #pool = new Set<Submitted>();
  readonly #leases = new Map<string, number>();

  constructor(caip2: string, address: string) {
    this.caip2 = caip2;
    this.address = address;
  }

  async sign(note: string, lease: Uint8Array, _signal: AbortSignal, special?: SpecialNote): Promise<Attempt> {
    const lastValid = special?.lastValid ?? this.round + 100;
    const txid = `NOTE ${this.#signed.length}`;
    const attempt = { txid, raw: new TextEncoder().encode(txid), firstValid: this.round, lastValid };
    this.#signed.push({ ...attempt, note, lease: Buffer.from(lease).toString("hex") });
    return attempt;
  }

  async submit(raw: Uint8Array): Promise<Submission> {
    if (this.refusal) return this.refusal;
    const sent = this.#signed.find(({ txid }) => txid === new TextDecoder().decode(raw));
    if (!sent) throw new Error("bytes that were never signed");
    this.#pool.add(sent);
    return { status: "accepted" };
  }

  readonly rounds = {
    latest: () => this.round,
    latestAt: () => 0,
    isCurrent: () => true,
    behind: () => 0,
    next: async () => this.#advance(),
    status: async (txid: string, { lastValid }: Pick<Attempt, "lastValid">): Promise<TransactionStatus> => {
      const found = this.recorded.find((one) => one.txid === txid);
      if (found) return { state: "confirmed", round: found.round };
      return { state: this.round >= lastValid ? "dead" : "open" };
    },
    settled: () => Promise.reject(new Error("not asked for here")),
    find: () => Promise.reject(new Error("not asked for here")),
  } satisfies Rounds;

  #advance(): number {
    this.round += 1;
    if (this.fullRounds > 0) {
      this.fullRounds -= 1;
      return this.round;
    }
    for (const sent of this.#pool) {
      this.#pool.delete(sent);
      const isFree = (this.#leases.get(sent.lease) ?? 0) < this.round;
      if (this.round > sent.lastValid || !isFree) continue;
      this.#leases.set(sent.lease, sent.lastValid);
      this.recorded.push({ txid: sent.txid, round: this.round, note: sent.note });
    }
    return this.round;
  }
}
