import type { Admit } from "../src/calls/admit.ts";
import type { CallState } from "../src/calls/call.ts";
import type { Journal } from "../src/calls/journal.ts";
import type { Perform } from "../src/calls/perform.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import type { Products } from "../src/subjects/product.ts";
import { LOSS_DEFECTS } from "./loss-defects.ts";
import { NODE_DEFECTS } from "./node-defects.ts";
import type { SimulatedScheme } from "./payload.ts";
import type { PlantedDefect } from "./service.ts";
import { SETTLEMENT_DEFECTS } from "./settlement-defects.ts";

/** Mistakes planted around the real parts: a simulation that does not find them proves nothing. */
export const DEFECTS = {
  ...SETTLEMENT_DEFECTS,
  ...NODE_DEFECTS,
  ...LOSS_DEFECTS,

  /** An attempt counts as dead once its window has passed, and another is signed without looking for it. */
  "no look-up before re-signing": {
    defect: {
      ledger: (ledger: Ledger) => {
        const { rounds } = ledger;
        return {
          ...around(ledger),
          rounds: {
            latest: () => rounds.latest(),
            latestAt: () => rounds.latestAt(),
            isCurrent: () => rounds.isCurrent(),
            behind: () => rounds.behind(),
            status: async (txid, window, signal) =>
              rounds.latest() >= window.lastValid && txid.startsWith("ATTEST")
                ? { state: "dead" }
                : rounds.status(txid, window, signal),
            settled: (txid, window, signal) => rounds.settled(txid, window, signal),
            next: (signal) => rounds.next(signal),
            find: (txid, signal) => rounds.find(txid, signal),
          },
        };
      },
    },
    breaks: "attestedOnce",
    shownBy: 467,
  },

  /** A payment without a signature is treated as one whose signature the chain must check. */
  "an empty signature counts as one": {
    defect: {
      rail: (rail) => ({
        ...rail,
        signature: async (payment) => (payment.signature === "none" ? "on_chain" : rail.signature(payment)),
        onChain: async (payment, signal) => payment.signature === "none" || rail.onChain(payment, signal),
      }),
    },
    breaks: "strangers",
  },

  /** The same, without revealing it. */
  "an empty signature asks": {
    defect: {
      rail: (rail) => ({
        ...rail,
        signature: async (payment) => (payment.signature === "none" ? "valid" : rail.signature(payment)),
      }),
    },
    breaks: "unasked",
  },

  /** A signature is good only as long as the payment can still be made: one that was made has none any more. */
  "a signature that nobody can simulate is none": {
    defect: {
      rail: (rail, chain) => ({
        ...rail,
        onChain: async (payment, signal) =>
          (await rail.onChain(payment, signal)) &&
          (payment.by !== "program" || chain.isSpendable(payment.authorization)),
      }),
    },
    breaks: "no402",
    shownBy: 115,
  },

  /** The end of a call counts as committed as soon as it has been handed in. */
  "reply before commit": {
    defect: {
      journal: withoutWaiting("done"),
    },
    breaks: "noBundleBefore",
  },

  /** A settlement may leave as soon as its call has been handed in to be committed. */
  "settle before the call is committed": {
    defect: {
      journal: (journal: Journal): Journal => ({
        ...journal,
        insert: async (call, expectation) => {
          const earlier = await journal.find(call.key);
          if (earlier) return earlier;
          void journal.insert(call, expectation).catch(() => undefined);
          return call;
        },
        holds: () => true,
      }),
    },
    breaks: "committedFirst",
  },

  /** An attestation counts as committed as soon as it has been handed in. */
  "submit while the commit is under way": {
    defect: {
      journal: withoutWaiting("signed"),
    },
    breaks: "committedFirst",
  },

  /** A replica refuses a payment without asking whether another one is about to begin its call. */
  "a replica refuses what another one is checking": {
    defect: {
      journal: (journal: Journal): Journal => ({ ...journal, isExpectedElsewhere: async () => false }),
    },
    breaks: "no402",
    shownBy: 4029,
  },

  /** The attestation leaves before its bytes are in the journal. */
  "submit before the bytes are kept": {
    defect: {
      ledger: (ledger: Ledger) => ({
        ...around(ledger),
        sign: async (note, lease, signal) => {
          const attempt = await ledger.sign(note, lease, signal);
          await ledger.submit(attempt.raw, signal);
          return attempt;
        },
      }),
    },
    breaks: "committedFirst",
  },

  /** Leases are never renewed. */
  "no heartbeat": {
    defect: { journal: (journal: Journal): Journal => ({ ...journal, renew: async () => [] }) },
    breaks: "carriedOnce",
  },

  /** What may be paid already is counted as still promised, and a payer who can pay for all gets a 402. */
  "refused for what is promised": {
    defect: {
      admit:
        (admit: Admit, journal: Journal): Admit =>
        async (subject, payload, purchase) => {
          const outcome = await admit(subject, payload, purchase);
          const error = outcome.kind === "problem" ? outcome.problem.message : "";
          const key = (payload.payload as SimulatedScheme).authorization;
          if (!error.includes("has promised") || (await journal.find(key))) return outcome;
          return { kind: "payment_required", accepts: [], options: [], extensions: {}, error };
        },
    },
    breaks: "served",
    shownBy: 2798,
  },

  /** A failed purchase keeps its name: a later purchase under that name gets the void call for ever. */
  "a name is never free again": {
    defect: {
      journal: (journal: Journal): Journal => ({
        ...journal,
        insert: async (call, expectation) => {
          const first = (name: string) => name.replace(/^(payment-identifier.*)\/\d+$/, "$1/0");
          const holder = await journal.insert({ ...call, aliases: call.aliases.map(first) }, expectation);
          return holder.key === call.key ? holder : { ...holder, aliases: call.aliases };
        },
      }),
    },
    breaks: "served",
    shownBy: 620,
  },

  /** A call that once had nothing to do but wait is never counted as work again. */
  "waiting never ends": {
    defect: {
      perform: (perform: Perform) => async (call, effect, memory, stop) => {
        const event = await perform(call, effect, memory, stop);
        if (memory.waiting) Object.defineProperty(memory, "waiting", { get: () => true, set: () => undefined });
        return event;
      },
    },
    breaks: "bounded",
    shownBy: 1389,
  },

  /** An inclusion is sold, and its block alone attested. */
  "one product for another": {
    defect: { products: (products: Products): Products => ({ ...products, inclusion: products.block }) },
    breaks: "bought",
  },

  /** Keys change while calls are under way: what the old key has begun, no other one can end. */
  "another key in every process": {
    defect: { keyOf: (process: string) => process },
    breaks: "rest",
  },
} satisfies Record<string, PlantedDefect>;

export type DefectName = keyof typeof DEFECTS;

/** A journal that calls a commit to a state done as soon as it has been handed in. */
function withoutWaiting(state: CallState): (journal: Journal) => Journal {
  return (journal) => ({
    ...journal,
    update: async (after) => {
      const committed = journal.update(after);
      if (after.state === state) void committed.catch(() => undefined);
      else await committed;
    },
  });
}

/** The same ledger in a new object, whose parts can be replaced. */
function around(ledger: Ledger): Ledger {
  const { genesisHash, caip2, address, fee, rounds } = ledger;
  return {
    genesisHash,
    caip2,
    address,
    fee,
    rounds,
    sign: (note, lease, signal) => ledger.sign(note, lease, signal),
    rekey: (to, signal) => ledger.rekey(to, signal),
    prepare: (signal) => ledger.prepare(signal),
    submit: (raw, signal) => ledger.submit(raw, signal),
    unavailableReason: (signal) => ledger.unavailableReason(signal),
    unknownKey: (signal) => ledger.unknownKey(signal),
    spendable: (signal) => ledger.spendable(signal),
  };
}
