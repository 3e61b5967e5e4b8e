import { isProofError, type KeyHistory, requireContinuation, type Trust } from "@attestd/proof";
import { hostOf, printable } from "./printable.ts";
import { RESTS_ON } from "./words.ts";

/** Where the keys come from that a verdict rests on. */
export type TrustBasis = {
  /**
   * `origin`: the list that this origin serves. `file`: a list that the reader gave. `kid`: key ids that the reader gave.
   * `sandbox`: the list of the local sandbox. `example`: the list of the page's example.
   */
  basis: "origin" | "file" | "kid" | "sandbox" | "example";
  /** The origin's host, the file's name, the keys' ids; for programs. */
  name: string;
  /** When the list was fetched, or its file written: ms since 1970. Absent when unknown, and for `kid`. */
  since?: number;
};

/** A key list that files are judged by. */
export type KeyList = {
  history: KeyHistory;
  basis: TrustBasis;
  /** For a list that the reader gave: the list of the same host that was known before, if the two differ. */
  known?: { history: KeyHistory; basis: TrustBasis };
};

/** `TrustBasis` in reports for programs: the date is `YYYY-MM-DD` of UTC. */
export type StatedBasis = Omit<TrustBasis, "since"> & { date?: string };

const DAY_MS = 86_400_000;

export function statedBasis({ basis, name, since }: TrustBasis): StatedBasis {
  return { basis, name, ...(since !== undefined && { date: dayOf(since) }) };
}

/** The sentence about the keys that a verdict rests on. */
export function basisSentence(trust: TrustBasis | undefined): string {
  if (trust === undefined) return RESTS_ON.none;
  return RESTS_ON[trust.basis](short(printable(trust.name)), dateOf(trust));
}

/** The date of a list in warnings. */
export function dateOf({ since }: TrustBasis): string {
  return since === undefined ? "an unknown date" : dayOf(since);
}

/** Age of a list for `verify`, in seconds; infinite when its date is unknown. Key ids have no age. */
export function historyAge({ basis, since }: TrustBasis, now = Date.now()): number {
  if (basis === "kid") return 0;
  return since === undefined ? Number.POSITIVE_INFINITY : Math.max(0, (now - since) / 1000);
}

/**
 * The date of a file; undefined when it is a day or more ahead, since such a list would never grow old.
 * @param modified ms since 1970, as the file system has it
 */
export function writtenAt(modified: number, now = Date.now()): number | undefined {
  return modified > now + DAY_MS ? undefined : modified;
}

/** @returns why `later` does not continue `earlier`; undefined when it does */
export function breakBetween(earlier: KeyHistory, later: KeyHistory): string | undefined {
  try {
    requireContinuation(earlier, later);
    return undefined;
  } catch (error) {
    if (!isProofError(error, "format")) throw error;
    return error.message;
  }
}

/**
 * The list to judge by after the reader gave one. If the known list of the same host continues the given one, the known
 * list is used: it contains everything that the given one does.
 */
export function givenBeside(given: KeyList, known: KeyList | undefined): KeyList {
  if (known === undefined || !shareHost(given.history, known.history)) return given;
  if (breakBetween(given.history, known.history) === undefined) return known;
  return { ...given, known: { history: known.history, basis: known.basis } };
}

/** What the known list of the same host says against the given one, for this key; undefined if nothing. */
export function doubtOf({ history, known }: KeyList, kid: string | undefined): Doubt | undefined {
  if (known === undefined) return undefined;
  const host = hostOf(known.history.keys.at(-1)?.origin ?? "");
  const why = breakBetween(known.history, history);
  if (why !== undefined) return { host, date: dateOf(known.basis), why };
  return known.history.keys.some((entry) => entry.kid === kid) ? undefined : { host, date: dateOf(known.basis) };
}

/** `why` is absent when the given list continues the known one, which does not have the key. */
export type Doubt = { host: string; date: string; why?: string };

/** The key history, if the trust is one and not key ids. */
export function historyOf(trust: Trust | undefined): KeyHistory | undefined {
  return trust && "keys" in trust ? trust : undefined;
}

function shareHost(one: KeyHistory, other: KeyHistory): boolean {
  const hosts = new Set(one.keys.map(({ origin }) => comparedHost(origin)));
  return other.keys.some(({ origin }) => hosts.has(comparedHost(origin)));
}

/** Readers see hosts: the scheme and a final dot do not make a different one. */
function comparedHost(origin: string): string {
  return hostOf(origin)
    .toLowerCase()
    .replace(/\.(?=:|$)/, "");
}

/** `YYYY-MM-DD` of UTC. @param time ms since 1970 */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function short(name: string): string {
  return name.length <= 80 ? name : `${name.slice(0, 60)}…${name.slice(-16)}`;
}
