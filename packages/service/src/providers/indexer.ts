import { z } from "zod";
import type { UpstreamNode } from "../config/config.ts";
import { HttpProvider } from "./http.ts";

const round = z.int().nonnegative();
const Health = z.looseObject({ round: round.optional() });
const Search = z.object({
  "current-round": round,
  "next-token": z.string().optional(),
  transactions: z.array(z.looseObject({ id: z.string().optional(), "confirmed-round": round.optional() })),
});

const Block = z.looseObject({});

/** A transaction in the indexer's JSON, integers lossless, its `id` unchecked. */
export type IndexedTransaction = z.infer<typeof Search>["transactions"][number];

/** Transactions per page: state proofs have some megabyte of JSON each. */
const PAGE = 4;
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/** A client of one indexer. Its methods throw like Algod's. */
export class Indexer extends HttpProvider {
  constructor({ url, token }: UpstreamNode) {
    // An indexer reads the first header; hosts with one gateway for algod and indexer read the second.
    const headers = token === undefined ? {} : { "x-indexer-api-token": token, "x-algo-api-token": token };
    super({ url, headers });
  }

  /** Returns the last round that it has; 0 if it does not say. */
  async currentRound(signal: AbortSignal): Promise<number> {
    return (await this.json({ path: "/health" }, Health, signal)).round ?? 0;
  }

  /**
   * Lists a page of the transactions in which an account takes part, newest first.
   * @param page.next where the previous page ended
   */
  async transactionsOf(
    address: string,
    { minRound, maxRound, next }: { minRound: number; maxRound: number; next: string | undefined },
    signal: AbortSignal,
  ) {
    const after = next === undefined ? "" : `&next=${encodeURIComponent(next)}`;
    const path = `/v2/accounts/${address}/transactions?min-round=${minRound}&max-round=${maxRound}&limit=${PAGE}${after}`;
    const search = await this.json({ path, maxBytes: MAX_PAGE_BYTES }, Search, signal);
    return { currentRound: search["current-round"], transactions: search.transactions, next: search["next-token"] };
  }

  /**
   * Looks up a transaction by search, because a search's answer has the indexer's latest round. The 404 of the plain
   * look-up lacks it, so that a lagging indexer would look like one without the transaction.
   */
  async transaction(txid: string, signal: AbortSignal) {
    const search = await this.json({ path: `/v2/transactions?txid=${txid}` }, Search, signal);
    return { currentRound: search["current-round"], transaction: search.transactions[0] };
  }

  /** Reads a round's header as JSON, integers lossless, unchecked; undefined when the indexer does not have it. */
  async header(round: number, signal: AbortSignal): Promise<z.infer<typeof Block> | undefined> {
    const answer = await this.find({ path: `/v2/blocks/${round}?header-only=true` }, signal);
    return answer && this.read(answer, Block);
  }
}
