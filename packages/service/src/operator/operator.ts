import type { KeyHistory } from "@attestd/proof/trust";
import pino, { type Logger } from "pino";
import { seedSigner } from "../attestor/signer.ts";
import { attestorNotes, ledgerNote, timeOfRound } from "../audit/algorand.ts";
import { audit } from "../audit/audit.ts";
import { type ReadableChains, readableChains } from "../audit/chains.ts";
import type { ChainPayment, Span } from "../audit/facts.ts";
import { journalHistory } from "../audit/history.ts";
import type { Heads, PaymentReader } from "../audit/reading.ts";
import { Refused } from "../audit/refused.ts";
import type { AuditReport } from "../audit/report.ts";
import type { Call } from "../calls/call.ts";
import type { Journal } from "../calls/journal.ts";
import type { ChainName } from "../chains/chain.ts";
import { systemClock } from "../clock.ts";
import { type Config, ConfigError, readConfig } from "../config/config.ts";
import { nativeCrypto } from "../crypto/crypto.ts";
import { openJournal, openJournalReader } from "../journal/open.ts";
import { openNetworks } from "../networks/networks.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { createProducts } from "../subjects/products.ts";
import { attestSubject, blockSubject, inclusionSubject, UnfitRequest } from "../subjects/request.ts";
import type { Subject } from "../subjects/subject.ts";
import { adopt } from "./adopt.ts";
import { refund } from "./refund.ts";

export { type RefusalCode, Refused } from "../audit/refused.ts";
export { type AuditReport, type Finding, INVARIANTS, type Severity } from "../audit/report.ts";
export { ConfigError } from "../config/config.ts";
export { ProviderError } from "../providers/provider.ts";
export { UnfitRequest } from "../subjects/request.ts";
export { type KeyChangeReport, readKeyHistory, restoreKeys, revokeKey, rotateKey } from "./keys.ts";

/** What every command of an operator takes. */
export type OperatorOptions = {
  /** Whether another ledger than MainNet is allowed, on a loopback host. */
  sandbox: boolean;
  /** Unix s from which on chains are read; the attestor's beginning unless given. */
  since?: number | undefined;
  /** Ends what is under way. */
  signal: AbortSignal;
};

/** A payment that an operator binds to a request. */
export type Adoption = {
  /** A payment key, or the id of the payment's transaction. */
  target: string;
  /** What it was for, as the request said it: a transaction, a block, or a transaction in a block. */
  subject: { txid?: string | undefined; chain?: ChainName | undefined; height?: number | undefined };
  /** Told when rounds of the ledger have to pass first: up to which. */
  onWait(round: number): void;
};

type Settings = Readonly<Record<string, string | undefined>>;

const DEADLINE_MS = 30_000;
/** How far the clocks of two chains may be apart, in s: a payment may seem to be older than what it paid for. */
const SKEW = 600;

/**
 * Holds the journal against the ledger and the rails, as the settings name them. Nothing is written anywhere.
 *
 * @param settings those of the service
 * @throws ConfigError; ProviderError when a chain cannot be read, Error when the journal cannot
 */
export async function auditJournal(settings: Settings, options: OperatorOptions): Promise<AuditReport> {
  const config = readConfig(settings, options);
  await using journal = await openJournalReader(config.database);
  const history = await journalHistory(journal, config);
  const chains = readableChains(config, logger(config), systemClock, options.signal);
  const since = await beginning(history, chains, options);
  const payees = Map.groupBy(await journal.payees(), ({ rail }) => rail);

  // The rows are read last: see `audit`. So the heads, up to which the chains are read, come first.
  const spans = new Map<RailName, Span>();
  for (const [rail, reader] of chains.readers) spans.set(rail, await spanOf(reader, since));
  const ledger = spans.get("algorand") as Span;
  const read = [...payees.keys()].filter((rail) => spans.has(rail));

  async function* payments(): AsyncGenerator<ChainPayment> {
    for (const rail of read) {
      const addresses = (payees.get(rail) ?? []).map(({ address }) => address);
      const [reader, span] = [chains.readers.get(rail), spans.get(rail)];
      if (reader && span) yield* reader.payments(addresses, span);
    }
  }
  async function* notes() {
    for (const address of attestorsOf(history)) yield* attestorNotes(chains.ledger, address, ledger);
  }
  const facts = {
    ledger,
    rails: Object.fromEntries(read.map((rail) => [rail, spans.get(rail)])),
    unread: [...payees.keys()].filter((rail) => !spans.has(rail)),
    payments: payments(),
    notes: notes(),
    lookAgain: {
      payments: async (rail: RailName, id: string, payTo: string) =>
        (await chains.readers.get(rail)?.inTransaction(id, [payTo])) ?? [],
      note: (txid: string) => ledgerNote(chains.ledger, txid),
    },
  };
  return await audit(facts, journal.calls(), {
    attestors: attestorsOf(history),
    history,
    crypto: nativeCrypto,
    price: config.price,
    products: createProducts(new Map(), config.base),
    now: systemClock.now(),
  });
}

