import { Problem, SAME_HEADER } from "../lib/problems.ts";
import type { AdmissionRail, Payment } from "../payment/rails/rail.ts";
import { Refusal } from "../payment/refusal.ts";
import type { Journal } from "./journal.ts";

/** A payer's payments in requests of this process that are not in the journal yet, each counted once. */
type Promises = { total: bigint; requests: Map<string, number> };

/**
 * Checks that payers hold what they promise. Many authorizations can rest on one small balance: each passes alone, and
 * most would only wait until they expire.
 *
 * Simultaneous requests count each other here, before any of them is in the journal; other replicas see them only there.
 */
export function createBacking(journal: Pick<Journal, "exposure">) {
  const promising = new Map<string, Promises>();

  function count(name: string, { key, amount }: Payment): Promises {
    const promises = promising.getOrInsertComputed(name, () => ({ total: 0n, requests: new Map() }));
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
    /**
     * Counts a payment among its payer's promises, until it is in the journal or refused.
     *
     * Too many promises are a problem and not a refusal: an earlier payment may have left the balance while its row still
     * counts as open. Once the earlier payments have ended, the same payment passes, or fails by itself.
     *
     * @returns a function that removes the payment from the count; a refusal when the payer has too little for this
     *   payment alone
     * @throws Problem when it has too little for all that it has promised; ProviderError
     */
    async promise(
      rail: Pick<AdmissionRail, "name" | "balance">,
      payment: Payment,
      signal: AbortSignal,
    ): Promise<(() => void) | Refusal> {
      const { payer, amount } = payment;
      const name = `${rail.name} ${payer}`;
      // Before the journal is read: a promise that is committed in between is then counted at least once.
      const promises = count(name, payment);
      const others = promises.total - amount;
      using kept = new DisposableStack();
      kept.defer(() => forget(name, payment, promises));
      const open = await journal.exposure(rail.name, payer);
      // After the journal: a payment that is made in between is then out of the balance.
      const held = await rail.balance(payment, signal);
      if (held < amount) return new Refusal(`the payer holds ${held}, less than the ${amount} of the payment`);
      if (open + others + amount > held) {
        const detail = `The payer holds ${held}, and has promised ${open + others} in payments that are still open.`;
        throw new Problem("over_capacity", detail, { retryAfter: 5, members: SAME_HEADER });
      }
      const counted = kept.move();
      return () => counted.dispose();
    },
  };
}
