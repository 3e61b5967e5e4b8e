import { hash } from "node:crypto";
import { MIN_BATCH_ITEMS, matchTransactionId } from "@attestd/proof";
import { canonicalBytes, type JsonObject } from "@attestd/proof/json";
import type { LongList } from "../catalogue/long-list.ts";
import { EXPECTED_ID } from "../catalogue/sources.ts";
import type { ChainName } from "../chains/chain.ts";
import { ServiceError } from "../lib/errors.ts";
import type { Sale } from "../payment/sale.ts";

type Outcome = "succeeded";

/** The subject of a paid call, normalised: the chain inferred, ids in their one spelling, heights as integers. */
export type Subject =
  /** `require`: the required outcome; absent if any outcome is accepted. */
  | { kind: "transaction"; chain: ChainName; id: string; require?: Outcome }
  | { kind: "block"; chain: ChainName; height: number }
  | { kind: "inclusion"; chain: ChainName; id: string; height: number }
  /** Different transactions, in the order of the request; `require` applies to each. */
  | { kind: "batch"; items: readonly BatchEntry[]; require?: Outcome };

/** One transaction of a batch. */
export type BatchEntry = { chain: ChainName; id: string };

export type SubjectOf<K extends Subject["kind"]> = Extract<Subject, { kind: K }>;

/** Returns the chains of a subject's sources, each once. */
export function chainsOf(subject: Subject): ChainName[] {
  return subject.kind === "batch" ? [...new Set(subject.items.map(({ chain }) => chain))] : [subject.chain];
}

/** Returns the properties on which a subject's offers depend. */
export function saleOf(subject: Subject): Sale {
  return { chains: chainsOf(subject).sort(), items: subject.kind === "batch" ? subject.items.length : 0 };
}

/** Summarizes a subject for logs: a batch only by its size. */
export function summaryOf(subject: Subject): object {
  if (subject.kind !== "batch") return subject;
  return { kind: subject.kind, chains: chainsOf(subject), size: subject.items.length };
}

/** The hashes of subjects. A hash of a thousand items takes a millisecond, and a purchase needs it several times. */
const hashes = new WeakMap<Subject, string>();

/**
 * Returns the identity of a subject, to which a payment is bound. It leaves out route, transport, price and spelling,
 * so that one payment is for one subject over every transport. It also leaves out the required outcome, which decides
 * whether it is sold.
 * @returns SHA-256 of the RFC 8785 JSON of the subject, hex
 */
export function requestHash(subject: Subject): string {
  return hashes.getOrInsertComputed(subject, () => {
    const { require: _, ...sold } = subject as Subject & { require?: Outcome };
    return hash("sha256", canonicalBytes(sold as JsonObject));
  });
}

/** An invalid member of a request, by JSON pointer without the first slash; `message`: a clause without a subject. */
type Unfit = { member: string; message: string };

/** @param more further members at fault */
export function unfit(member: string, message: string, more: readonly Unfit[] = []): ServiceError {
  return new ServiceError("request_unfit", message, { details: { member, ...(more.length > 0 && { more }) } });
}

/** The chains whose transactions and blocks are attested, by name. */
type Configured = ReadonlyMap<ChainName, unknown>;

/**
 * Returns the subject of a request to attest a transaction. The form of the id determines the chain if the request does
 * not name it.
 * @throws request_unfit when the id has no chain's form, or that of another chain than `chain`, or that of a chain that
 *   is not configured
 */
export function attestSubject(
  { require, ...asked }: AskedEntry & { require?: Outcome | undefined },
  configured: Configured,
): Subject {
  const entry = readEntry(asked, configured);
  if ("member" in entry) throw unfit(entry.member, entry.message);
  return { kind: "transaction", ...entry, ...(require && { require }) };
}

