import { ignoring } from "../src/lib/errors.ts";
import { isProviderError } from "../src/providers/provider.ts";
import { agree } from "../src/providers/quorum.ts";
import type { PlantedDefect } from "./service.ts";

/** Mistakes about nodes of which one lies, lags or is away. */
export const NODE_DEFECTS = {
  /** One node's word is enough where the others are away: what it makes up is signed. */
  "one word of two suffices": {
    defect: { rules: { quorum: 1 } },
    breaks: "true",
  },

  /** The same: a payment that it makes up is delivered for. */
  "one word of two is a payment": {
    defect: { rules: { quorum: 1 } },
    breaks: "attestedOnce",
  },

  /** A node that gives no answer counts as one that agrees with the first. */
  "a missing witness counts as agreement": {
    defect: {
      agree: async (providers, ask, question, rules) => {
        const asked = providers.map((provider) => ask(provider, question.signal));
        const first = await Promise.any(asked).catch((error: AggregateError) => {
          throw error.errors[0];
        });
        const agreeing = asked.map((answer) => answer.catch(ignoring(isProviderError)).then((one) => one ?? first));
        return agree(
          providers,
          (provider) => agreeing[providers.indexOf(provider)] as (typeof asked)[0],
          question,
          rules,
        );
      },
    },
    breaks: "true",
  },

  /** The node whose answer comes first is believed. */
  "the fastest node is believed": {
    defect: {
      agree: async (providers, ask, { signal }) => {
        const asked = providers.map((provider) => ask(provider, signal));
        return [
          await Promise.any(asked).catch((error: AggregateError) => {
            throw error.errors[0];
          }),
        ];
      },
    },
    breaks: "true",
  },

  /** A payment on which the nodes give no answer in time counts as void. */
  "a timeout counts as void": {
    defect: {
      rail: (rail) => ({
        ...rail,
        status: async (payment, signal, hint) =>
          (await rail.status(payment, signal, hint).catch(ignoring(isProviderError))) ?? {
            state: "void",
            reason: "believed",
          },
      }),
    },
    breaks: "voidForEver",
  },
} satisfies Record<string, PlantedDefect>;
