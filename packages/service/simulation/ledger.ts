import { encodeMsgpack, structMap } from "@attestd/proof/algorand";
import { toBase64, utf8 } from "@attestd/proof/encoding";
import type { Attempt, Submission } from "../src/ledger/ledger.ts";
import { LedgerRules, type LedgerTransaction } from "../test/fakes/ledger-rules.ts";
import type { Faults } from "./faults.ts";
import type { Scheduler } from "./scheduler.ts";

export type SimulatedLedgerOptions = {
  scheduler: Scheduler;
  faults: Faults;
  /** Called with every attestation, in the step in which it is confirmed. */
  attested(id: string, note: string): void;
  /** Called with every attestation that arrives at a node. */
  submitted(id: string): void;
};

const ROUND_MS = 2_800;
/** Rounds for which an attestation may be confirmed: few, so that attempts die within a schedule. */
const WINDOW = 8;
const FEE = 1_000;
/** How likely a transaction in the pool is left for a later round. */
const LEFT_OUT = 0.15;

/** A ledger by Algorand's rules, whose pool may lose what is in it, with the attestor's account, which pays a fee for each attestation. */
export class SimulatedLedger {
  /** microAlgos of the attestor above its minimum balance. */
  spendable = 1_000_000;
  /** Every attestation that a round holds. */
  readonly attestations: { round: number; note: string; attempt: Attempt }[] = [];
  readonly #options: SimulatedLedgerOptions;
  readonly #rules = new LedgerRules(1);
  /** Every attestation ever signed, by its bytes in base64. */
  readonly #signed = new Map<string, LedgerTransaction>();
  readonly #watching = new Set<() => void>();

  constructor(options: SimulatedLedgerOptions) {
    this.#options = options;
    this.#tick();
  }

  /** The latest round. */
  get round(): number {
    return this.#rules.round;
  }

  /** The round that holds a transaction, if one does. */
  roundOf(id: string): number | undefined {
    return this.#rules.roundOf(id);
  }

  /** The ids in a round that has come. */
  idsIn(round: number): string[] {
    return this.#rules.idsIn(round);
  }

  /** Calls back after every round. @returns ends that */
  watch(callback: () => void): () => void {
    this.#watching.add(callback);
    return () => this.#watching.delete(callback);
  }

  /** Signs an attestation. Deterministic, as ed25519 is: the same content has the same bytes and the same id. */
  sign(note: string, lease: Uint8Array, firstValid: number): Attempt {
    const lastValid = firstValid + WINDOW;
    const fields = structMap({ fv: firstValid, lv: lastValid, lx: lease, note: utf8(note) });
    const raw = encodeMsgpack(structMap({ txn: fields }));
    const bytes = toBase64(raw);
    let transaction = this.#signed.get(bytes);
    if (!transaction) {
      const id = `ATTEST${this.#signed.size}`;
      const attempt = { txid: id, raw, firstValid, lastValid };
      transaction = {
        id,
        firstValid,
        lastValid,
        lease: toBase64(lease),
        unavailableReason: () => (this.spendable < FEE ? "overspend" : undefined),
        confirm: (round) => {
          this.spendable -= FEE;
          this.attestations.push({ round, note, attempt });
          this.#options.attested(id, note);
        },
      };
      this.#signed.set(bytes, transaction);
    }
    return { txid: transaction.id, raw, firstValid, lastValid };
  }

  /** The attestation that bytes are of. */
  read(raw: Uint8Array): LedgerTransaction | undefined {
    return this.#signed.get(toBase64(raw));
  }

  /** Takes the bytes of a signed attestation. */
  submitRaw(raw: Uint8Array): Submission {
    const transaction = this.read(raw);
    if (!transaction) return { status: "rejected", reason: "signature" };
    this.#options.submitted(transaction.id);
    return this.submit(transaction);
  }

  /** Takes a transaction into the pool, or returns algod's reason why not. */
  submit(transaction: LedgerTransaction): Submission {
    return this.#rules.submit(transaction);
  }

  #tick(): void {
    const { scheduler, faults } = this.#options;
    let ms = ROUND_MS;
    if (!faults.healed && scheduler.random.chance(0.02)) {
      faults.count("ledger stalled");
      ms += scheduler.random.below(30_000);
    }
    scheduler.later(undefined, ms, "round", "", () => {
      this.#makeRound();
      this.#tick();
      for (const callback of this.#watching) callback();
    });
  }

  #makeRound(): void {
    const { scheduler, faults } = this.#options;
    this.#rules.makeRound(() => !faults.healed && scheduler.random.chance(LEFT_OUT));
    if (this.#rules.pending > 0 && !faults.healed && scheduler.random.chance(0.05)) {
      faults.count("ledger pool lost");
      this.#rules.losePool();
    }
  }
}
