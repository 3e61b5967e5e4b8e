import { ledgerSearch } from "../audit/copied-calls.ts";
import { type Call, liveAttempt } from "../calls/call.ts";
import { type AttestationOf, createCopiedCalls } from "../calls/copied.ts";
import type { Journal } from "../calls/journal.ts";
import { type CallEvent, reduce } from "../calls/machine.ts";
import type { Settings } from "../config/config.ts";
import type { Rounds } from "../ledger/ledger.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { hasCode, ServiceError } from "../lib/errors.ts";
import type { PaymentReader } from "../payment/rails/payment-reader.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { railKind } from "../payment/rails/registry.ts";
import { type OperatorOptions, openSession } from "./session.ts";

export type RefundOptions = {
  attestationOf: AttestationOf;
  journal: Pick<Journal, "find" | "update">;
  readers: ReadonlyMap<RailName, PaymentReader>;
  rounds: Pick<Rounds, "status">;
  clock: Pick<Clock, "now">;
  signal: AbortSignal;
};

/**
 * Records that a payment was refunded.
 * @param key payment key
 * @param transaction on the payment's chain that refunded the payer
 * @returns the call as it was committed
 * @throws ServiceError; Error when the journal cannot be opened
 */
export async function recordRefund(
  settings: Settings,
  { key, transaction }: { key: string; transaction: string },
  options: OperatorOptions,
): Promise<Call> {
  await using session = await openSession(settings, options);
  const journal = await session.journal();
  const rounds = await session.rounds();
  const { chains, config, history, log, signal } = session;
  const address = history.keys.at(-1)?.algorandAddress ?? "";
  const attestationOf = createCopiedCalls(journal, ledgerSearch(config, { address, rounds, log, signal }));
  return await refund(key, transaction, {
    journal,
    readers: chains.readers,
    rounds,
    attestationOf,
    clock: systemClock,
    signal,
  });
}

/** How long a call must be owed before it may be refunded. */
const OWED_FOR_MS = 24 * 60 * 60_000;

/**
 * Records that the operator has refunded a payment whose call has been owed for a day, and for which no attestation can
 * be confirmed any more. The payer's replay is then answered with 410.
 * @param transaction on the payment's own chain, in which the payer received at least what it paid; it refunds one
 *   payment per payer
 * @returns the call, `refunded`
 * @throws ServiceError; call_stale when a service has moved the call in the meantime
 */
export async function refund(key: string, transaction: string, options: RefundOptions): Promise<Call> {
  const { journal, clock } = options;
  const call = await journal.find(key);
  if (!call) throw new ServiceError("argument_invalid", `The journal has no call for ${key}.`);
  if (call.state !== "owed")
    throw new ServiceError("not_allowed", `The call is ${call.state}; only an owed call can be refunded.`);
  if (clock.now() - call.createdAt < OWED_FOR_MS)
    throw new ServiceError("not_allowed", "The call has been owed for less than 24 hours: it may still be attested.");
  await checkGivenBack(call, transaction, options);
  const name = refundName(call, transaction);
  const earlier = await journal.find(name);
  if (earlier) throw alreadyUsed(transaction, earlier);
  const bare = await withoutAttempts(call, options);
  const attested = await options.attestationOf(call);
  if (attested)
    throw new ServiceError("not_allowed", `It is already attested in ${attested.txid}: the service will deliver it.`);
  const refunded = reduce(bare, { type: "payment_refunded", transaction, refund: name });
  await journal.update(refunded).catch(async (error: unknown) => {
    // Another operator was first.
    throw hasCode(error, "name_taken") ? alreadyUsed(transaction, await journal.find(name)) : error;
  });
  return refunded;
}

/**
 * Returns the journal's name for a transaction's refund to a payer. It can be taken only once, so that one refund
 * closes only one call.
 */
function refundName({ rail, payer }: Call, transaction: string): string {
  const { canonical } = railKind(rail);
  return `refund:${rail}/${canonical(transaction)}/${canonical(payer)}`;
}

function alreadyUsed(transaction: string, by: Call | undefined): ServiceError {
  const what = by ? `the payment ${by.key}` : "another payment";
  const message = `${transaction} has already refunded ${what}: each payment needs its own transfer.`;
  return new ServiceError("not_allowed", message);
}

/** @throws ServiceError unless the payer was refunded, and not before it paid */
async function checkGivenBack(
  { rail, payer, requirement, proof }: Call,
  transaction: string,
  { readers }: RefundOptions,
): Promise<void> {
  const reader = readers.get(rail);
  if (!reader)
    throw new ServiceError("argument_invalid", `The payment is on ${rail}, for which no node is configured.`);
  const { final } = await reader.heads();
  const owed = BigInt(requirement.amount);
  const transfers = await reader.inTransaction(transaction, [payer]);
  const back = transfers.find(({ amount }) => amount !== undefined && amount >= owed);
  if (!back)
    throw new ServiceError("not_on_chain", `${transaction} on ${rail} does not send ${owed} micro-USDC to ${payer}.`);
  if (back.height > final) throw new ServiceError("not_on_chain", `${transaction} is not final on ${rail} yet.`);
  if (!proof || back.height < proof.height)
    throw new ServiceError("not_on_chain", `${transaction} is older than the payment that it should refund.`);
}

/** Returns the call after its last attempt is proved dead. @throws ServiceError when it is not */
async function withoutAttempts(call: Call, { journal, rounds, signal }: RefundOptions): Promise<Call> {
  const attempt = liveAttempt(call);
  if (!attempt) return call;
  const status = await rounds.status(attempt.txid, attempt, signal);
  if (status.state === "confirmed") {
    const message = `The attestation is in round ${status.round}: the service will deliver it.`;
    throw new ServiceError("not_allowed", message);
  }
  if (status.state === "open")
    throw new ServiceError("not_allowed", `${attempt.txid} may be confirmed until round ${attempt.lastValid}.`);
  const events: CallEvent[] = [
    { type: "attestation_dead", txid: attempt.txid },
    { type: "attestation_blocked", reason: call.reason ?? "no reason given" },
  ];
  let bare = call;
  for (const event of events) {
    bare = reduce(bare, event);
    await journal.update(bare);
  }
  return bare;
}
