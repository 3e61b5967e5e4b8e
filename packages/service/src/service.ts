import type { Logger } from "pino";
import { createDocuments } from "./api/documents/documents.ts";
import { siteOf } from "./api/documents/site.ts";
import { createNetworks } from "./api/endpoints/networks.ts";
import { createOperations } from "./api/endpoints/operations.ts";
import { readiness } from "./api/endpoints/readiness.ts";
import { statusOf } from "./api/endpoints/status.ts";
import type { Api } from "./api/endpoints/transport.ts";
import { openGauges } from "./api/monitoring/gauges.ts";
import { observedJournal, observedVerifier, transitionObserver } from "./api/monitoring/observed.ts";
import { contextOfCalls, observedAdmit } from "./api/monitoring/traced.ts";
import { createAttestor } from "./attestor/attestor.ts";
import { watchKeyNotes } from "./attestor/key-notes.ts";
import { openKeyWatch } from "./attestor/key-watch.ts";
import { ledgerSearch } from "./audit/copied-calls.ts";
import { recordedKeyNotes } from "./audit/key-notes.ts";
import { createAdmission } from "./calls/admit.ts";
import { createAttestation } from "./calls/attestation.ts";
import { createBundles } from "./calls/bundles.ts";
import { createCapacity } from "./calls/capacity.ts";
import { createCopiedCalls } from "./calls/copied.ts";
import { createEffects } from "./calls/effects.ts";
import { watchInFlight } from "./calls/in-flight.ts";
import type { Journal } from "./calls/journal.ts";
import { admissionJournal, keptJournal } from "./calls/journal-failures.ts";
import { createRecall } from "./calls/outcome.ts";
import { keepRetention } from "./calls/retention.ts";
import { createRunner } from "./calls/runner.ts";
import { createSettlement } from "./calls/settlement.ts";
import { createUnderWay, type UnderWay } from "./calls/under-way.ts";
import { CATALOGUE } from "./catalogue/catalogue.ts";
import { type Config, configInvalid } from "./config/config.ts";
import { watchClock } from "./health/clock.ts";
import { watchDisk } from "./health/disk.ts";
import { createHealth, unavailableIf } from "./health/health.ts";
import { watchJournal } from "./health/journal.ts";
import { watchRounds } from "./health/rounds.ts";
import { openJournal, requireOwner } from "./journal/open.ts";
import { watchTable } from "./ledger/checkpoints/table-watch.ts";
import { watchEvidence } from "./ledger/evidence/watch.ts";
import { deadline, systemClock } from "./lib/clock.ts";
import { useNativeSha2 } from "./lib/crypto/sha2.ts";
import { openCollector } from "./networks/evidence.ts";
import { openNetworks } from "./networks/networks.ts";
import type { Tracer } from "./observe/tracing/tracer.ts";
import { SETTLE_MS } from "./payment/facilitator.ts";
import { openPayments } from "./payment/open.ts";
import { resourcesAt } from "./payment/resource.ts";
import { hostClock } from "./providers/host-clock.ts";
import { openAccount, openSigner, watchSigners } from "./signers/attestor-keys.ts";
import { createProducts } from "./subjects/products.ts";
import { openVerification } from "./verification/verification.ts";

/** The service, which runs calls and does not listen yet. */
export type Service = {
  kid: string;
  /** 32 bytes that only the replicas have. */
  secret: Uint8Array;
  api: Api;
  /** The data in memory that is being sent to clients. */
  underWay: UnderWay;
  /** Refuses new calls from now on; those in flight continue. */
  drain(): void;
  /** Stops every loop and closes the journal. */
  close(): Promise<void>;
};

/** Replacements for tests. */
export type Seams = {
  journal?: <J extends Journal>(journal: J) => J;
  /** The limit of paid calls in flight: a test would take too long to reach the one that memory and rounds allow. */
  maxInFlight?: number;
  /** Time-out of a settlement, in ms; a test would wait two minutes for `SETTLE_MS`. */
  settleMs?: number;
  /** How often upstreams are asked again, in ms; a test would wait for `REFRESH_MS`. */
  refreshMs?: number;
  /** How long a connection may take none of an answer, in ms; a test would wait a minute for `MAX_STALL_MS`. */
  maxStallMs?: number;
};

