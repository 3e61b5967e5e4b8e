import type { Logger } from "pino";
import { deadline, systemClock } from "../clock.ts";
import { type Config, configInvalid } from "../config/config.ts";
import { hasCode, ignoring } from "../errors.ts";
import { enableRails } from "./enabled-rail.ts";
import { createOffers } from "./offers.ts";
import type { Rail, RailName } from "./rails/rail.ts";

/** The journal's payees. */
export interface PayeeJournal {
  /** Adds payees to those that are, or ever were, ours. */
  rememberPayees(payees: readonly { rail: RailName; address: string }[]): Promise<void>;

  /** Every payee that is, or ever was, ours. */
  payees(): Promise<{ rail: RailName; address: string }[]>;
}

export type PaymentsOptions = {
  journal: PayeeJournal;
  /** Every rail that can be read, switched on or not. */
  rails: readonly Rail[];
  log: Logger;
  /** Ends the opening. */
  signal: AbortSignal;
};

/** How long the payees may take to be read at the start, in ms: nodes that do not answer must leave time for the rest of it. */
const PAYEES_MS = 10_000;

/**
 * Opens what calls are paid by: the rails that the settings switch on, their payees and their offers.
 *
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
  // A facilitator that does not answer now is asked again later; the other rails are offered meanwhile.
  await offers.refresh(signal);
  await journal.rememberPayees(enabled.map(({ rail, payTo }) => ({ rail: rail.name, address: payTo })));
  const everPaid = await journal.payees();
  // The offers log this failure themselves, once.
  const unlessUnsupported = ignoring((error) => hasCode(error, "settlement_unsupported"));
  const refreshedOffers = { refresh: (ends: AbortSignal) => offers.refresh(ends).catch(unlessUnsupported) };
  return {
    enabled,
    offers,
    /** Whether an address is, or ever was, a payee of ours. */
    isPayee: (rail: Rail, address: string) =>
      everPaid.some((payee) => payee.rail === rail.name && rail.sameAddress(payee.address, address)),
    /** What is refreshed while the service runs. */
    refreshed: [payees, refreshedOffers],
  };
}
