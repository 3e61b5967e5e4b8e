import { hasCode, ignoring } from "../lib/errors.ts";
import type { Facilitator } from "./facilitator.ts";
import { kindOn } from "./listed-network.ts";
import type { OfferedRail } from "./rails/rail.ts";

/** A facilitator's last answer about its rail. */
type Support = "unknown" | "settled" | "not settled" | "no fee payer";

const REASONS = {
  unknown: "the facilitator has not yet listed what it settles",
  "not settled": "the facilitator does not settle it any more",
  "no fee payer": "the facilitator names no fee payer",
};
/** The form of a fee payer's address on any rail, because it goes into a header. */
const FEE_PAYER = /^[\x21-\x7e]{1,64}$/;

/** What a facilitator supports on a rail, and the fee payers that it has named. */
export type FacilitatorSupport = ReturnType<typeof facilitatorSupport>;

/**
 * @param offerMs how long an offer remains valid after it was last made, including its fee payer, in ms
 * @param now Unix ms
 */
export function facilitatorSupport(rail: OfferedRail, facilitator: Facilitator, offerMs: number, now: () => number) {
  let support: Support = "unknown";
  /** Newest first, with the time (Unix ms) until which a payment may name them. */
  let feePayers: { address: string; until: number }[] = [];

  return {
    /** Returns why nothing can be sold on the rail: a clause; undefined if it can. */
    unavailableReason: () => (support === "settled" ? undefined : REASONS[support]),

    /** Whether the facilitator has not answered yet, so that its fee payers are unknown. */
    isUnknown: () => support === "unknown",

    isUnsettled: () => support === "not settled",

    /** The fee payer that new offers name. */
    feePayer: () => feePayers[0]?.address,

    /** Whether a payment may name the fee payer now. */
    mayName: (address: unknown) => feePayers.some((payer) => payer.address === address && payer.until > now()),

    /**
     * Asks the facilitator. If it does not answer, its last answer counts. @returns whether the fee payer has changed
     */
    async refresh(signal: AbortSignal): Promise<boolean> {
      const kinds = await facilitator.supported(signal).catch(unlessUnavailable);
      if (!kinds) return false;
      const kind = kindOn(rail, kinds);
      const feePayer = kind?.extra.feePayer;
      const isNamed = typeof feePayer === "string" && FEE_PAYER.test(feePayer);
      if (!kind) support = "not settled";
      else support = rail.needsFeePayer && !isNamed ? "no fee payer" : "settled";
      const [current, ...older] = feePayers;
      if (!isNamed || feePayer === current?.address) return false;
      const retired = current ? [{ ...current, until: now() + offerMs }] : [];
      const kept = [...retired, ...older].filter((payer) => payer.until > now() && payer.address !== feePayer);
      feePayers = [{ address: feePayer, until: Number.POSITIVE_INFINITY }, ...kept];
      return true;
    },
  };
}

const unlessUnavailable = ignoring((error) => hasCode(error, "facilitator_failed"));
