import { z } from "zod";
import { Indexer } from "../providers/indexer.ts";
import { unavailable } from "../providers/provider.ts";
import type { Span } from "./facts.ts";

const round = z.int().nonnegative();
const Transfer = z.looseObject({
  "asset-id": z.union([z.int(), z.bigint()]),
  receiver: z.string(),
  "close-to": z.string().optional(),
});
/** What a transaction and those that it made transfer. */
const Effects = z.looseObject({
  "asset-transfer-transaction": Transfer.optional(),
  get "inner-txns"() {
    return z.array(Effects).optional();
  },
});
const Found = Effects.extend({
  id: z.string(),
  "confirmed-round": round,
  signature: z.looseObject({ sig: z.base64().optional() }).optional(),
  /** Of an account that another authorises for. */
  "auth-addr": z.string().optional(),
});
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
  /** Transfers of an asset that the address receives, also by inner ones; absent: whatever names the address. */
  receivesAsset?: string;
};

/** Transactions in one answer: what an indexer gives by default. */
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
   * Lists what is wanted within the rounds, whole, out of at most `most` transactions that name the address. Filters here:
   * an indexer with its default settings refuses all other filters (indexer, `api/disabled_parameters.go`).
   *
   * @throws ProviderError also when there are more, or when it has not indexed all of the rounds yet
   */
  async list({ address, receivesAsset }: Wanted, span: Span, most: number, signal: AbortSignal) {
    const query = new URLSearchParams({
      address,
      "min-round": String(span.from),
      "max-round": String(span.to),
      limit: String(LIMIT),
    });
    const found = new Map<string, FoundTransaction>();
    let listed = 0;
    for (;;) {
      const page = await this.json({ path: `/v2/transactions?${query}` }, Page, signal);
      if (page["current-round"] < span.to) throw unavailable(`${this.name} has not indexed round ${span.to} yet`);
      for (const transaction of page.transactions) {
        const at = transaction["confirmed-round"];
        if (at < span.from || at > span.to)
          throw unavailable(`${this.name} lists round ${at}, which was not asked for`);
        if (receivesAsset === undefined || receives(transaction, address, receivesAsset))
          found.set(transaction.id, transaction);
      }
      listed += page.transactions.length;
      if (listed > most) throw unavailable(`${this.name} lists more than ${most} transactions of ${address}`);
      const next = page["next-token"];
      // An indexer may give fewer at a time than it was asked for.
      if (next === undefined || page.transactions.length === 0) return [...found.values()];
      query.set("next", next);
    }
  }
}

/** Whether a transaction, or one that it made at any depth, transfers the asset to the address. */
function receives(
  { "inner-txns": inner = [], ...own }: z.infer<typeof Effects>,
  address: string,
  asset: string,
): boolean {
  const { "asset-transfer-transaction": transfer } = own;
  const isReceived =
    transfer !== undefined &&
    String(transfer["asset-id"]) === asset &&
    (transfer.receiver === address || transfer["close-to"] === address);
  return isReceived || inner.some((one) => receives(one, address, asset));
}
