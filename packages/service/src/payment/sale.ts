import type { ChainName } from "../chains/chain.ts";

/** The properties of a subject on which its offers depend. */
export type Sale = {
  /** The chains of its sources: only rails that pay for all of them are offered. Empty if no source is named yet. */
  chains: readonly ChainName[];
  /** The number of items of a batch, each of which adds to the price; 0 for every other subject. */
  items: number;
};

/** A sale of one subject of unknown kind. */
export const ANY_SALE: Sale = { chains: [], items: 0 };

/** Returns the sale of one subject on a chain. */
export function saleOn(chain: ChainName): Sale {
  return { chains: [chain], items: 0 };
}
