import { createHash, randomBytes } from "node:crypto";
import { canonicalize } from "@attestd/proof/json";
import type { PaymentPayload } from "@x402/core/types";
import type { Call, CallRequest } from "../../packages/service/src/calls/call.ts";
import { type CallEvent, isDeferred, reduce } from "../../packages/service/src/calls/machine.ts";
import type { SourceTransaction } from "../../packages/service/src/chains/chain.ts";
import { maxSourceBytes } from "../../packages/service/src/chains/several.ts";
import type { WholeJournal } from "../../packages/service/src/journal/journal.ts";
import { createProducts } from "../../packages/service/src/subjects/products.ts";
import { requestHash, type SubjectOf } from "../../packages/service/src/subjects/subject.ts";
import { aCall, anAttempt } from "../../packages/service/test/fakes/calls.ts";
import { chainOf } from "../../packages/service/test/fakes/source-chain.ts";

/* The rows of a stranger who buys as much as a batch may hold, and of one who buys as often as possible. */

const products = createProducts(new Map());

/** The largest batch that is sold: its subject, its evidence, and its answer of some 7 MB. */
export async function largestBatch(items = 1_000) {
  const each = Math.floor(maxSourceBytes(items) / items);
  const block = { hash: `0x${"b".repeat(64)}`, height: 7, time: 1_780_000_000 };
  const transactions = Array.from({ length: items }, (): SourceTransaction => {
    const bytes = new Uint8Array(randomBytes(each));
    const txnId = `0x${createHash("sha256").update(bytes).digest("hex")}`;
    return { chain: "base", caip2: "eip155:8453", txnId, bytes, level: "finalized", block, succeeded: true };
  });
  const sources = createProducts(new Map([["base", chainOf([], transactions)]]));
  const subject: SubjectOf<"batch"> = {
    kind: "batch",
    items: transactions.map(({ txnId: id }) => ({ chain: "base", id })),
  };
  const evidence = await sources.batch.evidence(subject, new AbortController().signal);
  const head = products.batch.bundle(evidence, {
    attest: { txnId: "ATTEST", round: 12, note: "note" },
    attestor: { algorandAddress: "ATTESTOR", pqPublicKey: "AAAA" },
  });
  const body = canonicalize({ ...head, signature: { alg: "ML-DSA-65", sigBase64: "AAAA" } } as never);
  const id = createHash("sha256").update(body).digest("base64url");
  if (evidence.kind !== "batch" || !evidence.items) throw new Error("a batch has items");
  const answered = await products.batch.answer?.(evidence, { id, body }, evidence.items);
  if (!answered) throw new Error("a batch has an answer");
  const { bundle } = answered;
  return { subject, subjectHash: requestHash(subject), evidence, bundle };
}

export type Batch = Awaited<ReturnType<typeof largestBatch>>;

const proved = (name: string, final: boolean): CallEvent => ({
  type: "payment_proved",
  proof: { transaction: `PAYMENT ${name}`, height: 1, final },
  receipt: Buffer.from(JSON.stringify({ success: true, transaction: name, network: "n", payer: "P" })).toString(
    "base64",
  ),
});

/** Commits a call and what happened to it. */
async function commit(
  journal: WholeJournal,
  request: Partial<CallRequest>,
  events: readonly CallEvent[],
): Promise<void> {
  let call: Call = await journal.insert(aCall({ createdAt: Date.now(), ...request }));
  for (const event of events) {
    call = reduce(call, event);
    if (!isDeferred(event)) await journal.update(call);
  }
}

/** Puts a batch into the journal as delivered, under the payment that bought it. */
export async function deliver(
  journal: WholeJournal,
  batch: Batch,
  key: string,
  payload: PaymentPayload,
): Promise<void> {
  const { subject, subjectHash, evidence, bundle } = batch;
  const request = { key, rail: "base" as const, payload, subject, subjectHash, evidence };
  await commit(journal, request, [
    proved(key, true),
    { type: "attestation_signed", attempt: anAttempt(`ATTEST ${key}`) },
    { type: "attestation_confirmed", txid: `ATTEST ${key}`, round: 12 },
    { type: "bundle_sealed", bundle, receipt: "cmVjZWlwdA==" },
  ]);
}

/**
 * Fills a journal with calls that a service has to carry on: so many delivered ones whose payment is not final, and so many
 * that are paid and were not attested, each for a large batch.
 */
export async function fillUnfinished(journal: WholeJournal, batch: Batch, small: number, large: number): Promise<void> {
  for (let from = 0; from < small; from += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, small - from) }, (_, i) => {
        const key = `small ${from + i}`;
        return commit(journal, { key }, [
          proved(key, false),
          { type: "attestation_signed", attempt: anAttempt(`ATTEST ${key}`) },
          { type: "attestation_confirmed", txid: `ATTEST ${key}`, round: 12 },
          { type: "bundle_sealed", bundle: { id: `S ${key}`, body: JSON.stringify("x".repeat(9_000)) }, receipt: "" },
        ]);
      }),
    );
  const { subject, subjectHash, evidence } = batch;
  for (let i = 0; i < large; i++) {
    const key = `large ${i}`;
    await commit(journal, { key, subject, subjectHash, evidence }, [
      proved(key, true),
      { type: "attestation_blocked", reason: "the ledger was away" },
    ]);
  }
}
