import { type Payment, PaymentRefused, type Rail } from "../payment/rails/rail.ts";
import { Problem } from "../problems.ts";
import { SAME_HEADER } from "./asking.ts";
import type { Journal } from "./journal.ts";

/** Sees to it that payers hold what they promise. */
export interface Backing {
  /**
   * Counts a payment among its payer's promises, from now until it is in the journal or refused.
   *
   * What is too much is put off and not refused: of the earlier payments, one may be out of the balance already and its
   * row not have heard of it. Once they have come to their end, the same payment passes, or fails by itself.
   *
   * @returns takes it out of the count again
   * @throws PaymentRefused when the payer holds too little for this payment alone; Problem when it holds too little for
   *   all that it has promised; ProviderError
   */
  promise(rail: Rail, payment: Payment, signal: AbortSignal): Promise<() => void>;
}

/** What a payer promises in requests of this process that are not in the journal yet, each payment once. */
type Promises = { total: bigint; requests: Map<string, number> };

/**
 * Many authorizations can rest on one small balance: each passes alone, and most would only wait for their expiry.
 *
 * Those that come at once count as well: they see one another here before any of them is in the journal. Other replicas
 * see them only there.
 */
export function createBacking(journal: Pick<Journal, "exposure">): Backing {
  const promising = new Map<string, Promises>();

  function count(name: string, { key, amount }: Payment): Promises {
    const promises = promising.get(name) ?? { total: 0n, requests: new Map<string, number>() };
    promising.set(name, promises);
    const requests = promises.requests.get(key) ?? 0;
    promises.requests.set(key, requests + 1);
    if (requests === 0) promises.total += amount;
    return promises;
  }

  function forget(name: string, { key, amount }: Payment, promises: Promises): void {
    const requests = (promises.requests.get(key) ?? 0) - 1;
    if (requests > 0) {
      promises.requests.set(key, requests);
      return;
    }
    promises.requests.delete(key);
    promises.total -= amount;
    if (promises.requests.size === 0) promising.delete(name);
  }

  return {
    async promise(rail, payment, signal) {
      const { payer, amount } = payment;
      const name = `${rail.name} ${payer}`;
      // Before the journal is read: a promise that is committed in between is counted here, or there, or twice.
      const promises = count(name, payment);
      const others = promises.total - amount;
      try {
        const open = await journal.exposure(rail.name, payer);
        // Afterwards: what is paid in between is out of the balance.
        const held = await rail.balance(payment, signal);
        if (held < amount) throw new PaymentRefused(`the payer holds ${held}, less than the ${amount} of the payment`);
        if (open + others + amount > held) {
          const detail = `The payer holds ${held}, and has promised ${open + others} in payments that are still open.`;
          throw new Problem("over_capacity", detail, { retryAfter: 5, members: SAME_HEADER });
        }
      } catch (error) {
        forget(name, payment, promises);
        throw error;
      }
      return () => forget(name, payment, promises);
    },
  };
}
