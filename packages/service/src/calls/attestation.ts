import { parseNote } from "@attestd/proof";
import type { Logger } from "pino";
import type { Attestor, SealedSource } from "../attestor/attestor.ts";
import { RECENT_ROUNDS } from "../ledger/evidence/journal.ts";
import { type Attempt, type Ledger, leaseOf, type TransactionStatus } from "../ledger/ledger.ts";
import { noteOf } from "../ledger/recorded.ts";
import { type Deadline, endOf, race } from "../lib/clock.ts";
import { ServiceError } from "../lib/errors.ts";
import { signReceipt } from "../payment/receipt.ts";
import type { Resource } from "../payment/resource.ts";
import type { Products } from "../subjects/product.ts";
import type { Subject } from "../subjects/subject.ts";
import type { Call } from "./call.ts";
import type { AttestationOf } from "./copied.ts";
import { createEvidence } from "./evidence.ts";
import type { Journal } from "./journal.ts";
import type { CallEvent } from "./machine.ts";
import { type Memory, QUESTION_MS } from "./perform.ts";

export type AttestationOptions = {
  products: Products;
  journal: Pick<Journal, "evidenceOf" | "evidenceItemsOf">;
  ledger: Pick<Ledger, "caip2" | "address" | "rounds" | "sign" | "submit">;
  attestor: Attestor;
  /**
   * Finds the attestation that the ledger may already have of the payment of a call that was taken over (copied.ts);
   * undefined when the call cannot be behind, or the ledger has none and will get none.
   */
  attestationOf: AttestationOf;
  /** Returns what is sold for a subject, for the receipt. */
  resourceOf(subject: Subject): Resource;
  /** Unix ms. */
  now(): number;
  log: Logger;
};

type Settled = Exclude<TransactionStatus, { state: "open" }>;

/** The number of rounds after which the same bytes are submitted again if no block has shown them. */
const RESUBMIT_AFTER_ROUNDS = 4;

