import { isProofError, type KeyNote, type Note } from "@attestd/proof";
import { noteOrFault, paymentCommitment } from "@attestd/proof/attestor";
import type { LedgerNote } from "../ledger/search.ts";
import type { ChainPayment } from "../payment/rails/payment-reader.ts";
import type { Facts } from "./facts.ts";
import type { Findings } from "./report.ts";

/** An attestation on the ledger: our note, sent by the attestor. */
export type Recorded = Omit<LedgerNote, "note"> & { text: string; note: Exclude<Note, KeyNote> };

/** The chains' data, indexed for the join: payments by key, attestations by their commitment to a payment. */
export class ChainIndex {
  readonly #payments = new Map<string, ChainPayment>();
  readonly #attestations = new Map<string, Recorded[]>();
  readonly #attestors: ReadonlySet<string>;
  /** Transfers without a payment key, and notes from other senders. */
  strangers = 0;
  attested = 0;

  private constructor(attestors: ReadonlySet<string>) {
    this.#attestors = attestors;
  }

  /**
   * Reads all facts.
   * @param attestors addresses that send attestations
   * @param findings takes the findings that need no row
   */
  static async read(facts: Facts, attestors: ReadonlySet<string>, findings: Findings): Promise<ChainIndex> {
    const index = new ChainIndex(attestors);
    for await (const payment of facts.payments) {
      if (payment.key !== undefined) index.#payments.set(payment.key, payment);
      else index.addStranger(payment, findings);
    }
    for await (const note of facts.notes) index.addNote(note, findings);
    return index;
  }

  /** Removes a payment from the remaining ones and returns it. */
  takePayment(key: string): ChainPayment | undefined {
    const payment = this.#payments.get(key);
    this.#payments.delete(key);
    return payment;
  }

  /** Removes the attestations that commit to a payment from the remaining ones and returns them. */
  takeAttestations(key: string): readonly Recorded[] {
    const commitment = paymentCommitment(key);
    const attestations = this.#attestations.get(commitment) ?? [];
    this.#attestations.delete(commitment);
    return attestations;
  }

  /** Returns the payments that were not taken, by key. */
  paymentsLeft(): ReadonlyMap<string, ChainPayment> {
    return this.#payments;
  }

  attestationsLeft(): Recorded[] {
    return [...this.#attestations.values()].flat();
  }

  /** Counts a transfer that pays for no call. */
  addStranger({ key, rail, transaction, payer, payTo, amount }: ChainPayment, findings: Findings): void {
    this.strangers += 1;
    const what = amount === undefined ? "USDC in a form that is not read" : `${amount} micro-USDC`;
    const message = `${payer} sent ${what} to ${payTo} on ${rail}, in a form for which nothing is sold.`;
    findings.add("information", "stranger_transfer", message, { key, txid: transaction });
  }

  /** Adds a transaction that names the attestor's account, from any sender. */
  addNote({ txid, round, sender, note: text, movesNothing }: LedgerNote, findings: Findings): void {
    if (!text?.startsWith(NOTE_BEGINS)) return;
    if (!this.#attestors.has(sender)) {
      this.strangers += 1;
      findings.add("information", "stranger_note", `${sender} sent a note that looks like ours.`, { txid });
      return;
    }
    const note = noteOrFault(text);
    if (isProofError(note, "format")) {
      const message = `The attestor sent a note in none of our forms: ${note.message}.`;
      findings.add("violation", "note_malformed", message, { txid });
      return;
    }
    // It announces a key, and attests nothing.
    if ("k" in note) return;
    this.attested += 1;
    if (!movesNothing) {
      const message = "The attestation moves value, or closes or rekeys an account.";
      findings.add("violation", "attestation_moves_value", message, { txid });
    }
    const same = this.#attestations.getOrInsertComputed(note.p, () => []);
    same.push({ txid, round, sender, text, note, movesNothing });
  }
}

/** The dApp's name (ARC-2) at the start of all our notes, of any version. */
export const NOTE_BEGINS = "attestd/";
