import type { Logger } from "pino";
import type { RailSettings } from "../config/config.ts";
import { facilitatorId } from "../config/facilitators.ts";
import { type Facilitator, httpFacilitator } from "./facilitator.ts";
import { type Condition, watchFacilitator } from "./facilitator-watch.ts";
import { namedAsListed } from "./listed-network.ts";
import { type PayeeWatch, watchPayees } from "./payee-watch.ts";
import type { OfferedRail, PayeeRail } from "./rails/rail.ts";

/** A facilitator of an enabled rail. */
export type EnabledFacilitator = Partial<Condition> & {
  /** Its URL as `facilitatorId` spells it. Rows of calls name it like this. */
  id: string;
  /** Its URL as it appears in documents. */
  url: string;
  facilitator: Facilitator;
};

/** A rail that the settings enable. */
export type EnabledRail = Pick<RailSettings, "payTo" | "price"> & {
  rail: OfferedRail;
  /** At least one, in order of preference. */
  facilitators: readonly EnabledFacilitator[];
  /** Returns why nothing can be sold on it now with any facilitator: a clause; undefined if it can. */
  unavailableReason?: () => string | undefined;
};

/**
 * Combines the rails that have settings with a watch on each facilitator and on the payees.
 * @param settings by the name of the rail
 */
export function enableRails(
  rails: readonly (OfferedRail & PayeeRail)[],
  settings: Readonly<Record<string, RailSettings | undefined>>,
  log: Logger,
): { enabled: EnabledRail[]; payees: PayeeWatch } {
  const payable = rails.flatMap((rail) => {
    const own = settings[rail.name];
    return own ? [{ rail, ...own }] : [];
  });
  const payees = watchPayees(payable, Date.now);
  const enabled = payable.map(({ rail, payTo, price, facilitators }) => ({
    rail,
    payTo,
    price,
    facilitators: facilitators.map((own): EnabledFacilitator => {
      const { url } = own;
      const { host } = new URL(url);
      const named = log.child({ rail: rail.name, facilitator: host });
      const facilitator = namedAsListed(httpFacilitator(own), rail);
      const watch = watchFacilitator({ facilitator, rail: rail.name, host, log: named, now: Date.now });
      const { unavailableReason, degradedReason, isBusy } = watch;
      return { id: facilitatorId(url), url, facilitator: watch, unavailableReason, degradedReason, isBusy };
    }),
    unavailableReason: () => payees.unavailableReason(rail.name),
  }));
  return { enabled, payees };
}
