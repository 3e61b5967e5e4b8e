import { hash } from "node:crypto";
import {
  decodeMsgpackMap,
  encodeAddress,
  encodeMsgpack,
  equalBytes,
  fromBase64,
  fromUtf8,
  getBytes,
  getInteger,
  getString,
  type MsgpackMap,
  structMap,
  toBase64Url,
} from "@attestd/proof";
import { rebuildTransaction } from "../chains/algorand/rebuild.ts";
import { type SourceChain, SourceError, type SourceTransaction } from "../chains/chain.ts";
import type { Attempt } from "../ledger/ledger.ts";
import { ALGORAND_USDC } from "../payment/rails/algorand/facts.ts";
import { unavailable } from "../providers/provider.ts";
import { agree, failover, type QuorumRules } from "../providers/quorum.ts";
import type { ChainPayment, LedgerNote, Span } from "./facts.ts";
import type { FoundTransaction, IndexerSearch, Wanted } from "./indexer-search.ts";
import { type Ask, fewAtOnce, firstAt, inPieces, type PaymentReader } from "./reading.ts";

export type AlgorandReading = {
  indexers: readonly IndexerSearch[];
  rules: QuorumRules;
  /** Base64, 32 bytes. */
  genesisHash: string;
  /** Gives the bytes of a transaction to which the indexer's JSON does not lead. */
  source: Pick<SourceChain, "transaction">;
  ask: Ask;
};

/** A transaction whose content was recomputed to its id; that it is in its round is the indexers' word, k of n. */
type Found = { id: string; round: number; transaction: MsgpackMap; signature: unknown };

/** Transactions in one piece of a span, but for a piece of one round. */
const MOST_IN_A_PIECE = 1_000;

/** Reads payments on the Algorand rail. */
export function algorandReader(reading: AlgorandReading): PaymentReader {
  const { indexers, rules, ask, source } = reading;
  const ledger = `algorand:${toBase64Url(fromBase64(reading.genesisHash))}`;
  return {
    rail: "algorand",

    async heads() {
      const question = (signal: AbortSignal) => ({ about: "the latest round", same: () => "", signal });
      const rounds = await ask((signal) =>
        agree(indexers, (indexer, ends) => indexer.latest(ends), question(signal), rules),
      );
      const latest = Math.min(...rounds);
      return { latest, final: latest };
    },

    heightAt: (time, latest) => firstAt(time, latest, (round) => timeOfRound(reading, round)),

    async *payments(addresses, span) {
      for (const address of addresses) {
        for await (const found of search(reading, { address, receivesAsset: ALGORAND_USDC }, span)) {
          const payment = toPayment(found, address, ledger);
          if (payment) yield payment;
        }
      }
    },

    async inTransaction(id, addresses) {
      const read = await ask((signal) => source.transaction(id, signal)).catch(unlessUnknown);
      if (!read) return [];
      const found = { id, round: read.height, transaction: decodeMsgpackMap(read.bytes) };
      const payments = addresses.map((address) => toPayment(found, address, ledger));
      return payments.filter((payment) => payment?.amount !== undefined) as ChainPayment[];
    },
  };
}

/** Unix s of a round, by the word of one indexer; undefined when it does not go back to it. */
export function timeOfRound({ indexers, ask }: AlgorandReading, round: number): Promise<number | undefined> {
  const about = `the time of round ${round}`;
  return ask((signal) => failover(indexers, (indexer, ends) => indexer.timeOf(round, ends), { about, signal }));
}

/** Every transaction within the span that names the attestor's account, ours or a stranger's, in no order. */
export async function* attestorNotes(
  reading: AlgorandReading,
  attestor: string,
  span: Span,
): AsyncGenerator<LedgerNote & { attempt?: Attempt }> {
  for await (const found of search(reading, { address: attestor }, span)) {
    const attempt = attemptOf(found);
    yield { ...toNote(found), ...(attempt && { attempt }) };
  }
}

/** One transaction of the ledger, by its block; undefined when there is none. */
export async function ledgerNote({ source, ask }: AlgorandReading, txid: string): Promise<LedgerNote | undefined> {
  const read = await ask((signal) => source.transaction(txid, signal)).catch(unlessUnknown);
  return read && toNote({ id: txid, round: read.height, transaction: decodeMsgpackMap(read.bytes) });
}

