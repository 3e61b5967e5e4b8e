import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import type { Call } from "./call.ts";
import { unlessAborted } from "./clock.ts";
import { AttestError, type Problem } from "./errors.ts";
import { canBeTaken, paymentDate, takenUntil } from "./lifetime.ts";
import { chooseOffer } from "./offers.ts";
import { type Answer, postRequest } from "./request.ts";
import type { StoredPayment } from "./vault.ts";

/** The answer to a payment. */
type Delivered = { payment: StoredPayment } & Omit<Extract<Answer, { kind: "bundle" }>, "kind">;

const OFFERS_TIMEOUT_MS = 30_000;
/** A wallet may ask a node for a round or blockhash. */
const SIGNING_TIMEOUT_MS = 60_000;
/** Twice the 30 s after `maxTimeoutSeconds` in which the service answers; then the connection counts as dead. */
const GRACE_SECONDS = 60;
const MIN_WAIT_MS = 250;
const MAX_BACKOFF_MS = 15_000;
/**
 * Problems of a source that is too new: the service may soon know it, or see it as final. It says that it charged
 * nothing.
 */
const TOO_NEW = new Set(["source_not_found", "source_not_final", "block_not_found"]);
/** The statuses below 500 after which the same payment is sent again immediately. */
const WORTH_SENDING_AGAIN = new Set([408, 425, 429]);

/**
 * Completes a purchase: gets the answer, reads it, saves the result, and removes the payment.
 * @param read makes the caller's result from the answer
 * @throws AttestError
 */
export async function settle<A>(
  call: Call,
  save: ((attestation: A) => Promise<void>) | undefined,
  read: (delivered: Delivered) => A,
): Promise<A> {
  try {
    const delivered = await obtainBundle(call);
    const attestation = read(delivered);
    await save?.(attestation).catch((cause: unknown) => {
      throw new AttestError("save_failed", "The bundle could not be saved.", { paymentId: call.id, cause });
    });
    // Best effort: a payment left in the vault would only deliver the same bundle again.
    await call.vault.remove(call.id, delivered.payment).catch(() => undefined);
    return attestation;
  } catch (error) {
    if (!call.signal.aborted) throw withSum(error, call);
    const stored = await call.vault.get(call.id).catch(() => undefined);
    const interrupted = new AttestError("interrupted", "Interrupted.", {
      ...(stored && { paymentId: call.id }),
      cause: error,
    });
    throw withSum(interrupted, call);
  }
}

/** Adds to an error how much the call has signed. */
function withSum(error: unknown, { signed }: Call): unknown {
  if (error instanceof AttestError && signed !== undefined) error.signed = signed;
  return error;
}

/**
 * Gets a bundle's bytes with the payment in the vault, or else with a new one. A 402 says that the service refuses the
 * payment, but does not prove that it will not take it: another payment is signed only when this one can no longer be
 * taken.
 */
async function obtainBundle(call: Call): Promise<Delivered> {
  let payment = await call.vault.get(call.id).catch(vaultFailed);
  const isResumed = payment !== undefined;
  if (payment) {
    call.signed = 0n;
    call.onProgress({ step: "resumed", offer: payment.offer });
  } else payment = await signAndStore(call, await askOffers(call));

  for (;;) {
    const answer = await sendUntilAnswered(call, payment);
    if (answer.kind === "bundle") return { payment, bytes: answer.bytes, receipt: answer.receipt };
    if (canBeTaken(payment, call.clock.now())) {
      const isAwaited = answer.sendings > 1 || (isResumed && call.sourceDeadline !== undefined);
      await waitUntilVoid(call, payment, answer, isAwaited);
    } else {
      await call.vault.remove(call.id, payment).catch(vaultFailed);
      payment = await signAndStore(call, answer);
    }
  }
}

/**
 * Waits until a refused payment can no longer be taken.
 * @param isAwaited whether the refusal may only mean that it expires; otherwise the call fails with the service's
 *   reason
 * @throws AttestError `not_paid`
 */
async function waitUntilVoid(
  call: Call,
  { until }: StoredPayment,
  { paymentRequired, wasTooNew }: { paymentRequired: PaymentRequired; wasTooNew: boolean },
  isAwaited: boolean,
): Promise<void> {
  const deadline = (wasTooNew ? call.sourceDeadline : undefined) ?? call.deadline;
  if (!isAwaited || until > deadline) {
    const reason = paymentRequired.error ?? "The service refused the payment.";
    throw new AttestError("not_paid", reason, { paymentId: call.id, until });
  }
  call.onProgress({ step: "refused", until });
  await call.clock.wait(Math.max(until - call.clock.now(), MIN_WAIT_MS), call.signal);
}

type Offers = Omit<Extract<Answer, { kind: "payment_required" }>, "kind">;

/** Asks for the offers for a request. @throws AttestError */
export async function askOffers(
  call: Pick<Call, "service" | "request" | "signal" | "fetch" | "clock">,
): Promise<Offers> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(OFFERS_TIMEOUT_MS)]);
  const answer = await postRequest(call.fetch, call.service, call.request, { signal, now: () => call.clock.now() });
  if (answer.kind === "payment_required") return answer;
  if (answer.kind === "bundle") {
    throw new AttestError("unexpected_answer", `${call.service} answered 200 before any payment.`);
  }
  const { problem } = answer;
  if (problem.status >= 500 || problem.status === 429) {
    throw new AttestError("unreachable", `${call.service} cannot sell now.`, { problem });
  }
  if (problem.status < 400) {
    throw new AttestError("unexpected_answer", `${call.service} answered ${problem.status}.`, { problem });
  }
  throw new AttestError("refused", problem.detail ?? `${call.service} refused the request.`, { problem });
}

