import type { Deadline } from "../lib/clock.ts";
import { Problem } from "../lib/problems.ts";
import type { Payment } from "../payment/rails/rail.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";
import { type Call, payloadSha256 } from "./call.ts";
import type { Expectation, Journal, KnownCall } from "./journal.ts";
import { paymentUnknown } from "./problems.ts";

/** The part of a paid request that matters here. */
type Request = { subject: Subject; payment: Payment; deadline: Deadline };
type Announcement = { payment: Payment; withdrawn: Promise<void> };

/** The pause before another replica is asked again whether it still checks a payment, in ms. */
const POLL_MS = 200;

/**
 * Finds the call that holds a payment while other requests may bring the same one.
 *
 * A 402 allows the payer to sign another payment. While another request still checks the same payment, a 402 would come
 * too early: the payer would also be charged by the call that the other request begins. So requests announce their
 * payments: here to their own process, and by the journal to other replicas.
 */
export function createHolders(journal: Pick<Journal, "find" | "look" | "expect" | "isExpectedElsewhere">) {
  const announced = new Map<string, Set<Announcement>>();
  return { announce, expect, look, whole, find, findBeforeRefusal };

  /** Looks up the call of a payment whose signature nobody has checked. */
  function look({ key, payload }: Payment): Promise<KnownCall | undefined> {
    return journal.look(key, payloadSha256(payload));
  }

  /** Reads a call of which the sender may learn. @throws Problem when the call is for another subject */
  async function whole({ head, call }: KnownCall, request: Omit<Request, "deadline">): Promise<Call> {
    bound(head, request);
    const found = call ?? (await journal.find(head.key));
    if (!found) throw new Error(`the journal has no call of ${head.key}`);
    return found;
  }

  /**
   * Announces a payment for which a call may begin.
   * @returns a function to call when the call has begun, or can no longer begin; calling it again does nothing
   */
  function announce(payment: Payment): () => void {
    const { promise: withdrawn, resolve } = Promise.withResolvers<void>();
    const same = announced.getOrInsertComputed(payment.key, () => new Set());
    const announcement = { payment, withdrawn };
    same.add(announcement);
    return () => {
      if (same.delete(announcement) && same.size === 0) announced.delete(payment.key);
      resolve();
    };
  }

  /**
   * Finds the call of the payment, if the sender may learn of it: the payment is signed, or is byte for byte the call's.
   * @param isSigned whether the payer has signed the payment as it came with this request
   * @throws Problem when the call is for another subject
   */
  async function find(request: Request, isSigned: boolean): Promise<Call | undefined> {
    const known = await look(request.payment);
    return known && (isSigned || known.call) ? whole(known, request) : undefined;
  }

  /**
   * Looks for the call before a 402: another request may have brought the payment since this one looked, and its
   * settlement may be why the chain or an offer no longer accepts the payment. Waits for requests that have announced the
   * payment, to any replica. The request MUST have withdrawn its own announcements, because two would wait for each
   * other.
   * @returns as `find`. @throws Problem as `find`, or when the deadline comes while others still check the payment
   */
  async function findBeforeRefusal(request: Request, isSigned: boolean): Promise<Call | undefined> {
    const { payment, deadline } = request;
    const own = payloadSha256(payment.payload);
    const another = () =>
      [...(announced.get(payment.key) ?? [])].find((other) => isSigned || own === payloadSha256(other.payment.payload));
    for (;;) {
      await another()?.withdrawn;
      // Before the row is read: a call that another replica begins until then is found.
      const isElsewhere = await journal.isExpectedElsewhere(isSigned ? payment.key : nameOfBytes(payment));
      const holder = await find(request, isSigned);
      if (holder || (!isElsewhere && !another())) return holder;
      if (isElsewhere) await deadline.sleep(POLL_MS).catch(() => undefined);
      const { aborted, reason } = deadline.signal;
      if (aborted) throw paymentUnknown("Other requests with this payment are being checked.", reason);
    }
  }

  /**
   * Tells the other replicas that a call of this payment may begin.
   * @param isSigned whether the payer has signed the payment, as far as that shows without its chain
   * @throws journal_busy when too many payments are being checked
   */
  function expect(payment: Payment, isSigned: boolean): Promise<Expectation> {
    // Without a proven signature a request waits only for others that bring the same bytes.
    return journal.expect(isSigned ? [payment.key] : [payment.key, nameOfBytes(payment)]);
  }
}

/** Returns the name of a payment with the bytes in which it came. */
function nameOfBytes({ key, payload }: Payment): string {
  return `${key} ${payloadSha256(payload)}`;
}

/**
 * Returns the call, if it is for the request's subject, and of its payment or of one that has a name in common.
 * @param names further names of the request's purchase, by which the call may be of another payment
 * @throws Problem `payment_bound_to_other_request` for any other call
 */
export function bound<C extends Pick<Call, "key" | "subjectHash"> & Partial<Pick<Call, "aliases">>>(
  call: C,
  { payment, subject }: Omit<Request, "deadline">,
  names: readonly string[] = [],
): C {
  const known = call.key === payment.key || names.some((name) => call.aliases?.includes(name));
  if (known && call.subjectHash === requestHash(subject)) return call;
  throw boundToOther();
}

export function boundToOther(): Problem {
  return new Problem("payment_bound_to_other_request", "This payment was first sent with another request.");
}
