import { isProviderError } from "../providers/provider.ts";
import type { Rail, RailName } from "./rails/rail.ts";

type Payee = { rail: Pick<Rail, "name" | "payeeFault">; payTo: string };

/** Whether the payees can be paid, as last read from their chains: an account may opt out of the asset, or be frozen. */
export class PayeeWatch {
  readonly #payees: readonly Payee[];
  /** By rail: absent until the chain was read, undefined when nothing is wrong. */
  readonly #faults = new Map<RailName, string | undefined>();

  constructor(payees: readonly Payee[]) {
    this.#payees = payees;
  }

  /** Reads each payee again; if its chain cannot be read, the last result stands. */
  async refresh(signal: AbortSignal): Promise<void> {
    await Promise.all(
      this.#payees.map(async ({ rail, payTo }) => {
        try {
          this.#faults.set(rail.name, await rail.payeeFault(payTo, signal));
        } catch (error) {
          if (!isProviderError(error)) throw error;
        }
      }),
    );
  }

  /** The payees that cannot be paid, as sentences that name the setting. */
  faults(): string[] {
    return [...this.#faults].flatMap(([rail, fault]) => (fault === undefined ? [] : [`${settingOf(rail)} ${fault}.`]));
  }

  /** Why nothing can be paid on a rail: a clause. */
  obstacle(rail: RailName): string | undefined {
    if (!this.#faults.has(rail)) return `${settingOf(rail)} could not be read on its chain yet`;
    const fault = this.#faults.get(rail);
    return fault && `${settingOf(rail)} ${fault}`;
  }
}

function settingOf(rail: RailName): string {
  return `PAY_TO_${rail.toUpperCase()}`;
}
