import type { EnabledFacilitator, EnabledRail } from "./enabled-rail.ts";
import { type FacilitatorSupport, facilitatorSupport } from "./facilitator-support.ts";
import type { Condition } from "./facilitator-watch.ts";

/** A facilitator that a call may ask. */
export type Settler = Pick<EnabledFacilitator, "id" | "facilitator" | "isBusy"> & Pick<Condition, "unavailableReason">;

/** A facilitator of an enabled rail, with what it supports. */
export type Route = Settler & Pick<EnabledFacilitator, "url" | "degradedReason"> & { support: FacilitatorSupport };

/**
 * @param offerMs how long an offer remains valid after it was last made, in ms
 * @param now Unix ms
 */
export function routesOf(enabled: EnabledRail, offerMs: number, now: () => number): Route[] {
  return enabled.facilitators.map((own) => {
    const support = facilitatorSupport(enabled.rail, own.facilitator, offerMs, now);
    return { ...own, support, unavailableReason: () => own.unavailableReason?.() ?? support.unavailableReason() };
  });
}

/**
 * Returns the facilitators with which sales are possible, in order of preference; those that asked us to send less come
 * last.
 */
export function openRoutes<S extends Settler>(routes: readonly S[]): S[] {
  const open = routes.filter(({ unavailableReason }) => unavailableReason() === undefined);
  const isBusy = (route: S) => route.isBusy?.() === true;
  return [...open.filter((route) => !isBusy(route)), ...open.filter(isBusy)];
}

/** Returns why no facilitator can be used: a clause, which names each if there are several. */
export function whyAllUnavailable(routes: readonly Route[]): string {
  const clauses = routes.map((route) => namedClause(route, route.unavailableReason() ?? "", routes.length > 1));
  return clauses.join("; ");
}

/** @param isNamed whether the clause must say which facilitator it is about */
export function namedClause({ url }: Pick<Route, "url">, clause: string, isNamed: boolean): string {
  return isNamed ? `${new URL(url).host}: ${clause}` : clause;
}
