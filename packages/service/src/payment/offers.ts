import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { ChainName } from "../chains/chain.ts";
import { ServiceError } from "../errors.ts";
import type { EnabledRail } from "./enabled-rail.ts";
import { facilitatorFailed } from "./facilitator.ts";
import { type FacilitatorSupport, facilitatorSupport } from "./facilitator-support.ts";
import { acceptedAmount, type PaymentOption, paymentOption } from "./payment-option.ts";
import { paymentRefused, type RailName } from "./rails/rail.ts";

export type OffersOptions = {
  /** In the order in which they are listed. */
  rails: readonly EnabledRail[];
  maxTimeoutSeconds: number;
  /** Unix ms. */
  now: () => number;
  /** Called once for every change: with the obstacle when a rail is no longer offered, without one when it is again. */
  onChange?: (network: string, obstacle: string | undefined) => void;
};

/** What is known of an enabled rail; `closed` is why it was not offered when that was last checked. */
type Entry = EnabledRail & { support: FacilitatorSupport; option: PaymentOption; closed: string | undefined };

/** Our offers: what a call may be paid with, and whether a payment fits one. */
export type Offers = ReturnType<typeof createOffers>;

export function createOffers({ rails, maxTimeoutSeconds, now, onChange }: OffersOptions) {
  const entries: readonly Entry[] = rails.map((enabled) => ({
    ...enabled,
    support: facilitatorSupport(enabled, maxTimeoutSeconds * 1000, now),
    option: paymentOption(enabled),
    closed: undefined,
  }));
  /** The answers of `for` since the offers last changed. */
  const cached = new Map<ChainName | undefined, PaymentRequirements[]>();

  return {
    /**
     * Asks every facilitator what it settles, and puts its fee payer into our offers. If one cannot be asked, its last answer
     * counts; its rail is not offered before the first answer.
     *
     * @throws settlement_unsupported when a facilitator does not settle its rail, which is then not offered either
     */
    async refresh(signal: AbortSignal): Promise<void> {
      const refreshed = entries.map(async ({ support }) => {
        if (await support.refresh(signal)) cached.clear();
      });
      await Promise.all(refreshed);
      checkObstacles();
      const unsettled = entries.find(({ support }) => support.isUnsettled());
      if (!unsettled) return;
      const message = `the facilitator ${unsettled.facilitatorUrl} does not settle ${unsettled.rail.network}`;
      throw new ServiceError("settlement_unsupported", message);
    },

    /** Why nothing is sold on a rail now, by network. */
    obstacles(): { network: string; obstacle: string }[] {
      checkObstacles();
      return entries.flatMap(({ rail, closed }) =>
        closed === undefined ? [] : [{ network: rail.network, obstacle: closed }],
      );
    },

    /** What may be wrong with the rails that are offered, by network. */
    doubts(): { network: string; doubt: string }[] {
      return entries.flatMap(({ rail, closed, doubt }) => {
        const found = closed === undefined ? doubt?.() : undefined;
        return found === undefined ? [] : [{ network: rail.network, doubt: found }];
      });
    },

    /** Whether any rail is offered now. */
    get isOpen(): boolean {
      checkObstacles();
      return entries.some(({ closed }) => closed === undefined);
    },

    enabled(rail: RailName): EnabledRail | undefined {
      return entries.find((entry) => entry.rail.name === rail);
    },

    /**
     * The offers for a source that can be taken now; without a source, those of every rail.
     *
     * @returns the same array until an offer changes: read only
     */
    for(source: ChainName | undefined): PaymentRequirements[] {
      checkObstacles();
      const known = cached.get(source);
      if (known) return known;
      const offers = open(source).map(requirementOf);
      cached.set(source, offers);
      return offers;
    },

    /** The same offers as `PaymentOption`s. */
    optionsFor(source: ChainName | undefined): PaymentOption[] {
      checkObstacles();
      return open(source).map(({ option }) => option);
    },

    /** Every way to pay for a source that the settings name, for documents: also those that cannot be taken now. */
    termsFor(source: ChainName | undefined): PaymentOption[] {
      return paying(source).map(({ option }) => option);
    },

    /** The ways to pay that every document lists. */
    get listed(): PaymentOption[] {
      return entries.filter(({ rail }) => !rail.isUnlisted).map(({ option }) => option);
    },

    /**
     * Finds the offer that a payment accepted.
     *
     * @returns our own requirement, never the client's copy of it
     * @throws payment_refused naming what does not fit; facilitator_failed when nothing can be sold on its rail now
     */
    match(payment: PaymentPayload, rail: RailName, source: ChainName): PaymentRequirements {
      const { accepted } = payment;
      const entry = paying(source).find((candidate) => candidate.rail.name === rail);
      if (!entry) throw paymentRefused(`a source on ${source} cannot be paid on ${accepted.network}`);
      const obstacle = obstacleOf(entry);
      if (obstacle !== undefined)
        throw facilitatorFailed(`nothing is sold on ${entry.rail.network}: ${obstacle}`, "unreachable");
      const offer = requirementOf(entry);
      if (accepted.scheme !== offer.scheme) throw paymentRefused(`accepted.scheme is not ${offer.scheme}, as offered`);
      if (acceptedAmount(payment) !== offer.amount)
        throw paymentRefused(`accepted.amount is not ${offer.amount}, as offered`);
      for (const field of ["asset", "payTo"] as const) {
        const value = accepted[field];
        if (typeof value !== "string" || !entry.rail.sameAddress(value, offer[field]))
          throw paymentRefused(`accepted.${field} is not ${offer[field]}, as offered`);
      }
      const named = accepted.extra?.feePayer;
      if (named === undefined || named === offer.extra.feePayer) return offer;
      if (!entry.support.mayName(named)) throw paymentRefused("accepted.extra.feePayer was not offered");
      return { ...offer, extra: { ...offer.extra, feePayer: named } };
    },
  };

  function checkObstacles(): void {
    for (const entry of entries) {
      const was = entry.closed;
      entry.closed = obstacleOf(entry);
      if ((was === undefined) === (entry.closed === undefined)) continue;
      cached.clear();
      onChange?.(entry.rail.network, entry.closed);
    }
  }

  function open(source: ChainName | undefined): Entry[] {
    return paying(source).filter(({ closed }) => closed === undefined);
  }

  /** The rails that may pay for a source, that of the source's own chain first. */
  function paying(source: ChainName | undefined): readonly Entry[] {
    if (source === undefined) return entries;
    const able = entries.filter(({ rail }) => rail.paysFor(source));
    return [...able.filter(({ rail }) => rail.name === source), ...able.filter(({ rail }) => rail.name !== source)];
  }

  function requirementOf({ rail, payTo, price, support }: Entry): PaymentRequirements {
    const feePayer = support.feePayer();
    return {
      scheme: "exact",
      network: rail.network as PaymentRequirements["network"],
      asset: rail.asset,
      amount: price.toString(),
      payTo,
      maxTimeoutSeconds,
      extra: { ...rail.extra, ...(feePayer !== undefined && { feePayer }) },
    };
  }
}

function obstacleOf({ support, obstacle }: Entry): string | undefined {
  return support.obstacle() ?? obstacle?.();
}
