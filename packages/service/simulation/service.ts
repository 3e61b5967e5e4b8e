import { createHash } from "node:crypto";
import { toBase64, utf8 } from "@attestd/proof/encoding";
import type { PaymentPayload } from "@x402/core/types";
import type { Logger } from "pino";
import { createAttestor } from "../src/attestor/attestor.ts";
import { searchAttestations } from "../src/audit/find-attestation.ts";
import { type Admit, createAdmission } from "../src/calls/admit.ts";
import { createAttestation } from "../src/calls/attestation.ts";
import { createBundles } from "../src/calls/bundles.ts";
import { type Capacity, createCapacity } from "../src/calls/capacity.ts";
import { type CopiedJournal, createCopiedCalls, type SearchOf } from "../src/calls/copied.ts";
import { createEffects } from "../src/calls/effects.ts";
import type { Journal } from "../src/calls/journal.ts";
import type { Memory, Perform } from "../src/calls/perform.ts";
import { createRunner, type Runner } from "../src/calls/runner.ts";
import { createSettlement, type SettlementOptions } from "../src/calls/settlement.ts";
import { createUnderWay, underWayLimits } from "../src/calls/under-way.ts";
import { createHealth } from "../src/health/health.ts";
import { watchJournal } from "../src/health/journal.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import type { Clock } from "../src/lib/clock.ts";
import type { EnabledRail } from "../src/payment/enabled-rail.ts";
import { SETTLE_MS } from "../src/payment/facilitator.ts";
import { watchFacilitator } from "../src/payment/facilitator-watch.ts";
import { createOffers, type Offers } from "../src/payment/offers.ts";
import type { Rail } from "../src/payment/rails/rail.ts";
import type { QuorumRules } from "../src/providers/quorum.ts";
import type { Signer } from "../src/signers/signer.ts";
import type { Products } from "../src/subjects/product.ts";
import { createProducts } from "../src/subjects/products.ts";
import { type FacilitatorName, simulatedFacilitator } from "./facilitator.ts";
import type { Invariant } from "./invariants.ts";
import { LedgerView } from "./ledger-view.ts";
import { type Agree, type Nodes, nodesOf } from "./nodes.ts";
import { type Authorization, PAY_TO, type PaymentChain, PRICE } from "./payments.ts";
import { ledgerRail, type SimulatedPayment, tokenRail } from "./rail.ts";
import type { Life, Scheduler } from "./scheduler.ts";
import { simulatedSource } from "./sources.ts";
import type { World } from "./world.ts";

/** Parts of the service put in the place of the right ones: a mistake that the simulation must find. */
export type Defect = {
  admit?(admit: Admit, journal: Journal): Admit;
  perform?(perform: Perform, parts: EffectParts): Perform;
  ledger?(ledger: Ledger): Ledger;
  rail?(rail: Rail<SimulatedPayment>, chain: PaymentChain): Rail<SimulatedPayment>;
  journal?(journal: Journal & CopiedJournal): Journal;
  /** The journal as admission asks it. */
  admitting?<J extends object>(journal: J): J;
  products?(products: Products): Products;
  /** How the answers of nodes are made one, and how many of them must agree. */
  agree?: Agree;
  rules?: Pick<QuorumRules, "quorum">;
  /** The name of the key that a process signs with. */
  keyOf?(process: string): string;
};

/** What the effects of calls are made of. */
export type EffectParts = Pick<SettlementOptions, "rails" | "settlers"> & {
  /** Makes the effects with other facilitators. */
  settledBy(settlers: SettlementOptions["settlers"]): Perform;
};

/** A mistake that one could make in the service. */
export type PlantedDefect = {
  defect: Defect;
  /** What it breaks. */
  breaks: Invariant;
  /** The first seed whose schedule showed that, where many before did not: the search begins there, to take less time. */
  shownBy?: number;
};

export type ServiceOptions = {
  /** How long a paid request waits for its bundle, in ms. */
  waitMs: number;
  /** Calls that may be under way at one time. */
  maxInFlight: number;
  defect: Defect;
};

/** The service in one process: what its transports and its operator reach. */
export type Service = { admit: Admit; offers: Offers; capacity: Capacity; runner: Runner; journal: Journal };

/** ms by which a process's clock is wrong at most. */
const SKEW_MS = 1_000;
const DEADLINE_MS = 20_000;
const REFRESH_MS = 15_000;
/** How often it is looked whether the journal is behind, in ms. */
const WATCH_MS = 5_000;
const resourceOf = () => ({ url: "https://attestd.example/attest", description: "An attestation." });

/**
 * Opens the service in a process as src/service.ts does: its calls are the real ones, from admission to the journal, and
 * what they ask is simulated. Rejects when an upstream that it needs cannot be asked.
 */
