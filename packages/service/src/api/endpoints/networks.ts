import type { Clock } from "../../lib/clock.ts";
import { Problem } from "../../lib/problems.ts";
import { createBulkhead } from "../../lib/workers/bulkhead.ts";
import type { EnabledRail } from "../../payment/enabled-rail.ts";
import type { WalletHelp } from "../../payment/rails/rail.ts";

export type NetworksOptions = {
  rails: readonly Pick<EnabledRail, "rail">[];
  clock: Pick<Clock, "now" | "sleep" | "timeout">;
  /** Time-out of one look-up, in ms. */
  deadlineMs: number;
};

/**
 * The bulkhead for wallets' balances. They are free, cost one upstream request each, and refusing them loses nothing.
 */
const BALANCES = { maxActive: 2, maxWaiting: 16, perSecond: 4, refusal: "Too many balances are being looked up." };
/** How long all callers share the answer about a network, in ms: less than a round of MainNet. */
const SHARED_MS = 2_000;

/** Answers wallets without their own node, so that a page with such a wallet connects only to us. */
export function createNetworks({ rails, clock, deadlineMs }: NetworksOptions) {
  const balances = createBulkhead({ ...BALANCES, clock });
  const shared = new Map<string, { at: number; answer: Promise<object> }>();

  function helpOf(network: string): WalletHelp {
    const help = rails.find(({ rail }) => rail.network === network)?.rail.wallets;
    if (help) return help;
    throw new Problem("not_found", "Nothing is paid on this network, or its wallets have their own nodes.");
  }

  return {
    /** Returns what a transaction must contain to be valid now. @throws Problem `not_found`; ProviderError */
    async parameters(network: string): Promise<object> {
      const help = helpOf(network);
      const last = shared.get(network);
      const now = clock.now();
      const isFresh = last !== undefined && now >= last.at && now - last.at < SHARED_MS;
      const answer = isFresh ? last.answer : help.now(clock.timeout(deadlineMs));
      if (!isFresh) shared.set(network, { at: now, answer });
      return { network, ...(await answer) };
    },

    /**
     * Returns an address's USDC; null if it has no account for it.
     * @throws Problem `not_found`, `over_capacity`; ProviderError
     */
    async balance(network: string, address: string): Promise<object> {
      const help = helpOf(network);
      if (!help.isAddress(address)) throw new Problem("not_found", "This is not an address on that network.");
      const holding = await balances.run(() => help.holding(address, clock.timeout(deadlineMs)));
      return { network, address, usdc: holding === undefined ? null : String(holding) };
    },
  };
}
