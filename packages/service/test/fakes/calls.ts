import { type Call, type CallRequest, evidenceOf, liveAttempt } from "../../src/calls/call.ts";
import type { Journal } from "../../src/calls/journal.ts";
import { beginCall, type CallEvent, isDeferred, reduce, toCommit } from "../../src/calls/machine.ts";
import type { BatchEvidence, Evidence, TransactionEvidence } from "../../src/subjects/product.ts";

/** A call as it is first committed; `over` replaces members of its request. */
export function aCall(over: Partial<CallRequest> = {}): Call {
  return beginCall({
    key: "algorand:genesis/PAYMENT",
    aliases: [],
    rail: "algorand",
    payer: "PAYER",
    subject: { kind: "transaction", chain: "algorand", id: "SOURCE" },
    subjectHash: "00",
    payload: {
      x402Version: 2,
      accepted: {
        scheme: "exact",
        network: "algorand:x",
        asset: "1",
        amount: "1000",
        payTo: "P",
        maxTimeoutSeconds: 120,
        extra: {},
      },
      payload: {},
    },
    requirement: {
      scheme: "exact",
      network: "algorand:x",
      asset: "1",
      amount: "1000",
      payTo: "P",
      maxTimeoutSeconds: 120,
      extra: {},
    },
    evidence: {
      kind: "transaction",
      chain: "algorand",
      caip2: "algorand:x",
      level: "finalized",
      source: { chain: "algorand", txnId: "SOURCE", hashSha256: "00", txnBytesBase64: "AA==" },
      block: { hash: "BLOCK", height: 7, time: 1_780_000_000 },
    },
    createdAt: 1,
    ...over,
  });
}

/** Evidence of 100 KB, like that of a transaction with a long proof. */
export function aLargeEvidence(txnId: string): Evidence {
  return {
    kind: "transaction",
    chain: "algorand",
    caip2: "algorand:x",
    level: "finalized",
    source: { chain: "algorand", txnId, hashSha256: "00", txnBytesBase64: "A".repeat(100_000) },
    block: { hash: "BLOCK", height: 7, time: 1_780_000_000 },
  };
}

/** Evidence of a batch of transactions of a kilobyte each. */
export function aBatch(size: number): BatchEvidence {
  const { kind: _, ...one } = evidenceOf(aCall()) as TransactionEvidence;
  const items = Array.from({ length: size }, (_, i) => ({
    ...one,
    source: { ...one.source, txnId: `SOURCE ${i}`, txnBytesBase64: "A".repeat(1_000) },
    nonce: "AA==",
  }));
  return { kind: "batch", root: "ab".repeat(32), size, items };
}

export function anAttempt(txid: string) {
  return { txid, raw: new Uint8Array([1, 2, 3]), firstValid: 10, lastValid: 110 };
}

/** Applies events one after the other. */
export function after(call: Call, ...events: CallEvent[]): Call {
  return events.reduce(reduce, call);
}

/** The events of a call that goes well. */
export const GOOD_COURSE: readonly CallEvent[] = [
  { type: "payment_proved", proof: { transaction: "PAYMENT", height: 9, final: true }, receipt: "receipt" },
  { type: "attestation_signed", attempt: anAttempt("ATTEST") },
  { type: "attestation_confirmed", txid: "ATTEST", round: 12 },
  { type: "bundle_sealed", bundle: { id: "S", body: "{}" }, receipt: "signed receipt" },
];

/** The events by which a call goes on well from its state. */
export function goodCourseFrom(call: Call): readonly CallEvent[] {
  const state = call.state === "owed" && !liveAttempt(call) ? "paid" : call.state;
  const place = ["settling", "paid", "signed", "confirmed"].indexOf(state);
  return place < 0 ? [] : GOOD_COURSE.slice(place);
}

/** The same with an attestation and a bundle of its own. */
export function goodCourse(name: string, isFinal = true): CallEvent[] {
  return GOOD_COURSE.map((event): CallEvent => {
    switch (event.type) {
      case "payment_proved":
        return { ...event, proof: { ...event.proof, final: isFinal } };
      case "attestation_signed":
        return { ...event, attempt: anAttempt(name) };
      case "attestation_confirmed":
        return { ...event, txid: name };
      case "bundle_sealed":
        return { ...event, bundle: { id: `S of ${name}`, body: `{"of":"${name}"}` } };
      default:
        return event;
    }
  });
}

/** A call after an event, to be committed, whether the event is deferred or not. */
export function afterCommit(call: Call, event: CallEvent): Call {
  const after = reduce(call, event);
  return isDeferred(event) ? toCommit(after) : after;
}

/** Commits a call, and each of these events by itself. @returns the call after them */
export async function take(
  journal: Pick<Journal, "insert" | "update">,
  begun: Call,
  events: readonly CallEvent[],
): Promise<Call> {
  let call = await journal.insert(begun);
  for (const event of events) {
    call = afterCommit(call, event);
    await journal.update(call);
  }
  return call;
}

/** Commits a call and each step of its good course. @returns the delivered call */
export function deliver(journal: Pick<Journal, "insert" | "update">, begun = aCall()): Promise<Call> {
  return take(journal, begun, GOOD_COURSE);
}
