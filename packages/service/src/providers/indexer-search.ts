import { toBase64, utf8 } from "@attestd/proof/encoding";
import { z } from "zod";
import { Indexer } from "./indexer.ts";
import { unavailable } from "./provider.ts";
import type { Span } from "./reading.ts";

const round = z.int().nonnegative();
const Transfer = z.looseObject({
  "asset-id": z.union([z.int(), z.bigint()]),
  receiver: z.string(),
  "close-to": z.string().optional(),
});
/** What a transaction and its inner transactions transfer. */
const Effects = z.looseObject({
  "asset-transfer-transaction": Transfer.optional(),
  get "inner-txns"() {
    return z.array(Effects).optional();
  },
});
const Found = Effects.extend({
  id: z.string(),
  sender: z.string(),
  "confirmed-round": round,
  note: z.base64().optional(),
  signature: z.looseObject({ sig: z.base64().optional() }).optional(),
  /** The account that authorises, if it is not the sender. */
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

/** The criteria of a search for transactions. */
export type Wanted = {
  address: string;
  /** Transfers of an asset to the address, including inner ones; by default everything that names the address. */
  receivesAsset?: string;
  /** Only what the address itself sent, with notes that begin like this; by default any sender and any note or none. */
  sentWithNote?: string;
};

/** Transactions per answer: an indexer's default. */
const LIMIT = 1_000;

/** Lists an account's transactions with one indexer. Its methods throw ProviderError. */
export class IndexerSearch extends Indexer {
  /**
   * Whether it searches by note and sender. With default settings it refuses (indexer, `api/disabled_parameters.go`).
   */
  #searchesNotes = true;

  /** Returns the last round that it has indexed. */
  async latest(signal: AbortSignal): Promise<number> {
    return (await this.json({ path: "/health" }, Health, signal)).round;
  }

  /** Returns a round's time in Unix s; undefined when the indexer lacks the round. */
  async timeOf(round: number, signal: AbortSignal): Promise<number | undefined> {
    const answer = await this.find({ path: `/v2/blocks/${round}?header-only=true` }, signal);
    return answer && this.read(answer, Header).timestamp;
  }

  /**
   * Lists all matching transactions within the rounds, reading at most `most`. It filters every answer, because an
   * indexer may refuse or ignore a filter.
   * @throws ProviderError also when there are more, or when it has not indexed all of the rounds yet
   */
  async list(wanted: Wanted, span: Span, most: number, signal: AbortSignal): Promise<FoundTransaction[]> {
    const { address, sentWithNote } = wanted;
    const query = new URLSearchParams({
      address,
      "min-round": String(span.from),
      "max-round": String(span.to),
      limit: String(LIMIT),
    });
    if (sentWithNote !== undefined && this.#searchesNotes) {
      query.set("note-prefix", toBase64(utf8(sentWithNote)));
      // Anyone may send such notes to the address.
      query.set("address-role", "sender");
    }
    const found = new Map<string, FoundTransaction>();
    let listed = 0;
    for (;;) {
      const answer = await this.request({ path: `/v2/transactions?${query}` }, signal);
      if (answer.status === 400 && query.has("note-prefix")) {
        this.#searchesNotes = false;
        return await this.list(wanted, span, most, signal);
      }
      if (answer.status !== 200) throw this.unexpected(answer);
      const page = this.read(answer, Page);
      if (page["current-round"] < span.to) throw unavailable(`${this.name} has not indexed round ${span.to} yet`);
      for (const transaction of page.transactions) {
        const at = transaction["confirmed-round"];
        if (at < span.from || at > span.to)
          throw unavailable(`${this.name} lists round ${at}, which was not asked for`);
        if (isWanted(transaction, wanted)) found.set(transaction.id, transaction);
      }
      listed += page.transactions.length;
      if (listed > most) throw unavailable(`${this.name} lists more than ${most} transactions of ${address}`);
      const next = page["next-token"];
      // An indexer may return fewer at a time than requested.
      if (next === undefined || page.transactions.length === 0) return [...found.values()];
      query.set("next", next);
    }
  }
}

function isWanted(transaction: FoundTransaction, { address, receivesAsset, sentWithNote }: Wanted): boolean {
  const isSent =
    sentWithNote === undefined ||
    (transaction.sender === address && Buffer.from(transaction.note ?? "", "base64").indexOf(sentWithNote) === 0);
  return isSent && (receivesAsset === undefined || receives(transaction, address, receivesAsset));
}

/** Whether a transaction, or an inner one at any depth, transfers the asset to the address. */
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
