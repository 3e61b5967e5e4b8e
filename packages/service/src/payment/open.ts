import type { Logger } from "pino";
import { type Config, configInvalid } from "../config/config.ts";
import { deadline, systemClock } from "../lib/clock.ts";
import { hasCode, ignoring } from "../lib/errors.ts";
import { enableRails } from "./enabled-rail.ts";
import { createOffers } from "./offers.ts";
import type { OfferedRail, PayeeRail, RailFacts, RailName } from "./rails/rail.ts";

/** The journal's payees. */
export interface PayeeJournal {
  /** Adds payees to our current and former ones. */
  rememberPayees(payees: readonly { rail: RailName; address: string }[]): Promise<void>;

  /** Lists all current and former payees. */
  payees(): Promise<{ rail: RailName; address: string }[]>;
}

export type PaymentsOptions = {
  journal: PayeeJournal;
  /** Every rail that can be read, enabled or not. */
  rails: readonly (OfferedRail & PayeeRail)[];
  log: Logger;
  /** Aborts the opening. */
  signal: AbortSignal;
};

/** How long reading the payees may take at the start, in ms. Nodes that do not answer must leave time for the rest. */
const PAYEES_MS = 10_000;

/**
 * Opens what calls need to be paid: the enabled rails, their payees and their offers.
 * @throws config_invalid when a payee cannot be paid; settlement_unsupported when no facilitator of a rail settles it
 */
export async function openPayments(config: Config, { journal, rails, log, signal }: PaymentsOptions) {
  const { enabled, payees } = enableRails(rails, config.rails, log);
  await payees.refresh(deadline(systemClock, PAYEES_MS, signal));
  const [unpayable] = payees.faults();
  if (unpayable !== undefined) throw configInvalid(unpayable);
  const offers = createOffers({
    rails: enabled,
    itemPrice: config.batch.itemPrice,
    maxTimeoutSeconds: config.maxTimeoutSeconds,
    now: Date.now,
    onChange(network, reason) {
      if (reason === undefined) log.info({ network }, "sold again");
      else log.error({ network, reason }, "nothing can be sold");
    },
    onSwitch: (network, facilitator) => log.warn({ network, facilitator }, "sold by another facilitator"),
  });
  // A facilitator that does not answer now is asked again later; the other rails are offered in the meantime.
  await offers.refresh(signal);
  await journal.rememberPayees(enabled.map(({ rail, payTo }) => ({ rail: rail.name, address: payTo })));
  const everPaid = await journal.payees();
  // The offers log this failure themselves, once.
  const unlessUnsupported = ignoring((error) => hasCode(error, "settlement_unsupported"));
  const refreshedOffers = { refresh: (ends: AbortSignal) => offers.refresh(ends).catch(unlessUnsupported) };
  return {
    enabled,
    offers,
    /** Whether an address is, or ever was, our payee. */
    isPayee: (rail: RailFacts, address: string) =>
      everPaid.some((payee) => payee.rail === rail.name && rail.sameAddress(payee.address, address)),
    /** What is refreshed while the service runs. */
    refreshed: [payees, refreshedOffers],
  };
}
