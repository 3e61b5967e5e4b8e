import { hasCode } from "../errors.ts";
import type { EvidenceJournal } from "../ledger/evidence/journal.ts";
import { Problem } from "../problems.ts";
import type { Journal } from "./journal.ts";
import { paymentUnknown } from "./problems.ts";

/*
 * What a caller gets while the journal fails: an answer that says whether to come again, and with which payment.
 */

const ADMISSION = ["find", "insert", "exposure", "expect", "isExpectedElsewhere"] as const;
const KEPT = ["bundle", "evidence", "stateProof"] as const;

type AdmissionJournal = Pick<Journal, (typeof ADMISSION)[number]>;
type KeptJournal = Pick<Journal & EvidenceJournal, (typeof KEPT)[number]>;

/**
 * The journal as a paid request asks it. Where it fails, nobody knows whether the payment has a call: the payer must repeat
 * the payment, and not sign another.
 *
 * @returns what throws Problem `payment_unknown` where the journal fails, and the journal's own codes as they are
 */
export function admissionJournal(journal: AdmissionJournal): AdmissionJournal {
  return mapFailures(journal, ADMISSION, (error) =>
    hasCode(error, "journal_busy", "expectation_lost") ? error : paymentUnknown("The journal does not answer.", error),
  );
}

/** The journal as those ask it who fetch what was delivered. @returns what throws Problem `journal_unavailable` where it fails */
export function keptJournal(journal: KeptJournal): KeptJournal {
  return mapFailures(
    journal,
    KEPT,
    (cause) => new Problem("journal_unavailable", "The journal does not answer.", { retryAfter: 15, cause }),
  );
}

function mapFailures<K extends string, J extends Record<K, (...args: never[]) => Promise<unknown>>>(
  journal: J,
  names: readonly K[],
  failure: (error: unknown) => unknown,
): Pick<J, K> {
  const mapped =
    (name: K) =>
    async (...args: never[]) => {
      try {
        return await journal[name](...args);
      } catch (error) {
        throw failure(error);
      }
    };
  return Object.fromEntries(names.map((name) => [name, mapped(name)])) as Pick<J, K>;
}
