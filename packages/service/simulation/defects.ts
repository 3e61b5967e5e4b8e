import type { Perform } from "../src/calls/effects.ts";
import type { Store } from "../src/calls/store.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import type { Invariant } from "./invariants.ts";
import type { Defect } from "./service.ts";

/** A mistake that one could make in the service, and what it breaks. */
export type PlantedDefect = { defect: Defect; breaks: Invariant };

/** Mistakes planted around the real parts: a simulation that does not find them proves nothing. */
export const DEFECTS = {
  /** The attestation is submitted on the facilitator's word, before the settlement is proved on the chain. */
  "submit before settlement is proved": {
    defect: {
      perform: (perform: Perform) => async (call, effect, memory, stop) => {
        if (effect.do === "reconcile" && memory.settled?.answer.success)
          return {
            type: "payment_proved",
            proof: { transaction: "believed", height: 0, final: true },
            receipt: "believed",
          };
        return perform(call, effect, memory, stop);
      },
    },
    breaks: "attestedOnce",
  },

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
            standing: async (txid, window, signal) =>
              rounds.latest() >= window.lastValid && txid.startsWith("ATTEST")
                ? { state: "dead" }
                : rounds.standing(txid, window, signal),
            settled: (txid, window, signal) => rounds.settled(txid, window, signal),
            next: (signal) => rounds.next(signal),
            find: (txid, signal) => rounds.find(txid, signal),
          },
        };
      },
    },
    breaks: "attestedOnce",
  },

  /** The end of a call counts as committed as soon as it has been handed in. */
  "reply before commit": {
    defect: {
      store: (store: Store): Store => ({
        ...store,
        update: async (after) => {
          const committed = store.update(after);
          if (after.state === "done") void committed.catch(() => undefined);
          else await committed;
        },
      }),
    },
    breaks: "noBundleBefore",
  },

  /** A settlement that the facilitator calls failed counts as void. */
  "void on the facilitator's word": {
    defect: {
      perform: (perform: Perform) => async (call, effect, memory, stop) => {
        if (effect.do === "reconcile" && memory.settled && !memory.settled.answer.success)
          return { type: "payment_void", reason: "believed", receipt: "believed" };
        return perform(call, effect, memory, stop);
      },
    },
    breaks: "voidForEver",
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
} satisfies Record<string, PlantedDefect>;

export type DefectName = keyof typeof DEFECTS;

/** The same ledger in a new object, whose parts can be replaced. */
function around(ledger: Ledger): Ledger {
  const { genesisHash, caip2, address, rounds } = ledger;
  return {
    genesisHash,
    caip2,
    address,
    rounds,
    sign: (note, lease, signal) => ledger.sign(note, lease, signal),
    submit: (raw, signal) => ledger.submit(raw, signal),
    recorded: (txid, signal) => ledger.recorded(txid, signal),
    spendable: (signal) => ledger.spendable(signal),
  };
}
