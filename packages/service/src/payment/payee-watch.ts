import { isProviderError, type ProviderError } from "../providers/provider.ts";
import type { PayeeRail, RailName } from "./rails/rail.ts";

type Payee = { rail: PayeeRail; payTo: string };

/** How long a rail is still sold while its nodes do not answer, in ms. Payees are read every 15 seconds. */
const MAX_SILENCE_MS = 60_000;

/**
 * Whether the payees can be paid, as last read from their chains: an account may opt out of the asset, or be frozen. As
 * many nodes read them as must agree on everything else, so a rail without enough nodes shows here.
 */
export type PayeeWatch = ReturnType<typeof watchPayees>;

/** @param now Unix ms */
export function watchPayees(payees: readonly Payee[], now: () => number) {
  /** By rail, the last result: absent until the chain was read, `fault` undefined when nothing is wrong. */
  const read = new Map<RailName, { fault: string | undefined; at: number }>();
  /** By rail, why it could not be read the last time. */
  const unread = new Map<RailName, ProviderError>();
  return {
    /** Reads each payee again; if its chain cannot be read, the last result counts for a minute. */
    async refresh(signal: AbortSignal): Promise<void> {
      await Promise.all(
        payees.map(async ({ rail, payTo }) => {
          try {
            read.set(rail.name, { fault: await rail.payeeFault(payTo, signal), at: now() });
            unread.delete(rail.name);
          } catch (error) {
            if (!isProviderError(error)) throw error;
            unread.set(rail.name, error);
          }
        }),
      );
    },

    /** Lists the payees that cannot be paid, as sentences that name the setting. */
    faults: () =>
      [...read].flatMap(([rail, { fault }]) => (fault === undefined ? [] : [`${settingOf(rail)} ${fault}.`])),

    /** Returns why nothing can be paid on a rail: a clause; undefined if it can. */
    unavailableReason(rail: RailName): string | undefined {
      const last = read.get(rail);
      if (last?.fault !== undefined) return `${settingOf(rail)} ${last.fault}`;
      // A payment's signature and status could not be read either.
      const isSilent = last === undefined || now() - last.at > MAX_SILENCE_MS;
      if (!isSilent) return undefined;
      const since = last === undefined ? "" : ` since ${new Date(last.at).toISOString()}`;
      return `witness_missing${since}: ${unread.get(rail)?.message ?? "its nodes have not been asked yet"}`;
    },
  };
}

function settingOf(rail: RailName): string {
  return `rails.${rail}.pay_to`;
}
