import type { Admit } from "../src/calls/admit.ts";
import type { CopiedJournal } from "../src/calls/copied.ts";
import type { Journal } from "../src/calls/journal.ts";
import { unanswered } from "../src/calls/outcome.ts";
import type { Perform } from "../src/calls/perform.ts";
import { inDoubt } from "../src/calls/problems.ts";
import { hasCode } from "../src/lib/errors.ts";
import type { PlantedDefect } from "./service.ts";

/** Mistakes that show only where the journal loses its newest commits. */
export const LOSS_DEFECTS = {
  /** What another process began is attested for as its row says, whatever the ledger has. */
  "no search for what is taken over": {
    defect: {
      perform: (perform: Perform) => (call, effect, memory, stop) =>
        perform(call, effect, Object.assign(memory, { isTakenOver: false }), stop),
    },
    breaks: "attestedOnce",
  },

  /** A payment whose row is lost is sold for again, because a facilitator calls it good. */
  "a lost payment is taken again": {
    defect: {
      admitting: lacksNothing,
      // Otherwise the next mistake shows first.
      admit:
        (admit: Admit): Admit =>
        async (...request) => {
          const outcome = await admit(...request);
          return outcome.kind === "problem" ? unanswered(inDoubt(outcome.problem)) : outcome;
        },
    },
    breaks: "attestedOnce",
    shownBy: 72761,
  },

  /** What cannot be looked up now is said to be uncharged, though its call may be lost. */
  "a lost payment is said to be uncharged": {
    defect: { admitting: lacksNothing },
    breaks: "answers",
  },

  /** A journal that is behind is taken as it is while its calls are carried on from what is known of them. */
  "what is carried outlives a loss": {
    defect: {
      journal: (journal: Journal & CopiedJournal): Journal => ({
        ...journal,
        find: (...asked) => taking(journal, () => journal.find(...asked)),
        lease: (...asked) => taking(journal, () => journal.lease(...asked)),
        renew: () => taking(journal, () => journal.renew()),
        insert: (...asked) => taking(journal, () => journal.insert(...asked)),
        update: (...asked) => taking(journal, () => journal.update(...asked)),
      }),
    },
    breaks: "prompt",
    shownBy: 2529,
  },
} satisfies Record<string, PlantedDefect>;

function lacksNothing<J extends object>(journal: J): J {
  return { ...journal, mayLackSince: () => undefined };
}

async function taking<T>(journal: CopiedJournal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!hasCode(error, "journal_behind")) throw error;
    await journal.markCopied();
    return await work();
  }
}