/** Time-out of one request to a provider, a facilitator or a chain, in ms. */
const DEADLINE_MS = 20_000;
/** How long a paid request waits for its bundle after its offer's time-out, in ms. */
const WAIT_BEYOND_TIMEOUT_MS = 30_000;
/** How long the start waits for the key notes on the ledger, in ms; after that they are read while nothing is sold. */
const KEY_NOTES_MS = 5_000;
const REFRESH_MS = 15_000;
/** How often a failing signer and the journal are checked again, in ms. */
const ANSWER_REFRESH_MS = 5_000;
/**
 * How often disk space is checked, in ms: in this time the journal cannot grow by more than the reserve
 * (docs/operating/journal.md).
 */
const DISK_REFRESH_MS = 2_000;

/**
 * Opens the settings' journal, networks and facilitators, and resumes the calls of an earlier run.
 * @param origin of the service's links, and of the first key history entry
 * @throws config_invalid when a setting contradicts the journal, a facilitator or the network; Error when one of them
 *   cannot be used
 */
export async function openService(
  config: Config,
  origin: string,
  log: Logger,
  { tracer, ...seams }: Seams & { tracer?: Tracer | undefined } = {},
): Promise<Service> {
  await using opened = new AsyncDisposableStack();
  const start = AbortSignal.timeout(DEADLINE_MS);
  useNativeSha2();

  const own = await openJournal(config.database, log);
  const journal = opened.adopt(observedJournal(seams.journal?.(own) ?? own), (one) => one.close());

  const asking = { log, signal: start };
  const signer = opened.adopt(await openSigner(config, asking), (one) => one.close());
  const account = opened.adopt(await openAccount(config, asking), (one) => one.close());
  const signers = watchSigners(signer, account);
  const networks = opened.adopt(await openNetworks(config, account, log, start), (one) => one.close());
  const { ledger, chains, rails, witnesses, congestion } = networks;
  const { genesisHash, address, rounds } = ledger;
  const identity = { genesisHash, algorandAddress: address };
  const unavailableReason = await ledger.unavailableReason(start);
  if (unavailableReason !== undefined) throw configInvalid(unavailableReason);
  requireOwner(await journal.claim(identity), identity);
  const secret = await journal.secret();
  // The round that was read while the rails were opened is enough: another one may take seconds.
  const round = rounds.latest() || (await rounds.next(start));

  const keys = await openKeyWatch({
    journal,
    signer,
    ledger: ledger.caip2,
    algorandAddress: address,
    origin,
    round,
    now: Date.now,
    // A replica that has the current key takes over the calls.
    onUnusable: () => void runner.stop(),
  });

  const keyNotes = watchKeyNotes({
    journal,
    ledger: ledger.caip2,
    account: address,
    rounds,
    newest: networks.newest,
    search: (from, signal) => recordedKeyNotes(config, { account: address, from, log, signal }),
    clock: systemClock,
    log,
  });
  const unread = (err: unknown) => log.warn({ err }, "the key notes on the ledger cannot be read yet: nothing is sold");
  await keyNotes.refresh(deadline(systemClock, KEY_NOTES_MS, start)).catch(unread);

  const { enabled, offers, isPayee, refreshed } = await openPayments(config, { journal, rails, log, signal: start });

  const resourceOf = resourcesAt(origin);
  const products = createProducts(chains);
  const searching = new AbortController();
  opened.defer(() => searching.abort());
  const search = ledgerSearch(config, { address, rounds, log, signal: searching.signal });
  const settlement = createSettlement({
    rails: new Map(rails.map((rail) => [rail.name, rail])),
    settlers: offers.settlers,
    prepare: (ends) => ledger.prepare(ends),
    settleMs: seams.settleMs ?? SETTLE_MS,
    ...{ resourceOf, now: Date.now, log },
  });
  const attestation = createAttestation({
    ...{ products, journal, ledger, resourceOf, now: Date.now, log },
    attestor: createAttestor(signer),
    attestationOf: createCopiedCalls(journal, search),
  });
  const perform = createEffects({ settlement, attestation, keys, signers });
  const observed = { onTransition: transitionObserver(log), carrying: contextOfCalls(tracer) };
  const runner = createRunner({ journal, perform, clock: systemClock, log, ...observed });
  opened.defer(() => runner.stop());
  // A change of the keys ends by releasing leases, which notifies at once. Otherwise the keys are read with the table
  // of health.
  const freed = () => void keys.refresh().catch((err: unknown) => log.warn({ err }, "refresh failed"));
  opened.defer(journal.listen({ freed }));
  const inFlight = watchInFlight(rounds);
  const disk = watchDisk(journal, config.diskReserve);
  const evidence = watchEvidence(journal, Date.now);
  const capacity = createCapacity({
    ledger,
    runner,
    maxInFlight: () => seams.maxInFlight ?? inFlight.max(),
    health: { refusal: () => health.refusal() },
  });
  const refreshMs = seams.refreshMs ?? REFRESH_MS;
  const health = createHealth(
    [
      { name: "balance", everyMs: refreshMs, refresh: capacity.refresh },
      { name: "time between rounds", everyMs: refreshMs, refresh: inFlight.refresh },
      ...refreshed.map((part) => ({ name: "payment", everyMs: refreshMs, ...part })),
      {
        name: "key",
        everyMs: refreshMs,
        refresh: keys.refresh,
        status: () => unavailableIf("attestor_key_unusable", keys.unavailableReason()),
      },
      { name: "key notes", status: keyNotes.status },
      { name: "signers", everyMs: ANSWER_REFRESH_MS, ...signers },
      { name: "journal", everyMs: ANSWER_REFRESH_MS, ...watchJournal(journal, runner, systemClock) },
      { name: "clock", everyMs: ANSWER_REFRESH_MS, ...watchClock(hostClock) },
      { name: "disk", everyMs: DISK_REFRESH_MS, ...disk },
      { name: "rounds", ...watchRounds(rounds, Date.now) },
      ...witnesses.map((watch) => ({ everyMs: refreshMs, ...watch })),
      { name: "congestion", everyMs: refreshMs, ...congestion },
      { name: "evidence", everyMs: refreshMs, ...evidence },
    ],
    { clock: systemClock, log },
  );
  await disk.refresh();
  await capacity.refresh(start);
  await signers.refresh(start);
  await runner.resume();

  const refreshing = new AbortController();
  opened.defer(() => refreshing.abort());
  const collector = openCollector(config, { journal, newest: networks.newest, log });
  opened.defer(() => collector.close());
  const loops = [health, collector, keyNotes].map((one) => one.run(refreshing.signal));
  if (config.retentionDays !== undefined)
    loops.push(keepRetention(config.retentionDays, { journal, clock: systemClock, log }, refreshing.signal));
  opened.defer(async () => {
    refreshing.abort();
    await Promise.all(loops);
  });

  const underWay = createUnderWay();
  const admitting = admissionJournal(journal, log);
  const bundles = createBundles(admitting, underWay);
  const kept = keptJournal(journal, log);
  const admit = createAdmission({
    ...{ products, resourceOf, log, clock: systemClock },
    journal,
    bundles,
    runner,
    capacity,
    offers,
    rails,
    isPayee,
    waitMs: config.maxTimeoutSeconds * 1000 + WAIT_BEYOND_TIMEOUT_MS,
  });
  const verification = openVerification(config, log, { history: keys.history, genesisHash, deadlineMs: DEADLINE_MS });
  opened.defer(() => verification.close());
  const ready = () => readiness({ health, capacity, offers });
  opened.defer(
    openGauges({
      ...{ journal, runner, rounds, capacity, offers, enabled, evidence, readiness: ready },
      pools: { verification: verification.load, blocks: networks.blockLoad, evidence: collector.load },
    }),
  );
  const table = watchTable({ path: config.checkpointTable, genesisHash, now: Date.now, log });
  opened.defer(() => table.close());
  const about = { origin, sandbox: config.sandbox, contact: config.contact, chains: [...chains.keys()] };
  const api: Api = {
    admit: observedAdmit(admit, rails, tracer),
    recall: createRecall(admitting, offers, bundles),
    offers,
    readMessage: verification.readMessage,
    operations: createOperations({
      networks: createNetworks({ rails: enabled, clock: systemClock, deadlineMs: DEADLINE_MS }),
      verifier: observedVerifier(verification.verifier),
      sources: chains,
      maxBatch: config.batch.maxItems,
      kept,
      bundles: createBundles(kept, underWay),
      table,
      readiness: ready,
      status: () => statusOf({ ...about, readiness: ready(), history: keys.history(), rounds, offers }),
      keyHistory: keys.history,
      documents: createDocuments(CATALOGUE, siteOf(config, origin, offers, about.chains)),
    }),
  };
  const closing = opened.move();
  return {
    kid: signer.kid,
    secret,
    api,
    underWay,
    drain: () => capacity.stop(),
    close: () => closing.disposeAsync(),
  };
}
