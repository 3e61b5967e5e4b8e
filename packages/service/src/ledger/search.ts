import { hash } from "node:crypto";
import type { RecordedNote } from "@attestd/proof";
import {
  algorandCaip2,
  decodeAddress,
  decodeMsgpackMap,
  encodeAddress,
  encodeMsgpack,
  getBytes,
  getInteger,
  getString,
  type MsgpackMap,
  structMap,
} from "@attestd/proof/algorand";
import { keyNotePrefix } from "@attestd/proof/attestor";
import { equalBytes, fromBase64, fromUtf8 } from "@attestd/proof/encoding";
import { attempt } from "@attestd/proof/errors";
import { rebuildTransaction } from "../chains/algorand/rebuild.ts";
import type { AlgorandSource } from "../chains/algorand/source.ts";
import type { FoundTransaction, IndexerSearch, Wanted } from "../providers/indexer-search.ts";
import { unavailable } from "../providers/provider.ts";
import { agree, ifAny, type QuorumRules } from "../providers/quorum.ts";
import {
  type Ask,
  answersOf,
  type ChainHeights,
  fewAtOnce,
  firstAt,
  inPieces,
  type Span,
} from "../providers/reading.ts";
import type { Attempt } from "./ledger.ts";
import { unlessAbsent } from "./recorded.ts";

/** How the ledger is read by its indexers. */
export type LedgerReading = {
  indexers: readonly IndexerSearch[];
  rules: QuorumRules;
  /** Base64, 32 bytes. */
  genesisHash: string;
  /** Gives a transaction's bytes if they cannot be rebuilt from the indexer's JSON. */
  source: Pick<AlgorandSource, "find">;
  ask: Ask;
};

/** A transaction whose content was hashed to its id. That it is in its round is the word of k of n indexers. */
export type LedgerTransaction = { id: string; round: number; transaction: MsgpackMap };
type Found = LedgerTransaction & Pick<FoundTransaction, "signature" | "auth-addr">;

/** A transaction of the ledger that names the attestor's account. */
export type LedgerNote = {
  readonly txid: string;
  readonly round: number;
  readonly sender: string;
  /** Undefined when it has no note, or one that is not UTF-8. */
  readonly note?: string | undefined;
  /** Whether it is a payment of nothing that neither closes nor rekeys an account. */
  readonly movesNothing: boolean;
};

/** Transactions in one piece of a span, unless the piece is a single round. */
const MAX_TRANSACTIONS = 1_000;

/** Reads the ledger's rounds. A round is final at once. */
export function ledgerHeights(reading: LedgerReading): ChainHeights {
  return {
    async heads() {
      const read = (indexer: IndexerSearch, ends: AbortSignal) => indexer.latest(ends);
      const rounds = await answersOf(reading.indexers, read, { about: "the latest round" }, reading);
      const latest = Math.min(...rounds);
      return { latest, final: latest };
    },
    heightAt: (time, latest) => firstAt(time, latest, (round) => timeOfRound(reading, round)),
  };
}

/** Returns a round's time in Unix s, as the indexers agree; undefined when they do not go back that far. */
export function timeOfRound({ indexers, rules, ask }: LedgerReading, round: number): Promise<number | undefined> {
  const read = (indexer: IndexerSearch, ends: AbortSignal) => indexer.timeOf(round, ends);
  const about = `the time of round ${round}`;
  return ask(async (signal) => (await agree(indexers, read, ifAny(about, String, signal), rules))[0]);
}

/**
 * Lists every transaction within the span that names an account of the attestor, our own or a stranger's, unordered.
 */
export async function* attestorNotes(
  reading: LedgerReading,
  accounts: Iterable<string>,
  span: Span,
): AsyncGenerator<LedgerNote & { attempt: Attempt }> {
  for (const address of accounts)
    for await (const found of searchLedger(reading, { address }, span))
      yield { ...toNote(found), attempt: attemptOf(found) };
}

