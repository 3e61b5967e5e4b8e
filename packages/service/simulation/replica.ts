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
import { Problem } from "../src/problems.ts";
import type { Products } from "../src/subjects/product.ts";
import type { Subject } from "../src/subjects/subject.ts";
import { transactionProduct } from "../src/subjects/transaction.ts";
import type { Answer, Answers, Request } from "./answers.ts";
import type { Database } from "./database.ts";
import { simulatedFacilitator } from "./facilitator.ts";
import type { Faults } from "./faults.ts";
import type { SimulatedLedger } from "./ledger.ts";
import { LedgerView } from "./ledger-view.ts";
import type { Ask } from "./network.ts";
import type { Authorization, PaymentChain } from "./payments.ts";
import { ledgerRail, tokenRail } from "./rail.ts";
import type { Life, Scheduler } from "./scheduler.ts";
import { simulatedSource } from "./sources.ts";
import type { Witness } from "./witness.ts";

/** Parts of the service put in the place of the right ones: a defect that the simulation must find. */
export type Defect = {
  perform?(perform: Perform): Perform;
  ledger?(ledger: Ledger): Ledger;
  store?(store: Store): Store;
};

/** All that is outside of a process. */
export type Surroundings = {
  scheduler: Scheduler;
  faults: Faults;
  ask: Ask;
  database: Database;
  ledger: SimulatedLedger;
  chains: readonly PaymentChain[];
  authorizations: ReadonlyMap<string, Authorization>;
  witness: Witness;
  answers: Answers;
  waitMs: number;
  defect: Defect;
};

export const PAY_TO = "PAYEE";
export const PRICE = 1_000n;
/** ms by which a replica's clock is wrong at most. */
const SKEW_MS = 1_000;
const DEADLINE_MS = 20_000;
const REFRESH_MS = 15_000;
const MOST_IN_FLIGHT = 2_000;
const RESERVE = 100_000n;
const FEE = 1_000n;

/** A process of the service: the real calls, from admission to the journal, among simulated surroundings. */
export class Replica {
  readonly life: Life;
  readonly #surroundings: Surroundings;
  readonly #admit: Admit;
  readonly #capacity: Capacity;
  readonly #runner: Runner;
  readonly #store: Store;
  /** Those who wait for an answer. */
  readonly #connected = new Set<(answer: Answer) => void>();

  private constructor(
    life: Life,
    surroundings: Surroundings,
    parts: { admit: Admit; capacity: Capacity; runner: Runner; store: Store },
  ) {
    this.life = life;
    this.#surroundings = surroundings;
    this.#admit = parts.admit;
    this.#capacity = parts.capacity;
    this.#runner = parts.runner;
    this.#store = parts.store;
  }

  /** Starts a process, as service.ts does. Rejects when one of those it needs cannot be reached. */
  static async start(life: Life, surroundings: Surroundings): Promise<Replica> {
    const { scheduler, ask, chains, defect } = surroundings;
    const clock = scheduler.clock(life, scheduler.random.between(-SKEW_MS, SKEW_MS));
    const log = loggerOf(life, scheduler);
    const start = clock.timeout(DEADLINE_MS);
    const opened = await openStore(life, surroundings);
    const store = defect.store?.(opened) ?? opened;
    const view = new LedgerView({ life, ...surroundings });
    const ledger = defect.ledger?.(view) ?? view;
    const tenders = chains.map((chain) => tenderOn(chain, life, clock, ledger, surroundings));
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
      log,
      clock,
      deadlineMs: DEADLINE_MS,
    });
    const runner = new Runner({ store, perform: defect.perform?.(perform) ?? perform, clock, log });
    const capacity = createCapacity({
      ledger,
      carried: () => runner.active,
      mostInFlight: MOST_IN_FLIGHT,
      reserve: RESERVE,
      fee: FEE,
    });
    await capacity.refresh(start);
    await runner.resume();
    keepFresh(capacity, life, clock, scheduler);
    const admit = createAdmission({
      store,
      runner,
      capacity,
      offers,
      rails,
      products,
      isPayee: (_, address) => address === PAY_TO,
      log,
      clock,
      waitMs: surroundings.waitMs,
      deadlineMs: DEADLINE_MS,
    });
    return new Replica(life, surroundings, { admit, capacity, runner, store });
  }

  /** Sends it a request. @returns what its client comes to know; nothing is known of a process that died meanwhile */
  request(request: Request): Promise<Answer> {
    const { scheduler, answers } = this.#surroundings;
    const { sent, subject, payload } = request;
    const about = sent.authorization.key;
    return new Promise((resolve) => {
      const end = (answer: Answer) => {
        if (this.#connected.delete(end)) resolve(answer);
      };
      this.#connected.add(end);
      scheduler.soon(this.life, "request", about, () => {
        answers.looked(payload, about);
        void this.#answer(subject, payload).then((answer) => {
          answers.left(request, answer);
          if (scheduler.tracing) scheduler.note(this.life.name, "answers", `${about} ${describe(answer)}`);
          scheduler.soon(undefined, "answer", about, () => end(answer));
        });
      });
    });
  }

  /** A client without a payment asks what it may pay with. */
  offers(subject: Subject): Promise<Answer> {
    return this.#answer(subject, undefined);
  }

  /** The process is killed: nothing is left of it. */
  crash(): void {
    this.life.alive = false;
    for (const end of [...this.#connected])
      this.#surroundings.scheduler.soon(undefined, "hung up", "", () => end({ kind: "disconnected" }));
  }

  /** Stops as on SIGTERM: admits nothing, ends its loops, gives its leases up. */
  async stop(): Promise<void> {
    this.#capacity.stop();
    await this.#runner.stop();
    await this.#store.close();
    this.crash();
  }

  async #answer(subject: Subject, payload: PaymentPayload | undefined): Promise<Answer> {
    try {
      return await this.#admit(subject, payload);
    } catch (error) {
      return error instanceof Problem ? { kind: "problem", code: error.code } : { kind: "broken", error };
    }
  }
}

function describe(answer: Answer): string {
  if (answer.kind === "problem") return answer.code;
  return answer.kind === "payment_required" ? `402 ${answer.error}` : answer.kind;
}

function openStore(life: Life, { database, ask, scheduler, faults }: Surroundings): Promise<Store> {
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

function tenderOn(
  chain: PaymentChain,
  life: Life,
  clock: Clock,
  { rounds }: Ledger,
  surroundings: Surroundings,
): Tender {
  const { witness, answers, authorizations } = surroundings;
  const looked = (payload: PaymentPayload) => {
    const authorization = authorizations.get(String(payload.payload.authorization));
    if (authorization) answers.looked(payload, authorization.key);
  };
  const options = { ...surroundings, life, clock, looked };
  return {
    rail: chain.rail === "algorand" ? ledgerRail(chain, rounds, options) : tokenRail(chain, options),
    payTo: PAY_TO,
    facilitator: simulatedFacilitator(chain, {
      ...options,
      asked: (authorization) => witness.settlementAsked(authorization),
    }),
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

/** Reads the attestor's balance again and again (service.ts). */
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
