import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import type { Call } from "./call.ts";
import { unlessAborted } from "./clock.ts";
import { AttestError, type Problem } from "./errors.ts";
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
/** The service may know the source soon, or see it as final; nothing was charged. */
const TOO_NEW = new Set(["source_not_found", "source_not_final", "block_not_found"]);
/** The statuses below 500 after which the payment stays valid; every other one is final. */
const WORTH_SENDING_AGAIN = new Set([408, 425, 429]);

/**
 * Carries a call from its payment to the end: obtains the answer, reads it, saves what was bought, and removes the payment.
 *
 * @param read makes what the caller gets of the answer
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
    if (!call.signal.aborted) throw error;
    const stored = await call.vault.get(call.id).catch(() => undefined);
    throw new AttestError("interrupted", "Interrupted.", { ...(stored && { paymentId: call.id }), cause: error });
  }
}

/**
 * Gets the bytes of a bundle with the payment in the vault, or else with a new one. A 402 means that the payment is void: if
 * it may have expired meanwhile, one new payment is signed, or another one whenever a source is waited for; otherwise the
 * call fails with the reason.
 */
async function obtainBundle(call: Call): Promise<Delivered> {
  let payment = await call.vault.get(call.id).catch(vaultFailed);
  let mayHaveExpired = payment !== undefined;
  if (payment) call.onProgress({ step: "resumed", offer: payment.offer });
  else payment = await signAndStore(call, await askOffers(call));

  for (let renewed = false; ; renewed = true) {
    const answer = await sendUntilAnswered(call, payment);
    if (answer.kind === "bundle") return { payment, bytes: answer.bytes, receipt: answer.receipt };
    await call.vault.remove(call.id, payment).catch(vaultFailed);
    mayHaveExpired ||= answer.sendings > 1;
    const { paymentRequired } = answer;
    if (!answer.wasTooNew && (renewed || !mayHaveExpired))
      throw new AttestError("not_paid", paymentRequired.error ?? "The service refused the payment.");
    payment = await signAndStore(call, paymentRequired);
  }
}

/** The offers for a request. @throws AttestError */
export async function askOffers(
  call: Pick<Call, "service" | "request" | "signal" | "fetch">,
): Promise<PaymentRequired> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(OFFERS_TIMEOUT_MS)]);
  const answer = await postRequest(call.fetch, call.service, call.request, { signal });
  if (answer.kind === "payment_required") return answer.paymentRequired;
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

async function signAndStore(call: Call, required: PaymentRequired): Promise<StoredPayment> {
  const chosen = chooseOffer(required.accepts, call.wallet, call.maxPrice);
  const { network, amount, payTo, maxTimeoutSeconds } = chosen;
  const offer = { network, amount, payTo, maxTimeoutSeconds, payer: call.wallet.payer(network) ?? "" };
  call.onProgress({ step: "offered", offer });
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(SIGNING_TIMEOUT_MS)]);
  const payload = await unlessAborted(call.wallet.sign(required, chosen), signal).catch((cause: unknown) => {
    throw new AttestError("signing_failed", `The payment could not be signed: ${messageOf(cause)}`, { cause });
  });
  const signed: StoredPayment = {
    version: 1,
    service: call.service,
    request: call.request,
    header: encodePaymentSignatureHeader(payload),
    offer,
  };
  // Only the payment in the vault is sent: if another process stored one first, it serves both.
  const stored = await call.vault.put(call.id, signed).catch(vaultFailed);
  call.onProgress(
    stored.header === signed.header ? { step: "signed", offer } : { step: "resumed", offer: stored.offer },
  );
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

/** @returns undefined when no complete answer came: the payment may have been settled or not */
async function send(call: Call, { header, offer }: StoredPayment): Promise<Answer | undefined> {
  const timeout = AbortSignal.timeout((offer.maxTimeoutSeconds + GRACE_SECONDS) * 1000);
  const signal = AbortSignal.any([call.signal, timeout]);
  try {
    // The stored request bought the same thing, perhaps on another condition.
    return await postRequest(call.fetch, call.service, call.request, { header, signal });
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof AttestError && error.code === "unreachable") return undefined;
    throw new AttestError("paid_unfinished", messageOf(error), { paymentId: call.id, cause: error });
  }
}

function isWorthSendingAgain({ status, code }: Problem): boolean {
  return status >= 500 || WORTH_SENDING_AGAIN.has(status) || code === "source_not_final";
}

/** Whether the service states that no money moved. `http_<status>` is the code of an answer of another server. */
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

/** A refunded payment is void, as after a 402. After any other refusal it can still buy the bundle. */
async function refused(call: Call, payment: StoredPayment, problem: Problem): Promise<AttestError> {
  const refunded = problem.code === "payment_refunded";
  if (refunded) await call.vault.remove(call.id, payment).catch(vaultFailed);
  const message = problem.detail ?? `${call.service} refused the request.`;
  return new AttestError("refused", message, { problem, ...(!refunded && { paymentId: call.id }) });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
