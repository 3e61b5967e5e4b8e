import { namesOf } from "../config/rails.ts";
import { isProviderError } from "../providers/provider.ts";
import type { Rail, RailName } from "./rails/rail.ts";

type Payee = { rail: Pick<Rail, "name" | "payeeFault">; payTo: string };

/** Whether the payees can be paid, as last read from their chains: an account may opt out of the asset, or be frozen. */
export type PayeeWatch = ReturnType<typeof watchPayees>;

export function watchPayees(payees: readonly Payee[]) {
  /** By rail: absent until the chain was read, undefined when nothing is wrong. */
  const faults = new Map<RailName, string | undefined>();
  return {
    /** Reads each payee again; if its chain cannot be read, the last result counts. */
    async refresh(signal: AbortSignal): Promise<void> {
      await Promise.all(
        payees.map(async ({ rail, payTo }) => {
          try {
            faults.set(rail.name, await rail.payeeFault(payTo, signal));
          } catch (error) {
            if (!isProviderError(error)) throw error;
          }
        }),
      );
    },

    /** The payees that cannot be paid, as sentences that name the setting. */
    faults: () => [...faults].flatMap(([rail, fault]) => (fault === undefined ? [] : [`${settingOf(rail)} ${fault}.`])),

    /** Why nothing can be paid on a rail: a clause. */
    obstacle(rail: RailName): string | undefined {
      if (!faults.has(rail)) return `${settingOf(rail)} could not be read on its chain yet`;
      const fault = faults.get(rail);
      return fault && `${settingOf(rail)} ${fault}`;
    },
  };
}

function settingOf(rail: RailName): string {
  return namesOf({ name: rail }).payTo;
}