function toNote({ id, round, transaction }: Omit<Found, "signature">): LedgerNote {
  const note = textOf(getBytes(transaction, "note"));
  return {
    txid: id,
    round,
    sender: addressIn(transaction, "snd"),
    ...(note !== undefined && { note }),
    movesNothing:
      getString(transaction, "type") === "pay" && !["amt", "close", "rekey"].some((member) => transaction.has(member)),
  };
}

async function* search(reading: AlgorandReading, wanted: Wanted, span: Span): AsyncGenerator<Found> {
  const { indexers, rules, ask } = reading;
  const most = Math.max(1, span.to - span.from + 1);
  const pieces = inPieces(span, { most, least: 1 }, ask, async (piece, isLeast, signal) => {
    const about = `the transactions of ${wanted.address} in rounds ${piece.from} to ${piece.to}`;
    const bound = isLeast ? Number.POSITIVE_INFINITY : MOST_IN_A_PIECE;
    const list = (indexer: IndexerSearch, ends: AbortSignal) => indexer.list(wanted, piece, bound, ends);
    const [listed] = await agree(indexers, list, { about, same: idsOf, signal }, rules);
    return listed;
  });
  for await (const listed of pieces) {
    for (const found of await fewAtOnce(listed, (record) => recompute(reading, record))) if (found) yield found;
  }
}

function idsOf(listed: readonly FoundTransaction[]): string {
  const ids = listed.map(({ id, "confirmed-round": round }) => `${id} ${round}`);
  return hash("sha256", ids.toSorted().join());
}

/** @returns undefined for a transaction of another network, which an indexer may hold beside ours (recordings) */
async function recompute(
  { source, genesisHash, ask }: AlgorandReading,
  record: FoundTransaction,
): Promise<Found | undefined> {
  const { id, "confirmed-round": round } = record;
  const rebuilt = rebuildTransaction(id, record);
  const bytes = rebuilt ?? (await ask((signal) => source.transaction(id, signal)).catch(unlessUnknown))?.bytes;
  if (!bytes) throw unavailable(`no node has transaction ${id}, which an indexer lists`);
  const transaction = decodeMsgpackMap(bytes);
  const genesis = getBytes(transaction, "gh", 32);
  if (!genesis || !equalBytes(genesis, fromBase64(genesisHash))) return undefined;
  return { id, round, transaction, signature: record.signature };
}

function unlessUnknown(error: unknown): SourceTransaction | undefined {
  if (error instanceof SourceError && error.code !== "source_unreadable") return undefined;
  throw error instanceof SourceError ? unavailable(error.message, error) : error;
}

/** @returns undefined when it moves no USDC to the address */
function toPayment(
  { id, round, transaction }: Omit<Found, "signature">,
  address: string,
  ledger: string,
): ChainPayment | undefined {
  const payer = addressIn(transaction, "snd");
  const at = { rail: "algorand", transaction: id, height: round, payer, payTo: address } as const;
  const isTransfer = getString(transaction, "type") === "axfer" && !transaction.has("asnd");
  // By a clawback, by the remainder of a closed account, or by an application.
  if (!isTransfer || addressIn(transaction, "arcv") !== address) return { ...at, aliases: [], relayed: false };
  const amount = getInteger(transaction, "aamt");
  if (amount === 0n || getInteger(transaction, "xaid") !== BigInt(ALGORAND_USDC)) return undefined;
  const group = getBytes(transaction, "grp", 32);
  return {
    ...at,
    key: `${ledger}/${id}`,
    aliases: group ? [`${ledger}/group/${toBase64Url(group)}`] : [],
    amount,
    // Fees are pooled within a group: who pays none has another pay it.
    relayed: group !== undefined && !["fee", "aclose", "rekey"].some((member) => transaction.has(member)),
  };
}

function addressIn(transaction: MsgpackMap, member: string): string {
  return encodeAddress(getBytes(transaction, member, 32) ?? new Uint8Array(32));
}

function textOf(note: Uint8Array | undefined): string | undefined {
  try {
    return note && fromUtf8(note);
  } catch {
    return undefined;
  }
}

/** The signed transaction, of a plain account as the attestor's is. */
function attemptOf({ id, transaction, signature }: Found): Attempt | undefined {
  const { sig } = (signature ?? {}) as { sig?: unknown };
  if (typeof sig !== "string") return undefined;
  return {
    txid: id,
    raw: encodeMsgpack(structMap({ sig: fromBase64(sig), txn: transaction })),
    firstValid: Number(getInteger(transaction, "fv")),
    lastValid: Number(getInteger(transaction, "lv")),
  };
}
