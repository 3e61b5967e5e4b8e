import { z } from "zod";
import type { UpstreamNode } from "../config/config.ts";
import { HttpProvider } from "./http.ts";

const round = z.int().nonnegative();
const Search = z.object({
  "current-round": round,
  transactions: z.array(z.looseObject({ id: z.string().optional(), "confirmed-round": round.optional() })),
});

const Block = z.looseObject({});

/** A transaction in the indexer's JSON, integers lossless, its `id` unchecked. */
export type IndexedTransaction = z.infer<typeof Search>["transactions"][number];

/** One indexer. Its methods throw as those of Algod do. */
export class Indexer extends HttpProvider {
  constructor({ url, token }: UpstreamNode) {
    // An indexer reads the first; hosts with one gateway for algod and indexer read the second.
    const headers = token === undefined ? {} : { "x-indexer-api-token": token, "x-algo-api-token": token };
    super({ url, headers });
  }

  /** Asks whether it answers. Its lag is judged with each look-up. */
  async health(signal: AbortSignal): Promise<void> {
    await this.json({ path: "/health" }, z.looseObject({}), signal);
  }

  /**
   * Looks up a transaction by search, because the answer has the indexer's latest round. The 404 of the plain look-up has
   * not, so that an indexer that lags would look like one without the transaction.
   */
  async transaction(
    txid: string,
    signal: AbortSignal,
  ): Promise<{ currentRound: number; transaction: IndexedTransaction | undefined }> {
    const search = await this.json({ path: `/v2/transactions?txid=${txid}` }, Search, signal);
    return { currentRound: search["current-round"], transaction: search.transactions[0] };
  }

  /** The header of a round as JSON, integers lossless, unchecked; undefined when it does not have it. */
  async header(round: number, signal: AbortSignal): Promise<z.infer<typeof Block> | undefined> {
    const answer = await this.find({ path: `/v2/blocks/${round}?header-only=true` }, signal);
    return answer && this.read(answer, Block);
  }
}
