import { MIN_BATCH_ITEMS } from "@attestd/proof";
import { audit } from "../audit/audit.ts";
import type { Facts } from "../audit/facts.ts";
import type { AuditReport } from "../audit/report.ts";
import type { Config, Settings } from "../config/config.ts";
import type { JournalReader } from "../journal/reader.ts";
import { attestorNotes, ledgerNote } from "../ledger/search.ts";
import { systemClock } from "../lib/clock.ts";
import { nativeCrypto } from "../lib/crypto/crypto.ts";
import type { ChainPayment } from "../payment/rails/payment-reader.ts";
import type { RailName } from "../payment/rails/rail.ts";
import type { ChainHeights, Span } from "../providers/reading.ts";
import { createProducts } from "../subjects/products.ts";
import { type OperatorOptions, openSession, type Session } from "./session.ts";

/**
 * Compares the journal with the ledger and the rails that the settings name. Writes nothing.
 * @param settings the service's
 * @throws ServiceError; providers_unavailable when a chain cannot be read; Error when the journal cannot
 */
export async function auditJournal(settings: Settings, options: OperatorOptions): Promise<AuditReport> {
  await using session = await openSession(settings, options);
  const { config, history } = session;
  const attestors = new Set(history.keys.map(({ algorandAddress }) => algorandAddress));
  const journal = await session.reader();
  return await audit(await readFacts(session, journal, attestors), journal.calls(), {
    attestors,
    history,
    crypto: nativeCrypto,
    prices: Object.values(config.rails).flatMap(({ price }) => pricesOf(price, config.batch)),
    products: createProducts(new Map()),
    apart: journal,
    refused: journal.refused,
    now: systemClock.now(),
    copiedUntil: await journal.copiedUntil(),
  });
}

/**
 * Reads what the chains show. The spans end at the chains' current heads, which are fixed here, because `audit` reads
 * the rows last.
 */
async function readFacts(session: Session, journal: JournalReader, attestors: ReadonlySet<string>): Promise<Facts> {
  const { ledger, ledgerHeights, readers } = session.chains;
  const since = await session.since();
  const payees = Map.groupBy(await journal.payees(), ({ rail }) => rail);
  // The ledger first: a payment is older than its attestation.
  const ledgerSpan = await spanOf(ledgerHeights, since);
  const spans = new Map<RailName, Span>();
  for (const [rail, reader] of readers) spans.set(rail, await spanOf(reader, since));
  const read = [...payees.keys()].filter((rail) => spans.has(rail));

  async function* payments(): AsyncGenerator<ChainPayment> {
    for (const rail of read) {
      const addresses = (payees.get(rail) ?? []).map(({ address }) => address);
      const [reader, span] = [readers.get(rail), spans.get(rail)];
      if (reader && span) yield* reader.payments(addresses, span);
    }
  }
  return {
    ledger: ledgerSpan,
    rails: Object.fromEntries(read.map((rail) => [rail, spans.get(rail)])),
    unread: [...payees.keys()].filter((rail) => !spans.has(rail)),
    payments: payments(),
    notes: attestorNotes(ledger, attestors, ledgerSpan),
    lookAgain: {
      payments: async (rail, id, payTo) => (await readers.get(rail)?.inTransaction(id, [payTo])) ?? [],
      note: (txid) => ledgerNote(ledger, txid),
    },
  };
}

/**
 * Returns what calls may cost on a rail: a single call, and a batch of each size. @param price of a single call, in
 * micro-USDC
 */
function pricesOf(price: bigint, { itemPrice, maxItems }: Config["batch"]): bigint[] {
  const batches = Array.from({ length: maxItems - MIN_BATCH_ITEMS + 1 }, (_, i) => BigInt(MIN_BATCH_ITEMS + i));
  return [price, ...batches.map((items) => price + items * itemPrice)];
}

async function spanOf(reader: ChainHeights, since: number): Promise<Span> {
  const { latest } = await reader.heads();
  return { from: await reader.heightAt(since, latest), to: latest };
}
