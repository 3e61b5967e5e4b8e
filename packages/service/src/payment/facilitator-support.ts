import { hasCode } from "../errors.ts";
import type { EnabledRail } from "./enabled-rail.ts";

/** A facilitator's last answer about its rail. */
type Support = "unknown" | "settled" | "not settled" | "no fee payer";

const OBSTACLES = {
  unknown: "the facilitator has not said yet what it settles",
  "not settled": "the facilitator does not settle it any more",
  "no fee payer": "the facilitator names no fee payer",
};
/** The form of a fee payer's address on any rail: it goes into a header. */
const FEE_PAYER = /^[\x21-\x7e]{1,64}$/;

/** What one rail's facilitator supports, and the fee payers that it has named. */
export class FacilitatorSupport {
  readonly #enabled: EnabledRail;
  readonly #offerMs: number;
  readonly #now: () => number;
  #support: Support = "unknown";
  /** Newest first, with the time (Unix ms) until which a payment may name them. */
  #feePayers: { address: string; until: number }[] = [];

  /**
   * @param offerMs how long an offer stays good after it was last made, its fee payer included
   * @param now Unix ms
   */
  constructor(enabled: EnabledRail, offerMs: number, now: () => number) {
    this.#enabled = enabled;
    this.#offerMs = offerMs;
    this.#now = now;
  }

  /** Why nothing can be sold on the rail: a clause. */
  get obstacle(): string | undefined {
    return this.#support === "settled" ? undefined : OBSTACLES[this.#support];
  }

  get isUnsettled(): boolean {
    return this.#support === "not settled";
  }

  /** The fee payer that new offers name. */
  get feePayer(): string | undefined {
    return this.#feePayers[0]?.address;
  }

  /** Whether a payment may name the fee payer now. */
  mayName(address: unknown): boolean {
    return this.#feePayers.some((payer) => payer.address === address && payer.until > this.#now());
  }

  /** Asks the facilitator. If it cannot be asked, its last answer stands. @returns whether the fee payer has changed */
  async refresh(signal: AbortSignal): Promise<boolean> {
    const { rail, facilitator } = this.#enabled;
    const kinds = await facilitator.supported(signal).catch(unlessUnavailable);
    if (!kinds) return false;
    const kind = kinds.find(({ network }) => rail.isNetwork(network));
    const feePayer = kind?.extra.feePayer;
    const isNamed = typeof feePayer === "string" && FEE_PAYER.test(feePayer);
    if (!kind) this.#support = "not settled";
    else this.#support = rail.needsFeePayer && !isNamed ? "no fee payer" : "settled";
    if (!isNamed || feePayer === this.feePayer) return false;
    const now = this.#now();
    const [current, ...older] = this.#feePayers;
    const retired = current ? [{ ...current, until: now + this.#offerMs }] : [];
    const kept = [...retired, ...older].filter((payer) => payer.until > now && payer.address !== feePayer);
    this.#feePayers = [{ address: feePayer, until: Number.POSITIVE_INFINITY }, ...kept];
    return true;
  }
}

/** @throws every other error */
function unlessUnavailable(error: unknown): undefined {
  if (!hasCode(error, "facilitator_failed")) throw error;
}
