import { formatUsdc } from "@attestd/proof/rails";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ServiceError } from "../lib/errors.ts";
import type { EnabledRail } from "./enabled-rail.ts";
import { type Match, matchRoutes, type RoutedRail, whyClosed } from "./match.ts";
import { exactRequirement, type PaymentOption, paymentOption } from "./payment-option.ts";
import type { RailName } from "./rails/rail.ts";
import { Refusal } from "./refusal.ts";
import { namedClause, openRoutes, type Route, routesOf, type Settler } from "./routes.ts";
import { ANY_SALE, type Sale } from "./sale.ts";

export type OffersOptions = {
  /** In the order in which they are listed. */
  rails: readonly EnabledRail[];
  /** micro-USDC that each item of a batch adds to the price of a call. */
  itemPrice: bigint;
  maxTimeoutSeconds: number;
  /** Unix ms. */
  now: () => number;
  /** Called once for every change: with the reason when a rail is no longer offered, without one when it is again. */
  onChange?: (network: string, unavailableReason: string | undefined) => void;
  /** Called when a rail is sold with another facilitator than before. */
  onSwitch?: (network: string, facilitatorUrl: string) => void;
};

/**
 * The data about an enabled rail. As of the last check: `closed` is why it was not offered, and `seller` whose offer
 * was made.
 */
type Entry = RoutedRail & { closed: string | undefined; seller: Route | undefined };

/** Our offers: with what a call may be paid, and whether a payment fits an offer. */
export type Offers = ReturnType<typeof createOffers>;

/** The limit of remembered offers: more than the combinations of chains, with some sizes of batches. */
const MAX_CACHED = 256;