/** Returns the subject of a request to attest a block. @throws request_unfit when the chain is not configured */
export function blockSubject({ chain, height }: { chain: ChainName; height: number }, configured: Configured): Subject {
  requireConfigured(chain, configured);
  return { kind: "block", chain, height };
}

/**
 * Returns the subject of a request to prove that a transaction is in a block.
 * @throws request_unfit when the chain is not configured, or the id does not have its form
 */
export function inclusionSubject(
  { chain, txId, height }: { chain: ChainName; txId: string; height: number },
  configured: Configured,
): Subject {
  requireConfigured(chain, configured);
  const match = matchTransactionId(txId);
  if (!match) throw unfit("txId", EXPECTED_ID);
  const { name } = match.chain;
  if (name !== chain) throw unfit("txId", `is a transaction id of ${name}, but chain is ${chain}`);
  return { kind: "inclusion", chain, id: match.id, height };
}

/**
 * Returns the subject of a request to attest several transactions at once.
 * @param maxItems the service's limit per request
 * @throws request_unfit naming every item whose id has no chain's form, or that of another chain than its `chain`, or
 *   that of a chain that is not configured, and every item that repeats an earlier transaction
 */
export function batchSubject(
  { items, require }: { items: readonly AskedEntry[]; require?: Outcome | undefined },
  configured: Configured,
  maxItems: number,
): Subject {
  if (items.length > maxItems) throw unfit("items", `has ${items.length} items; at most ${maxItems} are taken at once`);
  const entries: BatchEntry[] = [];
  const faults: Unfit[] = [];
  const places = new Map<string, number>();
  for (const [place, item] of items.entries()) {
    const entry = readEntry(item, configured);
    if ("member" in entry) {
      faults.push({ member: `items/${place}/${entry.member}`, message: entry.message });
      continue;
    }
    const name = `${entry.chain} ${entry.id}`;
    const first = places.get(name);
    if (first === undefined) places.set(name, place);
    else faults.push({ member: `items/${place}`, message: `is the same transaction as items/${first}` });
    entries.push(entry);
  }
  const [first, ...more] = faults;
  if (first) throw unfit(first.member, first.message, more);
  return { kind: "batch", items: entries, ...(require && { require }) };
}

/**
 * Returns what determines the price of a long list of ids. Only its samples are examined, which tell the chains' ids
 * apart. Whether every id is valid is found out when the list is paid for and read.
 * @param maxItems the service's limit per request
 * @throws request_unfit when there are too few or too many, or naming the first sample whose id has the form of no
 *   configured chain
 */
export function longListSale(list: LongList, configured: Configured, maxItems: number): Sale {
  const { length: items } = list;
  if (items < MIN_BATCH_ITEMS) throw unfit("items", `must have at least ${MIN_BATCH_ITEMS} items`);
  if (items > maxItems) throw unfit("items", `has ${items} items; at most ${maxItems} are taken at once`);
  const chains = new Set<ChainName>();
  for (const [place, txid] of list.samples) {
    const entry = readEntry({ txid }, configured);
    if ("member" in entry) throw unfit(`items/${place}/${entry.member}`, entry.message);
    chains.add(entry.chain);
  }
  return { chains: [...chains].sort(), items };
}

/** One transaction as a request names it. */
type AskedEntry = { txid: string; chain?: ChainName | undefined };

function readEntry({ txid, chain }: AskedEntry, configured: Configured): BatchEntry | Unfit {
  const match = matchTransactionId(txid);
  if (!match) return { member: "txid", message: EXPECTED_ID };
  const { name } = match.chain;
  if (chain !== undefined && chain !== name)
    return { member: "chain", message: `is ${chain}, but txid is a transaction id of ${name}` };
  if (!configured.has(name)) return { member: "txid", message: `is of ${name}, which is not attested here` };
  return { chain: name, id: match.id };
}

function requireConfigured(chain: ChainName, configured: Configured): void {
  if (!configured.has(chain)) throw unfit("chain", `is ${chain}, which is not attested here`);
}
