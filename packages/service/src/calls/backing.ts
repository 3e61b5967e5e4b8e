import type { Payment, Rail } from "../payment/rails/rail.ts";
import { Problem } from "../problems.ts";
import { SAME_HEADER } from "./asking.ts";
import type { Store } from "./store.ts";

/** Sees to it that payers hold what they promise. */
export interface Backing {
  /**
   * Counts a payment among its payer's promises, from now until it is in the journal or refused.
   *
   * What is too much is put off and not refused: of the earlier payments, one may be out of the balance already and its
   * row not have heard of it. Once they have come to their end, the same payment passes, or fails by itself.
   *
   * @returns takes it out of the count again
   * @throws Problem when the payer holds too little for all that it has promised; ProviderError
   */
  promise(rail: Rail, payment: Payment, signal: AbortSignal): Promise<() => void>;
}

/**
 * Many authorizations can rest on one small balance: each passes alone, and most would only wait for their expiry.
 *
 * Those that come at once count as well: they see one another here before any of them is in the journal. Other replicas
 * see them only there.
 */
export function createBacking(store: Pick<Store, "exposure">): Backing {
  /** What payers promise in requests of this process that are not in the journal yet. */
  const promising = new Map<string, bigint>();

  return {
    async promise(rail, payment, signal) {
      const { payer, amount } = payment;
      const [open, held] = await Promise.all([store.exposure(rail.name, payer), rail.balance(payment, signal)]);
      const name = `${rail.name} ${payer}`;
      const others = promising.get(name) ?? 0n;
      if (open + others + amount > held) {
        const detail = `The payer holds ${held}, and has promised ${open + others} in payments that are still open.`;
        throw new Problem("over_capacity", detail, { retryAfter: 5, members: SAME_HEADER });
      }
      promising.set(name, others + amount);
      return () => {
        const left = (promising.get(name) ?? 0n) - amount;
        if (left > 0n) promising.set(name, left);
        else promising.delete(name);
      };
    },
  };
}
