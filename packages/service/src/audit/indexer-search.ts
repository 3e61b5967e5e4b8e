import { z } from "zod";
import { Indexer } from "../providers/indexer.ts";
import { unavailable } from "../providers/provider.ts";
import type { Span } from "./facts.ts";

const round = z.int().nonnegative();
const Found = z.looseObject({ id: z.string(), "confirmed-round": round });
const Page = z.object({
  "current-round": round,
  "next-token": z.string().optional(),
  transactions: z.array(Found),
});
const Header = z.object({ timestamp: z.int().nonnegative() });
const Health = z.object({ round });

/** A transaction as the indexer states it. */
export type FoundTransaction = z.infer<typeof Found>;

/** What transactions are searched for. */
export type Wanted = {
  address: string;
  /** Transfers of an asset that the address receives; absent: whatever names the address. */
  receivesAsset?: string;
};

/** Transactions in one answer: what every indexer gives at least. */
const LIMIT = 1_000;

/** Lists an account's transactions by one indexer. Its methods throw ProviderError. */
export class IndexerSearch extends Indexer {
  /** The last round that it has indexed. */
  async latest(signal: AbortSignal): Promise<number> {
    return (await this.json({ path: "/health" }, Health, signal)).round;
  }

  /** Unix s of a round; undefined when it does not have it. */
  async timeOf(round: number, signal: AbortSignal): Promise<number | undefined> {
    const answer = await this.find({ path: `/v2/blocks/${round}?header-only=true` }, signal);
    return answer && this.read(answer, Header).timestamp;
  }

  /**
   * Lists what is wanted within the rounds, whole; at most `most` transactions.
   *
   * @throws ProviderError also when there are more, or when it has not indexed all of the rounds yet
   */
  async list({ address, receivesAsset }: Wanted, span: Span, most: number, signal: AbortSignal) {
    const query = new URLSearchParams({
      address,
      "min-round": String(span.from),
      "max-round": String(span.to),
      limit: String(LIMIT),
      ...(receivesAsset && { "address-role": "receiver", "tx-type": "axfer", "asset-id": receivesAsset }),
    });
    const found = new Map<string, FoundTransaction>();
    for (;;) {
      const page = await this.json({ path: `/v2/transactions?${query}` }, Page, signal);
      if (page["current-round"] < span.to) throw unavailable(`${this.name} has not indexed round ${span.to} yet`);
      for (const transaction of page.transactions) {
        const at = transaction["confirmed-round"];
        if (at < span.from || at > span.to)
          throw unavailable(`${this.name} lists round ${at}, which was not asked for`);
        found.set(transaction.id, transaction);
      }
      if (found.size > most) throw unavailable(`${this.name} lists more than ${most} transactions of ${address}`);
      const next = page["next-token"];
      if (next === undefined || page.transactions.length < LIMIT) return [...found.values()];
      query.set("next", next);
    }
  }
}