export function createOffers({ rails, itemPrice, maxTimeoutSeconds, now, onChange, onSwitch }: OffersOptions) {
  const entries: readonly Entry[] = rails.map((enabled) => ({
    ...enabled,
    routes: routesOf(enabled, maxTimeoutSeconds * 1000, now),
    closed: undefined,
    seller: undefined,
  }));
  /** Results of `for` since the offers last changed. */
  const cached = new Map<string, PaymentRequirements[]>();

  return {
    /** Every facilitator by rail, in order of preference. */
    settlers: new Map<RailName, readonly Settler[]>(entries.map(({ rail, routes }) => [rail.name, routes])),

    /**
     * Asks every facilitator what it settles, and puts its fee payer into our offers. If a facilitator does not answer,
     * its last answer counts; before its first answer nothing is sold with it.
     * @throws settlement_unsupported when no facilitator of a rail settles it; the rail is then not offered
     */
    async refresh(signal: AbortSignal): Promise<void> {
      const refreshed = entries
        .flatMap(({ routes }) => routes)
        .map(async ({ support }) => {
          if (await support.refresh(signal)) cached.clear();
        });
      await Promise.all(refreshed);
      checkObstacles();
      const unsettled = entries.find(({ routes }) => routes.every(({ support }) => support.isUnsettled()));
      if (!unsettled) return;
      const urls = unsettled.routes.map(({ url }) => url).join(", ");
      const message = `the facilitator ${urls} does not settle ${unsettled.rail.network}`;
      throw new ServiceError("settlement_unsupported", message);
    },

    /** Lists why nothing is sold on rails now, by network. */
    unavailable(): { network: string; unavailableReason: string }[] {
      checkObstacles();
      return entries.flatMap(({ rail, closed }) =>
        closed === undefined ? [] : [{ network: rail.network, unavailableReason: closed }],
      );
    },

    /** Returns why nothing can be paid to us on a rail now with any facilitator: a clause. */
    closure: (rail: RailName) => entries.find((entry) => entry.rail.name === rail)?.unavailableReason?.(),

    /** Lists what may be wrong with the offered rails and their facilitators, by network. */
    degraded(): { network: string; degradedReason: string }[] {
      const offered = entries.filter(({ closed }) => closed === undefined);
      return offered.flatMap(({ rail, routes }) =>
        routes.flatMap((route) => {
          const clause = route.unavailableReason() ?? route.degradedReason?.();
          const isNamed = routes.length > 1;
          return clause === undefined
            ? []
            : [{ network: rail.network, degradedReason: namedClause(route, clause, isNamed) }];
        }),
      );
    },

    /** Lists every rail: its terms, and why nothing is sold on it now. */
    status(): { option: PaymentOption; unavailableReason: string | undefined }[] {
      checkObstacles();
      return entries.flatMap((entry) =>
        preferredOption(entry, ANY_SALE).map((option) => ({ option, unavailableReason: entry.closed })),
      );
    },

    /** Whether any rail is offered now. */
    get isOpen(): boolean {
      checkObstacles();
      return entries.some(({ closed }) => closed === undefined);
    },

    /**
     * Returns the current offers for a sale; if it names no source, those of every rail.
     * @returns the same array until an offer changes, or many others were requested: read only
     */
    for(sale: Sale): PaymentRequirements[] {
      checkObstacles();
      const name = `${sale.items} ${sale.chains.join()}`;
      const known = cached.get(name);
      if (known) return known;
      const offers = paying(sale).flatMap((entry) => (entry.seller ? [requirementOf(entry, entry.seller, sale)] : []));
      if (cached.size >= MAX_CACHED) cached.clear();
      cached.set(name, offers);
      return offers;
    },

    /** Returns the same offers as `PaymentOption`s. */
    optionsFor(sale: Sale): PaymentOption[] {
      checkObstacles();
      return paying(sale).flatMap((entry) =>
        entry.seller ? [paymentOption(entry, entry.seller.url, priceOf(entry, sale))] : [],
      );
    },

    /** Explains the price of a batch in words; undefined for every other sale, which has a fixed price. */
    reckoning(sale: Sale): string | undefined {
      if (sale.items === 0) return undefined;
      const byWords = Map.groupBy(paying(sale), (entry) => reckoningOf(entry, sale));
      const words = [...byWords].map(([text, those]) =>
        byWords.size === 1 ? text : `on ${those.map(({ rail }) => rail.network).join(" and ")} ${text}`,
      );
      return `Price: ${words.join("; ")}.`;
    },

    /**
     * Lists every way to pay for a sale that the settings name, for documents: including those that are not available
     * now.
     */
    termsFor(sale: Sale): PaymentOption[] {
      return paying(sale).flatMap((entry) => preferredOption(entry, sale));
    },

    /** Lists the ways to pay for a sale that every document lists. */
    listedFor(sale: Sale): PaymentOption[] {
      return paying(sale)
        .filter(({ rail }) => !rail.isUnlisted)
        .flatMap((entry) => preferredOption(entry, sale));
    },

    /**
     * Finds the offer that a payment accepted.
     * @returns what does not fit, if it accepted none
     * @throws rail_closed when nothing can be sold now on its rail, or with
     *   the facilitator whose fee payer the payment accepted, or while an unknown facilitator may have that fee payer
     */
    match(payment: PaymentPayload, rail: RailName, sale: Sale): Match | Refusal {
      const { accepted } = payment;
      const entry = paying(sale).find((candidate) => candidate.rail.name === rail);
      if (!entry) return new Refusal(`a source on ${sale.chains.join(" and ")} cannot be paid on ${accepted.network}`);
      const requirement = (seller: Route) => requirementOf(entry, seller, sale);
      return matchRoutes(payment, entry, priceOf(entry, sale), requirement);
    },
  };

  function checkObstacles(): void {
    for (const entry of entries) {
      const { closed, seller, rail } = entry;
      entry.closed = whyClosed(entry);
      entry.seller = entry.closed === undefined ? openRoutes(entry.routes)[0] : undefined;
      if (seller !== entry.seller) cached.clear();
      if ((closed === undefined) !== (entry.closed === undefined)) onChange?.(rail.network, entry.closed);
      if (seller && entry.seller && seller !== entry.seller) onSwitch?.(rail.network, entry.seller.url);
    }
  }

  /** Returns the rails that may pay for every source, with the sources' own chains first. */
  function paying({ chains }: Sale): readonly Entry[] {
    if (chains.length === 0) return entries;
    const able = entries.filter(({ rail }) => chains.every((chain) => rail.paysFor(chain)));
    const isOwn = ({ rail }: Entry) => chains.includes(rail.name);
    return [...able.filter(isOwn), ...able.filter((entry) => !isOwn(entry))];
  }

  function priceOf({ price }: Entry, { items }: Sale): bigint {
    return price + BigInt(items) * itemPrice;
  }

  function reckoningOf(entry: Entry, sale: Sale): string {
    const [call, item, all] = [entry.price, itemPrice, priceOf(entry, sale)].map(formatUsdc);
    return `${call} USDC and ${sale.items} × ${item} USDC, ${all} USDC in all`;
  }

  /** Returns the option with the facilitator that the settings name first. */
  function preferredOption(entry: Entry, sale: Sale): PaymentOption[] {
    return entry.routes.slice(0, 1).map(({ url }) => paymentOption(entry, url, priceOf(entry, sale)));
  }

  function requirementOf(entry: Entry, { support }: Route, sale: Sale): PaymentRequirements {
    const { rail, payTo } = entry;
    const feePayer = support.feePayer();
    const extra = { ...rail.extra, ...(feePayer !== undefined && { feePayer }) };
    return exactRequirement(rail, { amount: priceOf(entry, sale), payTo, maxTimeoutSeconds, extra });
  }
}