async function signAndStore(call: Call, { paymentRequired, aheadMs }: Offers): Promise<StoredPayment> {
  const chosen = chooseOffer(paymentRequired.accepts, call.wallet, call.maxPrice, call.signed ?? 0n);
  const { network, amount, payTo, maxTimeoutSeconds } = chosen;
  const offer = { network, amount, payTo, maxTimeoutSeconds, payer: call.wallet.payer(network) ?? "" };
  call.onProgress({ step: "offered", offer });
  const nowMs = call.clock.now();
  const dateMs = paymentDate(network, nowMs, aheadMs);
  if (dateMs !== nowMs) call.onProgress({ step: "dated", aheadMs });
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(SIGNING_TIMEOUT_MS)]);
  const signing = async () => {
    const payload = await unlessAborted(call.wallet.sign(paymentRequired, chosen, dateMs), signal);
    const until = takenUntil(network, payload.payload, call.clock.now(), aheadMs);
    return { header: encodePaymentSignatureHeader(payload), until };
  };
  const made = await signing().catch((cause: unknown) => {
    throw new AttestError("signing_failed", `The payment could not be signed: ${messageOf(cause)}`, { cause });
  });
  const signed: StoredPayment = { version: 1, service: call.service, request: call.request, offer, ...made };
  // Only the payment in the vault is sent: if another process stored one first, it serves both.
  const stored = await call.vault.put(call.id, signed).catch(vaultFailed);
  const isOwn = stored.header === signed.header;
  call.signed = (call.signed ?? 0n) + (isOwn ? BigInt(amount) : 0n);
  call.onProgress(isOwn ? { step: "signed", offer } : { step: "resumed", offer: stored.offer });
  return stored;
}

/** Sends the same bytes until the service has decided about the payment, or until the deadline. */
async function sendUntilAnswered(call: Call, payment: StoredPayment) {
  let wasTooNew = false;
  for (let sendings = 1; ; sendings++) {
    const answer = await send(call, payment);
    if (answer?.kind === "bundle") return answer;
    if (answer?.kind === "payment_required") return { ...answer, sendings, wasTooNew };
    const problem = answer?.problem;
    const isTooNew = call.sourceDeadline !== undefined && problem !== undefined && TOO_NEW.has(problem.code);
    if (problem && !isTooNew && !isWorthSendingAgain(problem)) throw await refused(call, payment, problem);
    wasTooNew ||= isTooNew;
    const retryInMs = waitBefore(sendings, problem);
    if (isTooNew) call.deadline = call.clock.now() + call.maxWaitMs;
    const deadline = (isTooNew ? call.sourceDeadline : undefined) ?? call.deadline;
    if (call.clock.now() + retryInMs > deadline) {
      throw problem && isUncharged(problem) ? await refused(call, payment, problem) : unfinished(call, problem);
    }
    call.onProgress({ step: "waiting", retryInMs, ...(problem && { code: problem.code }) });
    await call.clock.wait(retryInMs, call.signal);
  }
}

/** @returns undefined when no complete answer came: the payment may have been settled */
async function send(call: Call, { header, offer }: StoredPayment): Promise<Answer | undefined> {
  const timeout = AbortSignal.timeout((offer.maxTimeoutSeconds + GRACE_SECONDS) * 1000);
  const signal = AbortSignal.any([call.signal, timeout]);
  try {
    // The stored request bought the same thing, perhaps under another condition.
    return await postRequest(call.fetch, call.service, call.request, { header, signal, now: () => call.clock.now() });
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof AttestError && error.code === "unreachable") return undefined;
    throw new AttestError("paid_unfinished", messageOf(error), { paymentId: call.id, cause: error });
  }
}

function isWorthSendingAgain({ status, code }: Problem): boolean {
  return status >= 500 || WORTH_SENDING_AGAIN.has(status) || code === "source_not_final";
}

/** Whether the service states that no money moved. `http_<status>` means that another server answered. */
function isUncharged({ status, code, sameHeader }: Problem): boolean {
  return !sameHeader && status !== 500 && !/^(http|payment)_/.test(code);
}

function waitBefore(sendings: number, problem: Problem | undefined): number {
  const backoff = Math.min(1000 * 2 ** (sendings - 1), MAX_BACKOFF_MS);
  return Math.max(problem?.retryAfterMs ?? backoff, MIN_WAIT_MS);
}

function vaultFailed(cause: unknown): never {
  throw new AttestError("vault_failed", `The vault failed: ${messageOf(cause)}`, { cause });
}

function unfinished(call: Call, problem: Problem | undefined): AttestError {
  const message = problem?.detail ?? "The payment was sent, and no answer came.";
  return new AttestError("paid_unfinished", message, { paymentId: call.id, ...(problem && { problem }) });
}

/**
 * Makes the error for a payment that buys nothing. The payment stays in the vault, unless it was refunded and can no
 * longer be taken.
 */
async function refused(call: Call, payment: StoredPayment, problem: Problem): Promise<AttestError> {
  const message = problem.detail ?? `${call.service} refused the request.`;
  if (problem.code !== "payment_refunded" || canBeTaken(payment, call.clock.now()))
    return new AttestError("refused", message, { problem, paymentId: call.id, until: payment.until });
  await call.vault.remove(call.id, payment).catch(vaultFailed);
  return new AttestError("refused", message, { problem });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
