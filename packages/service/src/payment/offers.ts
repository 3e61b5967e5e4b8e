import { withoutTrailing } from "@attestd/proof/trailing";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { ChainName } from "../chains/chain.ts";
import { type Facilitator, FacilitatorError, type SupportedKind } from "./facilitator.ts";
import { PaymentRefused, type Rail, type RailName } from "./rails/rail.ts";

/** Which rails may pay for a source, in the order in which they are offered. */
const RAILS_FOR: Record<ChainName, readonly RailName[]> = {
  algorand: ["algorand"],
  base: ["base", "algorand", "solana"],
};

/** The order of the interface's own table (5.3), then the rail that only the text index and a 402 list. */
const EVERY_RAIL: readonly RailName[] = ["algorand", "base", "solana"];

/** An option in the interface's own seven fields. */
export type InterfaceOption = {
  scheme: string;
  network: string;
  asset: string;
  payTo: string;
  maxAmountRequired: string;
  priceUsdc: string;
  facilitatorUrl: string;
};

/** A rail that is switched on. */
export type Tender = {
  rail: Rail;
  payTo: string;
  facilitator: Facilitator;
  facilitatorUrl: string;
  /** Why nothing can be sold on it now: a clause. */
  obstacle?: () => string | undefined;
  /** What may be wrong with it, and keeps nobody from buying: a clause. */
  doubt?: () => string | undefined;
};

/** The facilitator answers, and does not settle the rail: a setting that is wrong, or was right. */
export class NotSettled extends Error {
  constructor({ rail, facilitatorUrl }: Tender) {
    super(`the facilitator ${facilitatorUrl} does not settle ${rail.network}`);
    this.name = "NotSettled";
  }
}

/** What a facilitator has said of its rail when it was last asked with success. */
type Listing = "not heard" | "settled" | "not settled" | "no fee payer";

const LISTING_OBSTACLES = {
  "not heard": "the facilitator has not said yet what it settles",
  "not settled": "the facilitator does not settle it any more",
  "no fee payer": "the facilitator names no fee payer",
};
/** What a fee payer's address looks like, on any rail: it goes into a header. */
const FEE_PAYER = /^[\x21-\x7e]{1,64}$/;

export type OffersOptions = {
  tenders: readonly Tender[];
  /** micro-USDC, which all three tokens count in (6 decimals). */
  price: bigint;
  maxTimeoutSeconds: number;
  now: () => number;
  /** Hears of a change, once: what is offered no more, and why, or again. */
  onChange?: (network: string, obstacle: string | undefined) => void;
};

/** Our offers: what a call may be paid with, and whether a payment fits one. */
export class Offers {
  readonly #options: OffersOptions;
  readonly #tenders: ReadonlyMap<RailName, Tender>;
  readonly #interfaceOptions: ReadonlyMap<Tender, InterfaceOption>;
  /** Fee payers by rail, newest first, with the time until which a payment may name them. */
  readonly #feePayers = new Map<RailName, { address: string; until: number }[]>();
  readonly #listings = new Map<Tender, Listing>();
  /** Why a rail was not offered when that was last looked at. */
  readonly #closed = new Map<Tender, string>();
  /** What `for` has given since the offers last changed. */
  readonly #listed = new Map<ChainName | undefined, PaymentRequirements[]>();

  constructor(options: OffersOptions) {
    this.#options = options;
    this.#tenders = new Map(options.tenders.map((tender) => [tender.rail.name, tender]));
    this.#interfaceOptions = new Map(options.tenders.map((tender) => [tender, interfaceOption(tender, options.price)]));
  }

