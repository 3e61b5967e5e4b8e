import type { Logger } from "pino";
import type { RailSettings } from "../config/rails.ts";
import { type Facilitator, httpFacilitator } from "./facilitator.ts";
import { watchFacilitator } from "./facilitator-watch.ts";
import { type PayeeWatch, watchPayees } from "./payee-watch.ts";
import type { Rail } from "./rails/rail.ts";

/** A rail that the settings switch on. */
export type EnabledRail = {
  rail: Rail;
  payTo: string;
  /** micro-USDC a call. */
  price: bigint;
  facilitator: Facilitator;
  facilitatorUrl: string;
  /** Why nothing can be sold on it now: a clause. */
  obstacle?: () => string | undefined;
  /** What may be wrong with it, though it still sells: a clause. */
  doubt?: () => string | undefined;
};

/**
 * Takes the rails that have settings, with a watch on each facilitator and on the payees.
 *
 * @param settings by the name of the rail
 */
export function enableRails(
  rails: readonly Rail[],
  settings: Readonly<Record<string, RailSettings | undefined>>,
  log: Logger,
): { enabled: EnabledRail[]; payees: PayeeWatch } {
  const payable = rails.flatMap((rail) => {
    const own = settings[rail.name];
    return own ? [{ rail, ...own }] : [];
  });
  const payees = watchPayees(payable, Date.now);
  const enabled = payable.map(({ rail, payTo, facilitators: [facilitator], price }) => {
    if (!facilitator) throw new TypeError(`the rail ${rail.name} has no facilitator`);
    const watch = watchFacilitator({
      facilitator: httpFacilitator(facilitator),
      log: log.child({ rail: rail.name }),
      now: Date.now,
    });
    return {
      rail,
      payTo,
      price,
      facilitator: watch,
      facilitatorUrl: facilitator.url,
      obstacle: () => payees.obstacle(rail.name) ?? watch.obstacle(),
      doubt: watch.doubt,
    };
  });
  return { enabled, payees };
}
