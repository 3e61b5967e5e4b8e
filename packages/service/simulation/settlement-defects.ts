import type { Admit } from "../src/calls/admit.ts";
import { payloadOf } from "../src/calls/call.ts";
import type { Journal } from "../src/calls/journal.ts";
import type { Perform } from "../src/calls/perform.ts";
import type { Facilitator } from "../src/payment/facilitator.ts";
import type { RailName } from "../src/payment/rails/rail.ts";
import { settlementReceipt } from "../src/payment/receipt.ts";
import type { Settler } from "../src/payment/routes.ts";
import type { EffectParts, PlantedDefect } from "./service.ts";

/** Mistakes about settlements and those who make them. */
export const SETTLEMENT_DEFECTS = {
  /** The attestation is submitted after the facilitator's answer, before the settlement is proved on the chain. */
  "submit before settlement is proved": {
    defect: {
      perform:
        (perform: Perform, { rails }: EffectParts) =>
        async (call, effect, memory, deadline) => {
          const payment = rails.get(call.rail)?.read(payloadOf(call));
          if (effect.do !== "reconcile" || !memory.settled?.answer.success || !payment)
            return perform(call, effect, memory, deadline);
          const proof = { transaction: "believed", height: 0, final: true };
          const receipt = settlementReceipt(payment, call.requirement, { success: true, transaction: "believed" });
          return { type: "payment_proved", proof, receipt };
        },
    },
    breaks: "attestedOnce",
  },

  /** A settlement that the facilitator calls failed counts as void. */
  "void on the facilitator's word": {
    defect: {
      perform: (perform: Perform) => async (call, effect, memory, deadline) => {
        if (effect.do === "reconcile" && memory.settled && !memory.settled.answer.success)
          return { type: "payment_void", reason: "believed", receipt: "believed" };
        return perform(call, effect, memory, deadline);
      },
    },
    breaks: "voidForEver",
  },

  /** A payment that the facilitator has not finished is asked for anew, while it may still be made. */
  "asks for a new payment while the first may settle": {
    defect: {
      admit:
        (admit: Admit): Admit =>
        async (subject, ...rest) => {
          const outcome = await admit(subject, ...rest);
          if (outcome.kind !== "problem" || outcome.problem.code !== "settlement_pending") return outcome;
          return { kind: "payment_required", accepts: [], options: [], extensions: {} };
        },
    },
    breaks: "no402",
  },

  /** Where payments name a fee payer, the other facilitator is asked at once when the first one gives no answer. */
  "another facilitator settles what names a fee payer": {
    defect: {
      perform: (_: Perform, parts: EffectParts) => askingOthers(parts, (rail) => rail !== "base"),
    },
    breaks: "ownFacilitator",
  },

  /** A facilitator settles a payment that is bound to another one, which the settings no longer name. */
  "a facilitator settles what is bound to a removed one": {
    defect: {
      perform: (_: Perform, parts: EffectParts) => (call, effect, memory, deadline) => {
        const posing = ([first, ...rest]: readonly Settler[]): Settler[] =>
          first ? [{ ...first, id: call.facilitator ?? first.id }, ...rest] : [];
        const settlers = [...parts.settlers].map(([rail, all]) => {
          const isNamed = all.some(({ id }) => id === call.facilitator);
          return [rail, isNamed ? all : posing(all)] as const;
        });
        return parts.settledBy(new Map(settlers))(call, effect, memory, deadline);
      },
    },
    breaks: "ownFacilitator",
    shownBy: 912,
  },

  /** Where any facilitator may settle, the other one is asked before the row names it. */
  "another facilitator is asked before the row names it": {
    defect: {
      perform: (_: Perform, parts: EffectParts) => askingOthers(parts, (rail) => rail === "base"),
    },
    breaks: "committedFirst",
  },

  /** A payment that facilitators alone refuse is forgotten after the 402. */
  "a refused payment is forgotten": {
    defect: { journal: (journal: Journal): Journal => ({ ...journal, rememberRefused: async () => undefined }) },
    breaks: "paidOnce",
  },

  /** A 402 leaves while the commit of the refused payment is under way. */
  "a 402 leaves before the refused payment is kept": {
    defect: {
      journal: (journal: Journal): Journal => ({
        ...journal,
        rememberRefused: async (payment) => void journal.rememberRefused(payment).catch(() => undefined),
      }),
    },
    breaks: "paidOnce",
    shownBy: 2379,
  },

  /** A payment that was delivered for and has vanished is looked at until it is void, and not settled meanwhile. */
  "a vanished payment is not settled again": {
    defect: {
      perform: (perform: Perform, parts: EffectParts) => {
        const idle = { settle: async () => ({ success: true }) };
        const idly = (real: Settler) => ({ ...real, facilitator: { ...real.facilitator, ...idle } });
        const looking = parts.settledBy(new Map([...parts.settlers].map(([rail, all]) => [rail, all.map(idly)])));
        return (call, effect, ...rest) => (effect.do === "watch" ? looking : perform)(call, effect, ...rest);
      },
    },
    breaks: "settledAgain",
    shownBy: 2925,
  },
} satisfies Record<string, PlantedDefect>;

/** Lets a settlement that failed at one facilitator go to the other one at once, on some rails. */
function askingOthers(parts: EffectParts, isOn: (rail: RailName) => boolean): Perform {
  const passing = (own: Settler, i: number, all: readonly Settler[]): Settler => {
    const other = all[1 - i]?.facilitator ?? own.facilitator;
    const settle: Facilitator["settle"] = (...asked) =>
      own.facilitator.settle(...asked).catch(() => other.settle(...asked));
    return { ...own, facilitator: { ...own.facilitator, settle } };
  };
  const settlers = [...parts.settlers].map(([rail, all]) => [rail, isOn(rail) ? all.map(passing) : all] as const);
  return parts.settledBy(new Map(settlers));
}