  /**
   * Asks every facilitator what it settles, and takes its fee payer into our offers. One that cannot be asked leaves what it
   * said before; until it has said anything its rail is not offered.
   *
   * @throws NotSettled when one does not settle its rail: it is not offered either
   */
  async refresh(signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#tenders.values()].map(async (tender) => {
        const kinds = await tender.facilitator.supported(signal).catch(notHeard);
        if (kinds) this.#listings.set(tender, this.#readListing(tender, kinds));
      }),
    );
    this.#lookForObstacles();
    const unsettled = [...this.#listings].find(([, listing]) => listing === "not settled");
    if (unsettled) throw new NotSettled(unsettled[0]);
  }

  #readListing({ rail }: Tender, kinds: readonly SupportedKind[]): Listing {
    const kind = kinds.find(({ network }) => rail.isNetwork(network));
    if (!kind) return "not settled";
    const { feePayer } = kind.extra;
    const isNamed = typeof feePayer === "string" && FEE_PAYER.test(feePayer);
    if (isNamed) this.#rememberFeePayer(rail.name, feePayer);
    return rail.needsFeePayer && !isNamed ? "no fee payer" : "settled";
  }

  /** Why nothing is sold on a rail now, by the network's name, in the order in which they are told of. */
  obstacles(): { network: string; obstacle: string }[] {
    this.#lookForObstacles();
    return [...this.#closed].map(([{ rail }, obstacle]) => ({ network: rail.network, obstacle }));
  }

  /** What may be wrong with the rails that are offered. */
  doubts(): { network: string; doubt: string }[] {
    return [...this.#tenders.values()].flatMap((tender) => {
      const doubt = this.#closed.has(tender) ? undefined : tender.doubt?.();
      return doubt === undefined ? [] : [{ network: tender.rail.network, doubt }];
    });
  }

  /** Whether anything at all is offered now. */
  get isOpen(): boolean {
    return this.obstacles().length < this.#tenders.size;
  }

  #lookForObstacles(): void {
    for (const tender of this.#tenders.values()) {
      const obstacle = this.#obstacle(tender);
      const was = this.#closed.get(tender);
      if (obstacle === undefined) this.#closed.delete(tender);
      else this.#closed.set(tender, obstacle);
      if ((was === undefined) === (obstacle === undefined)) continue;
      this.#listed.clear();
      this.#options.onChange?.(tender.rail.network, obstacle);
    }
  }

  #obstacle(tender: Tender): string | undefined {
    const listing = this.#listings.get(tender) ?? "not heard";
    return listing === "settled" ? tender.obstacle?.() : LISTING_OBSTACLES[listing];
  }

  /** An offer stays good for `maxTimeoutSeconds` after it was last made, its fee payer included. */
  #rememberFeePayer(rail: RailName, address: string): void {
    const now = this.#options.now();
    const [current, ...older] = this.#feePayers.get(rail) ?? [];
    if (current?.address === address) return;
    const until = now + this.#options.maxTimeoutSeconds * 1000;
    const retired = current ? [{ ...current, until }] : [];
    const kept = [...retired, ...older].filter((payer) => payer.until > now && payer.address !== address);
    this.#feePayers.set(rail, [{ address, until: Number.POSITIVE_INFINITY }, ...kept]);
    this.#listed.clear();
  }

  tender(rail: RailName): Tender | undefined {
    return this.#tenders.get(rail);
  }

  /**
   * The offers for a source, or every one when no source is named: of the rails on which something can be sold now.
   *
   * @returns the same array until an offer changes: to be read only
   */
  for(chain: ChainName | undefined): PaymentRequirements[] {
    this.#lookForObstacles();
    const known = this.#listed.get(chain);
    if (known) return known;
    const open = this.#tendersFor(chain).filter((tender) => !this.#closed.has(tender));
    const listed = open.map((tender) => this.#requirement(tender));
    this.#listed.set(chain, listed);
    return listed;
  }

  /** The same offers in the interface's fields. */
  optionsFor(chain: ChainName | undefined): InterfaceOption[] {
    this.#lookForObstacles();
    return this.termsFor(chain, (tender) => !this.#closed.has(tender));
  }

  /** Every way to pay that the settings name, whether anything can be sold on it now or not: for documents. */
  termsFor(chain: ChainName | undefined, isListed: (tender: Tender) => boolean = () => true): InterfaceOption[] {
    const tenders = this.#tendersFor(chain).filter(isListed);
    return tenders.flatMap((tender) => this.#interfaceOptions.get(tender) ?? []);
  }

  /**
   * Finds the offer that a payment accepted.
   *
   * @returns our own requirement, never the client's copy of it
   * @throws PaymentRefused saying what does not fit; FacilitatorError when its rail is offered, and nothing can be sold on it
   *   now
   */
  match(payment: PaymentPayload, rail: RailName, chain: ChainName): PaymentRequirements {
    const { accepted } = payment;
    const tender = this.#tendersFor(chain).find((candidate) => candidate.rail.name === rail);
    if (!tender) throw new PaymentRefused(`a source on ${chain} cannot be paid on ${accepted.network}`);
    const obstacle = this.#obstacle(tender);
    if (obstacle !== undefined)
      throw new FacilitatorError(`nothing is sold on ${tender.rail.network}: ${obstacle}`, "unreachable");
    const offer = this.#requirement(tender);
    if (accepted.scheme !== offer.scheme)
      throw new PaymentRefused(`accepted.scheme is not ${offer.scheme}, as offered`);
    if (acceptedAmount(payment) !== offer.amount)
      throw new PaymentRefused(`accepted.amount is not ${offer.amount}, as offered`);
    for (const field of ["asset", "payTo"] as const) {
      const value = accepted[field];
      if (typeof value !== "string" || !tender.rail.sameAddress(value, offer[field]))
        throw new PaymentRefused(`accepted.${field} is not ${offer[field]}, as offered`);
    }
    const named = accepted.extra?.feePayer;
    if (named === undefined || named === offer.extra.feePayer) return offer;
    const now = this.#options.now();
    const known = this.#feePayers.get(rail)?.some(({ address, until }) => address === named && until > now);
    if (!known) throw new PaymentRefused("accepted.extra.feePayer was not offered");
    return { ...offer, extra: { ...offer.extra, feePayer: named } };
  }

  #tendersFor(chain: ChainName | undefined): Tender[] {
    const rails = chain ? RAILS_FOR[chain] : EVERY_RAIL;
    return rails.flatMap((name) => this.#tenders.get(name) ?? []);
  }

  #requirement({ rail, payTo }: Tender): PaymentRequirements {
    const feePayer = this.#feePayers.get(rail.name)?.[0]?.address;
    return {
      scheme: "exact",
      network: rail.network as PaymentRequirements["network"],
      asset: rail.asset,
      amount: this.#options.price.toString(),
      payTo,
      maxTimeoutSeconds: this.#options.maxTimeoutSeconds,
      extra: { ...rail.extra, ...(feePayer !== undefined && { feePayer }) },
    };
  }
}

/** @throws whatever is not the facilitator's doing */
function notHeard(error: unknown): undefined {
  if (!(error instanceof FacilitatorError)) throw error;
}

/** The amount that a payment states, under x402's name or the interface's own. @returns any JSON value */
export function acceptedAmount({ accepted }: PaymentPayload): unknown {
  const { amount, maxAmountRequired } = accepted as { amount?: unknown; maxAmountRequired?: unknown };
  return amount ?? maxAmountRequired;
}

function interfaceOption({ rail, payTo, facilitatorUrl }: Tender, price: bigint): InterfaceOption {
  return {
    scheme: "exact",
    network: rail.name === "algorand" ? "algorand-mainnet" : rail.network,
    asset: rail.asset,
    payTo,
    maxAmountRequired: price.toString(),
    priceUsdc: usdc(price),
    facilitatorUrl,
  };
}

/** A price as people write it: 1000 micro-USDC are "0.001". */
export function usdc(micro: bigint): string {
  const whole = micro / 1_000_000n;
  const fraction = withoutTrailing((micro % 1_000_000n).toString().padStart(6, "0"), "0");
  return fraction ? `${whole}.${fraction}` : whole.toString();
}
