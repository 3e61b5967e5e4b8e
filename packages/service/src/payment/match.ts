import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ServiceError } from "../lib/errors.ts";
import type { EnabledRail } from "./enabled-rail.ts";
import { acceptedAmount } from "./payment-option.ts";
import { Refusal } from "./refusal.ts";
import { namedClause, openRoutes, type Route, type Settler, whyAllUnavailable } from "./routes.ts";

/** An enabled rail with the routes on which it sells. */
export type RoutedRail = EnabledRail & { routes: readonly Route[] };

/** An offer that a payment accepted. */
export type Match = {
  /** Our own requirement, never the client's copy of it. */
  requirement: PaymentRequirements;
  /** The facilitators that may verify and settle the payment, in the order in which they are asked; at least one. */
  settlers: readonly Settler[];
};

/**
 * Finds the routes of the rail's offer that a payment accepted.
 * @param price micro-USDC
 * @param requirementOf makes our offer with a facilitator
 * @returns why the payment fits no offer, if it does not
 * @throws rail_closed as `match` of the offers
 */
export function matchRoutes(
  payment: PaymentPayload,
  entry: RoutedRail,
  price: bigint,
  requirementOf: (seller: Route) => PaymentRequirements,
): Match | Refusal {
  const { accepted } = payment;
  const closed = whyClosed(entry);
  if (closed !== undefined) throw notSold(entry, closed);
  const misfit = misfitOf(payment, entry, price);
  if (misfit !== undefined) return new Refusal(misfit);
  const open = openRoutes(entry.routes);
  const named = accepted.extra?.feePayer;
  if (named === undefined) {
    const [seller] = open;
    if (!seller) throw notSold(entry, whyAllUnavailable(entry.routes));
    const requirement = requirementOf(seller);
    return { requirement, settlers: settlersFor(requirement.extra.feePayer, entry, open) };
  }
  const [seller, ...others] = settlersFor(named, entry, open);
  if (!seller) {
    const away = settlersFor(named, entry, entry.routes)[0]?.unavailableReason();
    if (away !== undefined) throw notSold(entry, away);
    // Another replica, or this one before its restart, may have offered it for a facilitator that is still unknown here.
    const unknown = entry.routes.find(({ support }) => support.isUnknown());
    if (unknown) throw notSold(entry, namedClause(unknown, unknown.unavailableReason() ?? "", true));
    return new Refusal("accepted.extra.feePayer was not offered");
  }
  const requirement = requirementOf(seller);
  return {
    requirement: { ...requirement, extra: { ...requirement.extra, feePayer: named } },
    settlers: [seller, ...others],
  };
}

/**
 * Returns the routes that may settle a payment with its fee payer, in order. Two facilitators may share a fee payer,
 * and a payment without one is for each that needs none.
 */
function settlersFor(feePayer: unknown, { rail }: RoutedRail, routes: readonly Route[]): Route[] {
  return routes.filter(({ support }) => {
    if (feePayer === undefined) return rail.isForAnyFacilitator || support.feePayer() === undefined;
    return support.feePayer() === feePayer || support.mayName(feePayer);
  });
}

/** Returns what a payment accepted that differs from the rail's offers: another amount, asset or payee. */
function misfitOf(payment: PaymentPayload, { rail, payTo }: RoutedRail, price: bigint): string | undefined {
  const { accepted } = payment;
  if (accepted.scheme !== "exact") return "accepted.scheme is not exact, as offered";
  if (acceptedAmount(payment) !== `${price}`) return `accepted.amount is not ${price}, as offered`;
  const offered = { asset: rail.asset, payTo };
  for (const field of ["asset", "payTo"] as const) {
    const value = accepted[field];
    if (typeof value !== "string" || !rail.sameAddress(value, offered[field]))
      return `accepted.${field} is not ${offered[field]}, as offered`;
  }
  return undefined;
}

function notSold({ rail }: RoutedRail, unavailableReason: string): ServiceError {
  return new ServiceError("rail_closed", `Nothing is sold on ${rail.network} now: ${unavailableReason}.`);
}

/** Returns why nothing is sold on a rail now: a clause; undefined if it is. */
export function whyClosed({ unavailableReason, routes }: RoutedRail): string | undefined {
  const own = unavailableReason?.();
  if (own !== undefined) return own;
  return openRoutes(routes).length > 0 ? undefined : whyAllUnavailable(routes);
}
