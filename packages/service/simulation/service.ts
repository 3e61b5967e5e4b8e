import type { PaymentPayload } from "@x402/core/types";
import type { Logger } from "pino";
import { createAttestor } from "../src/attestor/attestor.ts";
import type { Signer } from "../src/attestor/signer.ts";
import { type Admit, createAdmission } from "../src/calls/admit.ts";
import { type Capacity, createCapacity } from "../src/calls/capacity.ts";
import { createEffects, type Perform } from "../src/calls/effects.ts";
import { Runner } from "../src/calls/runner.ts";
import type { Store } from "../src/calls/store.ts";
import type { ChainName } from "../src/chains/chain.ts";
import type { Clock } from "../src/clock.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { Offers, type Tender } from "../src/payment/offers.ts";
import type { Products } from "../src/subjects/product.ts";
import { transactionProduct } from "../src/subjects/transaction.ts";
import { simulatedFacilitator } from "./facilitator.ts";
import { LedgerView } from "./ledger-view.ts";
import type { PaymentChain } from "./payments.ts";
import { ledgerRail, tokenRail } from "./rail.ts";
import type { Life, Scheduler } from "./scheduler.ts";
import { simulatedSource } from "./sources.ts";
import type { World } from "./world.ts";

/** Parts of the service put in the place of the right ones: a mistake that the simulation must find. */
export type Defect = {
  perform?(perform: Perform): Perform;
  ledger?(ledger: Ledger): Ledger;
  store?(store: Store): Store;
};

export type ServiceOptions = {
  /** How long a paid request waits for its bundle, in ms. */
  waitMs: number;
  /** Calls that may be under way at one time. */
  mostInFlight: number;
  defect: Defect;
};

/** The service in one process: what its doors and its operator reach. */
export type Service = { admit: Admit; capacity: Capacity; runner: Runner; store: Store };

export const PAY_TO = "PAYEE";
export const PRICE = 1_000n;
/** ms by which a process's clock is wrong at most. */
const SKEW_MS = 1_000;
const DEADLINE_MS = 20_000;
const REFRESH_MS = 15_000;

/**
 * Opens the service in a process as src/service.ts does: its calls are the real ones, from admission to the journal, and
 * what they ask is simulated. Rejects when somebody that it needs cannot be asked.
 */
export async function openService(
  life: Life,
  world: World,
  { waitMs, mostInFlight, defect }: ServiceOptions,
): Promise<Service> {
  const { scheduler, ask, chains } = world;
  const clock = scheduler.clock(life, scheduler.random.between(-SKEW_MS, SKEW_MS));
  const log = loggerOf(life, scheduler);
  const start = clock.timeout(DEADLINE_MS);
  const opened = await openStore(life, world);
  const store = defect.store?.(opened) ?? opened;
  const view = new LedgerView({ life, ...world });
  const ledger = defect.ledger?.(view) ?? view;
  const tenders = chains.map((chain) => tenderOn(chain, life, clock, ledger, world));
  const rails = tenders.map(({ rail }) => rail);
  const offers = new Offers({ tenders, price: PRICE, maxTimeoutSeconds: 60, now: clock.now });
  await offers.refresh(start);

  const names: ChainName[] = ["algorand", "base"];
  const sources = new Map(names.map((name) => [name, simulatedSource(name, life, ask)]));
  // The other products are bought and paid for in the same way.
  const products = {
    transaction: transactionProduct(sources, { algorand: "finalized", base: "safe" }),
  } as unknown as Products;
  const perform = createEffects({
    rails: new Map(tenders.map(({ rail }) => [rail.name, rail])),
    facilitators: new Map(tenders.map(({ rail, facilitator }) => [rail.name, facilitator])),
    products,
    ledger,
    attestor: createAttestor(signerOf(life, scheduler)),
    resourceUrl: () => "https://attestd.example/attest",
    log,
    clock,
    deadlineMs: DEADLINE_MS,
  });
  const runner = new Runner({ store, perform: defect.perform?.(perform) ?? perform, clock, log });
  const carried = () => runner.active;
  const capacity = createCapacity({ ledger, carried, mostInFlight, reserve: 100_000n, fee: 1_000n });
  await capacity.refresh(start);
  await runner.resume();
  keepFresh(capacity, life, clock, scheduler);
  const isPayee = (_: unknown, address: string) => address === PAY_TO;
  const deadlineMs = DEADLINE_MS;
  const common = { store, runner, capacity, log, clock };
  const admit = createAdmission({ ...common, offers, rails, products, isPayee, waitMs, deadlineMs });
  return { admit, capacity, runner, store };
}

function openStore(life: Life, { database, ask, scheduler, faults }: World): Promise<Store> {
  return database.connect(
    (what, about, work) =>
      ask({
        life,
        to: "store",
        what,
        about,
        serve: (answer) => answer(work()),
        broken: () => new Error("the connection to the database broke"),
      }),
    (deliver) => {
      if (faults.fate("store") === "well") scheduler.soon(life, "hears", "", deliver);
    },
  );
}

function tenderOn(chain: PaymentChain, life: Life, clock: Clock, { rounds }: Ledger, world: World): Tender {
  const { witness, answers } = world;
  const looked = (payload: PaymentPayload) => answers.looked(payload);
  const asked = witness.settlementAsked.bind(witness);
  const options = { ...world, life, clock, looked, asked };
  return {
    rail: chain.rail === "algorand" ? ledgerRail(chain, rounds, options) : tokenRail(chain, options),
    payTo: PAY_TO,
    facilitator: simulatedFacilitator(chain, options),
    facilitatorUrl: "https://facilitator.example",
  };
}

/** Signs as ML-DSA-65 does, hedged: no two signatures are the same. */
function signerOf(life: Life, scheduler: Scheduler): Signer {
  return {
    publicKey: new Uint8Array(),
    pqPublicKey: "AAAA",
    kid: "KID",
    keySha256: "A".repeat(43),
    sign: () =>
      new Promise((resolve) =>
        scheduler.soon(life, "signs the bundle", "", () =>
          resolve(Uint8Array.from({ length: 9 }, () => scheduler.random.below(256))),
        ),
      ),
  };
}

/** Reads the attestor's balance again and again. */
function keepFresh(capacity: Capacity, life: Life, clock: Clock, scheduler: Scheduler): void {
  scheduler.later(life, REFRESH_MS, "refreshes", "", () => {
    void capacity
      .refresh(clock.timeout(DEADLINE_MS))
      .catch(() => undefined)
      .then(() => keepFresh(capacity, life, clock, scheduler));
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