/**
 * Binds a payment that the journal has lost to a request; the service goes on with it.
 *
 * @returns the call as it was committed
 * @throws ConfigError, Refused, ProviderError, UnfitRequest; Problem, SourceError when the source cannot be attested;
 *   Error when the journal cannot be opened
 */
export async function adoptPayment(settings: Settings, adoption: Adoption, options: OperatorOptions): Promise<Call> {
  return withJournal(settings, options, async ({ config, journal, chains, history, networks }) => {
    const { target, onWait } = adoption;
    const subject = subjectOf(adoption.subject, networks.chains);
    const { keySha256, kid } = seedSigner(config.attestor.pqSeed);
    if (history.keys.at(-1)?.kid !== kid)
      throw new ConfigError("ATTESTOR_PQ_SEED is not of the key history's current key.");
    return adopt(target, subject, {
      journal,
      rails: networks.rails,
      readers: chains.readers,
      since: await beginning(history, chains, options),
      products: createProducts(networks.chains, config.base),
      notes: (span) => attestorNotes(chains.ledger, networks.ledger.address, span),
      attestor: { algorandAddress: networks.ledger.address, keySha256, ledger: networks.ledger.caip2 },
      rounds: networks.ledger.rounds,
      clock: systemClock,
      signal: options.signal,
      onWait,
    });
  });
}

/**
 * Records that a payment was given back.
 *
 * @param key payment key
 * @param transaction on the payment's chain, by which the payer got its money
 * @returns the call as it was committed
 * @throws as `adoptPayment`
 */
export async function recordRefund(
  settings: Settings,
  { key, transaction }: { key: string; transaction: string },
  options: OperatorOptions,
): Promise<Call> {
  return withJournal(settings, options, ({ journal, chains, networks }) =>
    refund(key, transaction, {
      journal,
      readers: chains.readers,
      rounds: networks.ledger.rounds,
      clock: systemClock,
      signal: options.signal,
    }),
  );
}

type Opened = {
  config: Config;
  journal: Journal;
  history: KeyHistory;
  chains: ReadableChains;
  networks: Awaited<ReturnType<typeof openNetworks>>;
};

/** Opens what writing to the journal takes, and gives it up again. */
async function withJournal<T>(
  settings: Settings,
  options: OperatorOptions,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const config = readConfig(settings, options);
  const log = logger(config);
  await using opened = new AsyncDisposableStack();
  // Read first, so that a journal which is not there is not made.
  const history = await openJournalReader(config.database).then(async (reader) => {
    await using journal = reader;
    return await journalHistory(journal, config);
  });
  const journal = await openJournal(config.database, log);
  opened.defer(async () => {
    await journal.release();
    await journal.close();
  });
  const start = AbortSignal.any([options.signal, AbortSignal.timeout(DEADLINE_MS)]);
  const networks = await openNetworks(config, log, systemClock, start);
  opened.defer(() => networks.close());
  await networks.ledger.rounds.next(start);
  const chains = readableChains(config, log, systemClock, options.signal);
  return await work({ config, journal, history, chains, networks });
}

function attestorsOf({ keys }: KeyHistory): Set<string> {
  return new Set(keys.map(({ algorandAddress }) => algorandAddress));
}

/** Unix s from which on the chains are read: nothing was sold before the first key. */
async function beginning(
  { keys }: KeyHistory,
  { ledger }: ReadableChains,
  { since }: OperatorOptions,
): Promise<number> {
  if (since !== undefined) return since;
  const round = keys[0]?.fromRound ?? 0;
  const time = await timeOfRound(ledger, round);
  if (time === undefined)
    throw new Refused("unclear", `The indexer does not go back to round ${round}, the attestor's first: give --since.`);
  return time - SKEW;
}

async function spanOf(reader: PaymentReader, since: number): Promise<Span> {
  const { latest }: Heads = await reader.heads();
  return { from: await reader.heightAt(since, latest), to: latest };
}

/** @throws UnfitRequest */
function subjectOf({ txid, chain, height }: Adoption["subject"], configured: ReadonlyMap<ChainName, unknown>): Subject {
  if (height === undefined) return attestSubject({ txid: txid ?? "", chain }, configured);
  if (chain === undefined) throw new UnfitRequest("chain", "must be given with a height");
  if (txid === undefined) return blockSubject({ chain, height }, configured);
  return inclusionSubject({ chain, txId: txid, height }, configured);
}

/** To stderr: stdout is the command's own. */
function logger({ logLevel }: Config): Logger {
  return pino({ level: logLevel }, pino.destination(2));
}
