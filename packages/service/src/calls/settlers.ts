import type { RailFacts } from "../payment/rails/rail.ts";
import { openRoutes, type Settler } from "../payment/routes.ts";
import type { Call } from "./call.ts";

/**
 * Chooses the facilitator that is asked to settle a call's payment next.
 *
 * A payment is bound to the facilitator that its row names: the payer signed for that one's fee payer, and another one could
 * only settle a second payment. So while it is away, the call waits for it, or for the payment to expire. Where any may
 * settle it (`isForAnyFacilitator`), the row's comes first: it may be the one that already has.
 *
 * @param settlers of the call's rail, in order of preference
 * @param hasFailed whether the row's facilitator was asked and did not settle
 * @returns undefined when the settings name none that may settle it
 */
export function nextSettler(
  call: Call,
  { isForAnyFacilitator }: Pick<RailFacts, "isForAnyFacilitator">,
  settlers: readonly Settler[],
  hasFailed: boolean,
): Settler | undefined {
  const own = settlers.find(({ id }) => id === call.facilitator);
  if (!isForAnyFacilitator || call.requirement.extra.feePayer !== undefined) return own;
  if (own && !hasFailed && own.unavailableReason() === undefined) return own;
  // After the row's own, so that each is asked in turn.
  const place = own ? settlers.indexOf(own) + 1 : 0;
  const others = [...settlers.slice(place), ...settlers.slice(0, place)].filter((settler) => settler !== own);
  return openRoutes(others)[0] ?? own ?? settlers[0];
}
