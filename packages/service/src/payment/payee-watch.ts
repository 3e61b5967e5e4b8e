import { namesOf } from "../config/rails.ts";
import { isProviderError, type ProviderError } from "../providers/provider.ts";
import type { Rail, RailName } from "./rails/rail.ts";

type Payee = { rail: Pick<Rail, "name" | "payeeFault">; payTo: string };

/** How long a rail whose nodes do not answer is still sold on, in ms: payees are read every 15 seconds. */
const MAX_SILENCE_MS = 60_000;

/**
 * Whether the payees can be paid, as last read from their chains: an account may opt out of the asset, or be frozen. They are read by as
 * many nodes as must agree on everything else, so that a rail whose witnesses are missing shows here.
 */
export type PayeeWatch = ReturnType<typeof watchPayees>;

/** @param now Unix ms */
export function watchPayees(payees: readonly Payee[], now: () => number) {
  /** By rail, as last read: absent until the chain was read, `fault` undefined when nothing is wrong. */
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

    /** The payees that cannot be paid, as sentences that name the setting. */
    faults: () =>
      [...read].flatMap(([rail, { fault }]) => (fault === undefined ? [] : [`${settingOf(rail)} ${fault}.`])),

    /** Why nothing can be paid on a rail: a clause. */
    obstacle(rail: RailName): string | undefined {
      const last = read.get(rail);
      if (last?.fault !== undefined) return `${settingOf(rail)} ${last.fault}`;
      // Nor could the signature and the standing of a payment be read.
      const isSilent = last === undefined || now() - last.at > MAX_SILENCE_MS;
      if (!isSilent) return undefined;
      const since = last === undefined ? "" : ` since ${new Date(last.at).toISOString()}`;
      return `witness_missing${since}: ${unread.get(rail)?.message ?? "its nodes have not been asked yet"}`;
    },
  };
}

function settingOf(rail: RailName): string {
  return namesOf({ name: rail }).payTo;
}
