import type { Attempt } from "../ledger/ledger.ts";
import { ServiceError } from "../lib/errors.ts";
import type { Journal, OpenCall } from "./journal.ts";

/*
 * A journal that was put back from a copy lacks what came after it: a call that the copy has open may have been attested for
 * since, and delivered. A second attestation for one payment would be a false statement on the ledger for ever, so that
 * the ledger is searched before such a call signs.
 */

/** Whether a call may have gone further than its row shows. @param until the journal's mark */
export function mayBeBehind(
  { createdAt, bundle }: Omit<OpenCall, "key" | "state">,
  until: number | undefined,
): boolean {
  return until !== undefined && createdAt <= until && bundle === undefined;
}

/** For how long after a loss a payment may come again whose call was lost, in ms: none that is offered may be valid for longer. */
const REPLAYED_MS = 2 * 60 * 60_000;

/** Whether a payment that the journal does not know may be of a call that it has lost. @param now Unix ms */
export function mayHaveLost(journal: Pick<CopiedJournal, "mayLackSince">, now: number): boolean {
  return now - (journal.mayLackSince() ?? Number.NEGATIVE_INFINITY) < REPLAYED_MS;
}

/** @returns the attestation of a call's payment that the ledger has already */
export type AttestationOf = (call: OpenCall) => Promise<Attempt | undefined>;

/** @returns by the payment key of one of the calls what `AttestationOf` returns, for which up to 100 rounds have to pass */
export type SearchOf = (calls: readonly OpenCall[]) => (key: string) => Promise<Attempt | undefined>;

/**
 * Finds the attestations of calls that a journal has out of a copy: each may have been carried on before the journal was put
 * back. The ledger is searched for all such calls at once, when the first of them asks, and anew after another loss.
 */
export function createCopiedCalls(
  journal: Pick<Journal, "open"> & Pick<CopiedJournal, "copiedUntil" | "mayLackSince">,
  search: SearchOf,
): AttestationOf {
  type Searched = { keys: ReadonlySet<string>; find: ReturnType<SearchOf> };
  let last: { since: number; searched: Promise<Searched> } | undefined;

  async function begin(until: number | undefined): Promise<Searched> {
    const calls = (await journal.open()).filter((call) => mayBeBehind(call, until));
    return { keys: new Set(calls.map(({ key }) => key)), find: search(calls) };
  }

  return async (call) => {
    const since = journal.mayLackSince();
    if (since === undefined) return undefined;
    const until = await journal.copiedUntil();
    if (!mayBeBehind(call, until)) return undefined;
    if (last?.since !== since) last = { since, searched: begin(until) };
    const asked = last;
    const { keys, find } = await asked.searched.catch((error: unknown) => {
      if (last === asked) last = undefined;
      throw error;
    });
    return keys.has(call.key) ? find(call.key) : (await begin(until)).find(call.key);
  };
}

/** @throws by every method of a journal that is behind, but `markCopied` */
export function journalBehind(detail: string): ServiceError {
  return new ServiceError("journal_behind", `the journal lacks commits that it had confirmed: ${detail}`);
}

/**
 * What a journal knows of the copy that it came from.
 *
 * A journal may become an earlier state of itself while replicas have it open: a standby that lacks the newest commits takes
 * over, or a copy is put in its place. Each new session of a replica MUST then look for the last commit that was confirmed
 * to it. Where that is missing the journal is behind, and every method but `markCopied` rejects with `journal_behind`.
 */
export interface CopiedJournal {
  /**
   * Unix ms: a call that began until then may have gone further than its row shows. A backup has this mark from the moment at
   * which it was made; 0 when it had no call then. Undefined in a journal that was never put back.
   */
  copiedUntil(): Promise<number | undefined>;

  /**
   * Sets the mark to the newest call, or to 0 without one: the journal was put back by other means than a backup of ours. A journal that is behind
   * is then taken as it is, without a lease: no call may be carried here while this is asked for.
   *
   * @throws journal_behind when it can be taken only by the next process
   */
  markCopied(): Promise<void>;

  /**
   * Since when this replica knows that the journal may lack commits: it had the mark when it was opened, or another server has
   * it now, or it was behind. Unix ms; undefined of one that lacks none, as far as is known.
   */
  mayLackSince(): number | undefined;
}
