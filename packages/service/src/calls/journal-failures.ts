import type { Logger } from "pino";
import type { EvidenceJournal } from "../ledger/evidence/journal.ts";
import { hasCode } from "../lib/errors.ts";
import { Problem } from "../lib/problems.ts";
import type { Journal } from "./journal.ts";
import { paymentUnknown } from "./problems.ts";

/*
 * What a caller gets while the journal fails: an answer that says whether to come again, and with which payment. The cause
 * is only logged.
 */

const READS = ["stored", "bodyOf", "partsOf"] as const;
const REFUSED = ["rememberRefused", "refused"] as const;
const ADMISSION = [
  "find",
  "look",
  "insert",
  "exposure",
  "expect",
  "isExpectedElsewhere",
  ...REFUSED,
  ...READS,
] as const;
const KEPT = [...READS, "evidence", "stateProof"] as const;

type AdmissionJournal = Pick<Journal, (typeof ADMISSION)[number]>;
type Log = Pick<Logger, "error">;
export type KeptJournal = Pick<Journal & EvidenceJournal, (typeof KEPT)[number]>;

/**
 * The journal as a paid request asks it. Where it fails, nobody knows whether the payment has a call: the payer must repeat
 * the payment, and not sign another.
 *
 * @returns what throws Problem `payment_unknown` where the journal fails, and the journal's own codes as they are
 */
export function admissionJournal(journal: AdmissionJournal, log: Log): AdmissionJournal {
  return mapFailures(journal, ADMISSION, log, (cause) => paymentUnknown("The journal does not answer.", cause));
}

/** The journal as those ask it who fetch what was delivered. @returns what throws Problem `journal_unavailable` where it fails */
export function keptJournal(journal: KeptJournal, log: Log): KeptJournal {
  const unavailable = (cause: unknown) =>
    new Problem("journal_unavailable", "The journal does not answer.", { retryAfter: 15, cause });
  return mapFailures(journal, KEPT, log, unavailable);
}

function mapFailures<K extends string, J extends Record<K, (...args: never[]) => Promise<unknown>>>(
  journal: J,
  names: readonly K[],
  log: Log,
  problem: (cause: unknown) => Problem,
): Pick<J, K> {
  const mapped =
    (name: K) =>
    async (...args: never[]) => {
      try {
        return await journal[name](...args);
      } catch (error) {
        if (hasCode(error, "journal_busy", "expectation_lost")) throw error;
        log.error({ err: error }, "a request found the journal failing");
        throw problem(error);
      }
    };
  return Object.fromEntries(names.map((name) => [name, mapped(name)])) as Pick<J, K>;
}
