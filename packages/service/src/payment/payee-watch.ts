import { namesOf } from "../config/rails.ts";
import { ignoring } from "../errors.ts";
import { isProviderError } from "../providers/provider.ts";
import type { Rail, RailName } from "./rails/rail.ts";

type Payee = { rail: Pick<Rail, "name" | "payeeFault">; payTo: string };

/** How long a rail whose nodes do not answer is still sold on, in ms: payees are read every 15 seconds. */
const MAX_SILENCE_MS = 60_000;

/** Whether the payees can be paid, as last read from their chains: an account may opt out of the asset, or be frozen. */
export type PayeeWatch = ReturnType<typeof watchPayees>;

/** @param now Unix ms */
export function watchPayees(payees: readonly Payee[], now: () => number) {
  /** By rail, as last read: absent until the chain was read, `fault` undefined when nothing is wrong. */
  const read = new Map<RailName, { fault: string | undefined; at: number }>();
  return {
    /** Reads each payee again; if its chain cannot be read, the last result counts for a minute. */
    async refresh(signal: AbortSignal): Promise<void> {
      await Promise.all(
        payees.map(async ({ rail, payTo }) => {
          const keep = (fault: string | undefined) => void read.set(rail.name, { fault, at: now() });
          await rail.payeeFault(payTo, signal).then(keep).catch(ignoring(isProviderError));
        }),
      );
    },

    /** The payees that cannot be paid, as sentences that name the setting. */
    faults: () =>
      [...read].flatMap(([rail, { fault }]) => (fault === undefined ? [] : [`${settingOf(rail)} ${fault}.`])),

    /** Why nothing can be paid on a rail: a clause. */
    obstacle(rail: RailName): string | undefined {
      const last = read.get(rail);
      if (!last) return `${settingOf(rail)} could not be read on its chain yet`;
      if (last.fault !== undefined) return `${settingOf(rail)} ${last.fault}`;
      // Nor could the signature, balance and standing of a payment be read.
      return now() - last.at > MAX_SILENCE_MS
        ? `none of its nodes has answered since ${new Date(last.at).toISOString()}`
        : undefined;
    },
  };
}

function settingOf(rail: RailName): string {
  return namesOf({ name: rail }).payTo;
}