/** Lists every key note that an account has sent within the span, unordered. */
export async function keyNotes(reading: LedgerReading, account: string, span: Span): Promise<RecordedNote[]> {
  const sentWithNote = keyNotePrefix(algorandCaip2(fromBase64(reading.genesisHash)));
  const notes: RecordedNote[] = [];
  for await (const found of searchLedger(reading, { address: account, sentWithNote }, span)) {
    const { txid, round, sender, note } = toNote(found);
    if (note !== undefined && sender === account) notes.push({ txid, round, sender, note });
  }
  return notes;
}

/** Returns the note of one transaction; undefined when the ledger has no such transaction. */
export async function ledgerNote(reading: LedgerReading, txid: string): Promise<LedgerNote | undefined> {
  const found = await ledgerTransaction(reading, txid);
  return found && toNote(found);
}

/** Reads one transaction from its block; undefined when the ledger has none with that id. @throws ProviderError */
export async function ledgerTransaction(
  { source, ask }: LedgerReading,
  id: string,
): Promise<LedgerTransaction | undefined> {
  const found = await unlessAbsent(ask((signal) => source.find(id, signal)));
  return found && { id, round: found.height, transaction: decodeMsgpackMap(found.bytes) };
}

function toNote({ id, round, transaction }: LedgerTransaction): LedgerNote {
  const bytes = getBytes(transaction, "note");
  const note = bytes && attempt("malformed", () => fromUtf8(bytes));
  return {
    txid: id,
    round,
    sender: addressIn(transaction, "snd"),
    note,
    movesNothing:
      getString(transaction, "type") === "pay" && !["amt", "close", "rekey"].some((member) => transaction.has(member)),
  };
}

/** Lists the matching transactions within the span, unordered. */
export async function* searchLedger(reading: LedgerReading, wanted: Wanted, span: Span): AsyncGenerator<Found> {
  const { indexers, rules, ask } = reading;
  const most = Math.max(1, span.to - span.from + 1);
  const pieces = inPieces(span, { most }, ask, async (piece, isLeast, signal) => {
    const about = `the transactions of ${wanted.address} in rounds ${piece.from} to ${piece.to}`;
    const bound = isLeast ? Number.POSITIVE_INFINITY : MAX_TRANSACTIONS;
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

/** @returns undefined for a transaction of another network, which an indexer may also hold (recordings) */
async function recompute(reading: LedgerReading, record: FoundTransaction): Promise<Found | undefined> {
  const { id, "confirmed-round": round, signature, "auth-addr": authorizer } = record;
  const rebuilt = rebuildTransaction(id, record);
  const transaction = rebuilt ? decodeMsgpackMap(rebuilt) : (await ledgerTransaction(reading, id))?.transaction;
  if (!transaction) throw unavailable(`no node has transaction ${id}, which an indexer lists`);
  const genesis = getBytes(transaction, "gh", 32);
  if (!genesis || !equalBytes(genesis, fromBase64(reading.genesisHash))) return undefined;
  return { id, round, transaction, signature, "auth-addr": authorizer };
}

/** Returns the address in a transaction's member; the zero address if absent. */
export function addressIn(transaction: MsgpackMap, member: string): string {
  return encodeAddress(getBytes(transaction, member, 32) ?? new Uint8Array(32));
}

/**
 * Returns a recorded transaction as an attempt. Its bytes have the signature only if the indexer states a plain one:
 * none states a `pqsig`. A recorded transaction is not submitted again.
 */
function attemptOf({ id, transaction, signature, "auth-addr": authorizer }: Found): Attempt {
  const sig = signature?.sig === undefined ? {} : { sig: fromBase64(signature.sig) };
  const sgnr = authorizer === undefined ? {} : { sgnr: decodeAddress(authorizer) };
  return {
    txid: id,
    raw: encodeMsgpack(structMap({ ...sig, ...sgnr, txn: transaction })),
    firstValid: Number(getInteger(transaction, "fv")),
    lastValid: Number(getInteger(transaction, "lv")),
  };
}