/** The effects on a call's attestation: it is signed, submitted until it is confirmed, and sealed in a bundle. */
export function createAttestation(options: AttestationOptions) {
  const { products, ledger, attestor, attestationOf, resourceOf, now, log } = options;
  const evidence = createEvidence(options.journal);
  return { sign, submit, seal };

  async function sign(call: Call, memory: Memory, deadline: Deadline): Promise<CallEvent> {
    const earlier = await earlierAttestation(call, memory, deadline.signal);
    if (earlier) return { type: "attestation_signed", attempt: earlier };
    const note = await noteBy(attestor.keySha256, call, deadline.signal);
    const attempt = await deadline.within(QUESTION_MS, (ends) => ledger.sign(note, leaseOf(call.key), ends));
    return { type: "attestation_signed", attempt };
  }

  /** Makes the note of a call's attestation. @param keySha256 of a key that was ours at the time */
  async function noteBy(keySha256: string, call: Call, stop: AbortSignal): Promise<string> {
    const { key: paymentKey, subject } = call;
    using read = await evidence.of(call, stop);
    return products[subject.kind].note(read.evidence, { keySha256, ledger: ledger.caip2, paymentKey });
  }

  /**
   * Finds the attestation that the ledger already has of a call that was taken over.
   * @throws call_held_up when it is not the one that this call's row makes
   */
  async function earlierAttestation(call: Call, memory: Memory, stop: AbortSignal): Promise<Attempt | undefined> {
    if (!memory.isTakenOver) return undefined;
    memory.waiting = true;
    const earlier = await race(stop, () => attestationOf(call), endOf);
    memory.waiting = false;
    if (!earlier) return undefined;
    const text = noteOf(earlier);
    const note = parseNote(text);
    if (!("a" in note) || text !== (await noteBy(note.a, call, stop)))
      throw heldUp(`the ledger has an attestation of this payment that is not of this call, ${earlier.txid}`);
    log.info({ key: call.key, txid: earlier.txid }, "attested before the journal was copied back");
    return earlier;
  }

  async function submit(call: Call, attempt: Attempt, deadline: Deadline): Promise<CallEvent | undefined> {
    const { rounds } = ledger;
    const status = await deadline.within(QUESTION_MS, (ends) => rounds.status(attempt.txid, attempt, ends));
    if (status.state !== "open") return eventOf(status, attempt);
    const submission = await deadline.within(QUESTION_MS, (ends) => ledger.submit(attempt.raw, ends));
    if (submission.status !== "accepted")
      log.warn({ key: call.key, txid: attempt.txid, ...submission }, "not accepted");
    if (submission.status === "unfunded" || submission.status === "rejected") {
      // An alert for the operator. The same bytes are tried again until the ledger takes them or they are dead.
      if (call.state !== "owed") return { type: "attestation_blocked", reason: submission.reason };
      const message = `the ledger does not take the attestation: ${submission.reason}`;
      throw submission.status === "rejected" ? heldUp(message) : new Error(message);
    }
    const settled = await race<Settled | undefined>(
      deadline.signal,
      (signal) => rounds.settled(attempt.txid, attempt, signal),
      async (signal) => {
        for (let i = 0; i < RESUBMIT_AFTER_ROUNDS; i++) await rounds.next(signal);
        return undefined;
      },
    );
    return settled && eventOf(settled, attempt);
  }

  /** Seals the bundle. The submitted note decides which key must sign, and which note is in the bundle. */
  async function seal(call: Call, attempt: Attempt, memory: Memory, deadline: Deadline): Promise<CallEvent> {
    const { subject, round, receipt: unsigned } = call;
    if (round === undefined || unsigned === undefined) throw new Error("a confirmed call has a round and a receipt");
    const note = noteOf(attempt);
    const parsed = parseNote(note);
    // Keys do not change while a call is in this state, but a restored backup may contain a call that was delivered later.
    memory.waiting = !("a" in parsed) || parsed.a !== attestor.keySha256;
    if (memory.waiting)
      throw new Error(`the note of ${attempt.txid} is not of the present key: only the key that it names can sign`);
    const attested = {
      attest: { txnId: attempt.txid, round, note },
      attestor: { algorandAddress: ledger.address, pqPublicKey: attestor.pqPublicKey },
    };
    const { bundle: unsignedBundle, answer, sources } = products[subject.kind];
    const read = await evidence.wholeOf(call, deadline.signal);
    // A batch takes many times its row's memory until its bundle is committed, so few are sealed at a time.
    memory.release = () => read[Symbol.dispose]();
    const [sealed, receipt] = await deadline.within(QUESTION_MS, (ends) =>
      Promise.all([
        attestor.seal(unsignedBundle(read.evidence, attested), ends),
        signReceipt(unsigned, { resourceUrl: resourceOf(subject).url, at: now() }, attestor, ends),
      ]),
    );
    const answered = await answer?.(read.evidence, sealed, read.items);
    const { bundle } = answered ?? { bundle: sealed };
    const ids = bundle.items?.map(({ id }) => id) ?? [bundle.id];
    const recent = (answered?.sources ?? sources(read.evidence)).flatMap(
      ({ caip2, height, blockHash, txnId }, index): SealedSource[] => {
        const id = ids[index];
        if (id === undefined || caip2 !== ledger.caip2 || height <= round - RECENT_ROUNDS) return [];
        return [{ id, round: height, blockHash, ...(txnId !== undefined && { txnId }) }];
      },
    );
    return { type: "bundle_sealed", bundle: { ...bundle, ...(recent.length > 0 && { sources: recent }) }, receipt };
  }
}

function heldUp(message: string): ServiceError {
  return new ServiceError("call_held_up", message);
}

function eventOf(status: Settled, { txid }: Attempt): CallEvent {
  return status.state === "confirmed"
    ? { type: "attestation_confirmed", txid, round: status.round }
    : { type: "attestation_dead", txid };
}
