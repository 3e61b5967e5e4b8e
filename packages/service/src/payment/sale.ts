import type { ChainName } from "../chains/chain.ts";

/** What the offers for a subject depend on. */
export type Sale = {
  /** The chains of its sources: a rail is offered that pays for each of them. None where no source is named yet. */
  chains: readonly ChainName[];
  /** Items of a batch, each of which has a price of its own; 0 for every other subject. */
  items: number;
};

/** The sale of which no more is known than that it is one subject. */
export const ANY_SALE: Sale = { chains: [], items: 0 };

/** The sale of one subject of a chain. */
export function saleOn(chain: ChainName): Sale {
  return { chains: [chain], items: 0 };
}
