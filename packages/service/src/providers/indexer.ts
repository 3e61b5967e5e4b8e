import { z } from "zod";
import type { Endpoint } from "../config/config.ts";
import { HttpProvider } from "./http.ts";

const round = z.int().nonnegative();
const Search = z.object({
  "current-round": round,
  transactions: z.array(z.looseObject({ id: z.string().optional(), "confirmed-round": round.optional() })),
});

/** A transaction in the indexer's JSON, integers lossless. Its `id` is the provider's word. */
export type IndexedTransaction = z.infer<typeof Search>["transactions"][number];

/** One indexer. Its methods throw as those of Algod do. */
export class Indexer {
  readonly name: string;
  readonly #http: HttpProvider;

  constructor({ url, token }: Endpoint) {
    // An indexer reads the one, hosts that put algod and indexer behind one gate read the other.
    const headers = token === undefined ? {} : { "x-indexer-api-token": token, "x-algo-api-token": token };
    this.#http = new HttpProvider({ url, headers });
    this.name = this.#http.name;
  }

  /**
   * Looks a transaction up by the search, which says up to which round the indexer knows: the plain look-up's 404 does
   * not, and an indexer that lags would look like one that knows of no such transaction.
   */
  async transaction(
    txid: string,
    signal: AbortSignal,
  ): Promise<{ currentRound: number; transaction: IndexedTransaction | undefined }> {
    const search = await this.#http.json({ path: `/v2/transactions?txid=${txid}` }, Search, signal);
    return { currentRound: search["current-round"], transaction: search.transactions[0] };
  }
}