export async function openService(
  life: Life,
  world: World,
  { waitMs, maxInFlight, defect }: ServiceOptions,
): Promise<Service> {
  const { scheduler, ask, chains } = world;
  const clock = scheduler.clock(life, scheduler.random.between(-SKEW_MS, SKEW_MS));
  const log = loggerOf(life, scheduler);
  const start = clock.timeout(DEADLINE_MS);
  const opened = openJournal(life, world);
  const journal = { ...opened, ...defect.journal?.(opened) };
  const nodes = nodesOf({ ...world, life, agree: defect.agree, rules: defect.rules });
  const view = new LedgerView({ ...world, life, nodes });
  const ledger = defect.ledger?.(view) ?? view;
  // Some processes still have earlier settings, which name the facilitators in another order.
  const named = world.settings.now.facilitators;
  const facilitators = scheduler.random.chance(0.2) ? named.toReversed() : named;
  const enabled = chains.map((chain) => {
    const one = enabledOn(chain, facilitators, { life, clock, nodes }, ledger, world);
    return { ...one, rail: defect.rail?.(one.rail, chain) ?? one.rail };
  });
  const rails = enabled.map(({ rail }) => rail);
  const offers = createOffers({ itemPrice: 0n, rails: enabled, maxTimeoutSeconds: 60, now: clock.now });
  await offers.refresh(start);

  const names = ["algorand", "base"] as const;
  const sources = new Map(
    names.map((name) => [name, simulatedSource(name, life, clock, ask, { nodes, lies: world.lies })]),
  );
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => scheduler.random.below(256));
  const sold = createProducts(sources, { clock, random });
  const products = defect.products?.(sold) ?? sold;
  const { now } = clock;
  const { settlers } = offers;
  const byName = new Map(enabled.map(({ rail }) => [rail.name, rail]));
  const prepare = (ends: AbortSignal) => ledger.prepare(ends);
  const settling = { rails: byName, settlers, prepare, resourceOf, settleMs: SETTLE_MS, now, log };
  const attestation = createAttestation({
    ...{ journal, products, ledger, resourceOf, now, log },
    attestor: createAttestor(signerOf(life, scheduler, defect.keyOf?.(life.name) ?? "KEY")),
    attestationOf: createCopiedCalls(journal, searchBy(view, clock)),
  });
  const confirmed = { keys: { confirm: async () => undefined }, signers: { confirm: () => undefined } };
  const settledBy = (settlers: SettlementOptions["settlers"]) =>
    createEffects({ settlement: createSettlement({ ...settling, settlers }), attestation, ...confirmed });
  const effects = settledBy(settlers);
  const work = new Work(defect.perform?.(effects, { rails: byName, settlers, settledBy }) ?? effects);
  const runner = createRunner({ journal, perform: work.perform, clock, log });
  const watch = watchJournal(journal, runner, clock);
  const health = createHealth([{ name: "journal", ...watch }], { clock, log });
  const limits = { ledger, runner, health, maxInFlight: () => maxInFlight };
  const capacity = work.watch(createCapacity(limits), maxInFlight, world.witness);
  await capacity.refresh(start);
  await runner.resume();
  keepFresh([capacity, offers], life, clock, scheduler);
  if (world.losses) keepFresh([watch], life, clock, scheduler, WATCH_MS);
  const isPayee = (_: unknown, address: string) => address === PAY_TO;
  const bundles = createBundles(journal, createUnderWay({ ...underWayLimits(), clock }));
  const admitting = defect.admitting?.(journal) ?? journal;
  const common = { journal: admitting, bundles, runner, capacity, log, clock, resourceOf };
  const admit = createAdmission({ ...common, offers, rails, products, isPayee, waitMs });
  return { admit: defect.admit?.(admit, journal) ?? admit, offers, capacity, runner, journal };
}

/** Searches the ledger for attestations as the service does (audit/copied-calls.ts). */
function searchBy(view: LedgerView, clock: Clock): SearchOf {
  const { signal } = new AbortController();
  const soon = () => clock.timeout(DEADLINE_MS);
  return (calls) => {
    const find = searchAttestations(
      calls.map(({ key }) => key),
      {
        reader: { heads: () => view.heads(soon()), heightAt: async () => 1 },
        since: 0,
        notes: (span) => view.notes(span, soon()),
        attestor: { algorandAddress: view.address },
        rounds: view.rounds,
        signal,
        onWait: () => undefined,
      },
    );
    return async (key) => (await find(key))?.attempt;
  };
}

/** Counts what is surely being worked on in a process, whatever the runner says. */
class Work {
  readonly perform: Perform;
  readonly #underWay = new Set<Memory>();

  constructor(perform: Perform) {
    this.perform = async (call, effect, memory, stop) => {
      const isWork = effect.do === "sign" || effect.do === "submit" || effect.do === "seal";
      if (!isWork) return perform(call, effect, memory, stop);
      this.#underWay.add(memory);
      try {
        return await perform(call, effect, memory, stop);
      } finally {
        this.#underWay.delete(memory);
      }
    };
  }

  /** Makes the witness object when a call is admitted beyond those that may be in flight. */
  watch(capacity: Capacity, maxInFlight: number, witness: World["witness"]): Capacity {
    return {
      ...capacity,
      enter: () => {
        const leave = capacity.enter();
        // One of which the ledger is searched waits for that.
        const underWay = [...this.#underWay].filter(({ waiting, isTakenOver }) => !(waiting && isTakenOver)).length;
        if (underWay >= maxInFlight)
          witness.object("bounded", `a call is let in beside ${underWay}, of ${maxInFlight}`);
        return leave;
      },
    };
  }
}

function openJournal(life: Life, { database, ask, scheduler, faults, answers }: World): Journal & CopiedJournal {
  return database.connect({
    link: (what, about, work) =>
      ask({
        life,
        to: "journal",
        what,
        about,
        serve: (answer) => answer(work()),
        broken: () => new Error("the connection to the database broke"),
      }),
    hint: (deliver) => {
      if (faults.fate("journal") === "well") scheduler.soon(life, "hears", "", deliver);
    },
    isThere: () => life.alive && !life.paused,
    isAlive: () => life.alive,
    inserted: (call, expectedIn) => answers.begun(call, life, expectedIn),
    unexpected: (name) => answers.askedOthers(name, life),
  });
}

function enabledOn(
  chain: PaymentChain,
  facilitators: readonly FacilitatorName[],
  { life, clock, nodes }: { life: Life; clock: Clock; nodes: Nodes },
  { rounds }: Ledger,
  world: World,
): EnabledRail & { rail: Rail<SimulatedPayment> } {
  const { witness, answers } = world;
  const looked = (payload: PaymentPayload, at?: number) => answers.looked(payload, at);
  const vouched = (payload: PaymentPayload) => answers.vouched(payload);
  const refusing = (payload: PaymentPayload) => answers.refusing(payload);
  const asked = (authorization: Authorization, by: FacilitatorName) => witness.settlementAsked(authorization, by);
  const sent = (authorization: Authorization) => witness.settlementSent(authorization, life);
  const options = { ...world, life, clock, nodes, looked, vouched, refusing, sent, asked };
  return {
    rail: chain.rail === "algorand" ? ledgerRail(chain, rounds, options) : tokenRail(chain, options),
    payTo: PAY_TO,
    price: PRICE,
    facilitators: facilitators.map((name) => {
      const facilitator = watchFacilitator({
        facilitator: simulatedFacilitator(chain, name, options),
        rail: chain.rail,
        host: name.id,
        log: loggerOf(life, world.scheduler),
        now: clock.now,
        monotonic: () => world.scheduler.now,
      });
      const { unavailableReason, isBusy } = facilitator;
      return { id: name.id, url: name.id, facilitator, unavailableReason, isBusy };
    }),
  };
}

/** Signs as ML-DSA-65 does, hedged: no two signatures are the same. */
function signerOf(life: Life, scheduler: Scheduler, key: string): Signer {
  const publicKey = utf8(key);
  return {
    publicKey,
    pqPublicKey: toBase64(publicKey),
    kid: key,
    keySha256: createHash("sha256").update(publicKey).digest("base64url"),
    sign: () =>
      new Promise((resolve) =>
        scheduler.soon(life, "signs the bundle", "", () =>
          resolve(Uint8Array.from({ length: 9 }, () => scheduler.random.below(256))),
        ),
      ),
  };
}

type Refreshed = { refresh(signal: AbortSignal): Promise<void> };

/** Refreshes what reads its upstream again and again. */
function keepFresh(
  parts: readonly Refreshed[],
  life: Life,
  clock: Clock,
  scheduler: Scheduler,
  everyMs = REFRESH_MS,
): void {
  scheduler.later(life, everyMs, "refreshes", "", () => {
    void Promise.allSettled(parts.map((part) => part.refresh(clock.timeout(DEADLINE_MS)))).then(() =>
      keepFresh(parts, life, clock, scheduler, everyMs),
    );
  });
}

/** The service's log becomes a part of the trace. */
function loggerOf(life: Life, scheduler: Scheduler): Logger {
  const level = (name: string) => (fields: { err?: Error; key?: string; to?: string }, message: string) => {
    if (!scheduler.tracing) return;
    const { err, key = "", to = "" } = fields;
    scheduler.note(life.name, `${name} ${message}`, [key, to, err?.message ?? ""].filter(Boolean).join(" "));
  };
  return { info: level("info:"), warn: level("warn:"), error: level("ERROR:") } as unknown as Logger;
}
