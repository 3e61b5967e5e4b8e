import { isProofError, type KeyHistory, type ProofError, requireContinuation, type Trust } from "@attestd/proof";
import { hostOf, printable } from "./printable.ts";

/** The source of the keys on which a verdict rests. */
export type TrustBasis = {
  /**
   * `origin`: the list that this origin serves. `file`: a list from the reader. `kid`: key ids from the reader.
   * `sandbox`: the local sandbox's list. `example`: the list for the page's example.
   */
  basis: "origin" | "file" | "kid" | "sandbox" | "example";
  /** The origin's host, the file's name or the keys' ids; for programs. */
  name: string;
  /** When the list was fetched, or its file written: ms since 1970. Absent when unknown, and for `kid`. */
  since?: number | undefined;
};

/** A key list by which files are judged. */
export type KeyList = {
  history: KeyHistory;
  basis: TrustBasis;
  /** If the reader gave this list: the same host's list that was known before, if the two differ. */
  known?: Omit<KeyList, "known">;
};

const DAY_MS = 86_400_000;

/** Returns the basis for reports that programs read; the date is `YYYY-MM-DD` in UTC. */
export function statedBasis({ basis, name, since }: TrustBasis) {
  return { basis, name, date: since === undefined ? undefined : dayOf(since) };
}

/** Describes the keys on which a verdict rests, in a sentence. */
export function basisSentence(trust: TrustBasis | undefined): string {
  if (trust === undefined) return "Rests on no key list: none was given.";
  const whole = printable(trust.name);
  const name = whole.length <= 80 ? whole : `${whole.slice(0, 60)}…${whole.slice(-16)}`;
  const date = dateOf(trust);
  switch (trust.basis) {
    case "origin":
      return `Rests on the key list of ${name}, fetched on ${date}.`;
    case "file":
      return `Rests on the key list in ${name}, written on ${date}.`;
    case "sandbox":
      return `Rests on the sandbox's key list in ${name}, written on ${date}.`;
    case "kid":
      return "Rests on the key that was named; it can't show whether the key was withdrawn.";
    case "example":
      return "Rests on the key list of the example.";
  }
}

/** Returns a list's date for warnings. */
export function dateOf({ since }: TrustBasis): string {
  return since === undefined ? "an unknown date" : dayOf(since);
}

/** Returns a list's age for `verify`, in seconds; infinite if its date is unknown. Key ids have no age. */
export function historyAge({ basis, since }: TrustBasis, now = Date.now()): number {
  if (basis === "kid") return 0;
  return since === undefined ? Number.POSITIVE_INFINITY : Math.max(0, (now - since) / 1000);
}

/**
 * Returns a file's date, ms since 1970; undefined when it is a day or more ahead, because such a list would never grow
 * old.
 */
export function writtenAt(modified: number, now = Date.now()): number | undefined {
  return modified > now + DAY_MS ? undefined : modified;
}

/** @returns why `later` does not continue `earlier`; undefined when it does */
export function breakBetween(earlier: KeyHistory, later: KeyHistory): ProofError | undefined {
  try {
    requireContinuation(earlier, later);
  } catch (error) {
    if (!isProofError(error, "format")) throw error;
    return error;
  }
  return undefined;
}

/**
 * Chooses the list to judge by after the reader gave one. If the same host's known list continues the given one, the
 * known list is used, because it contains everything in the given one.
 */
export function preferredList(given: KeyList, known: KeyList | undefined): KeyList {
  if (known === undefined || !shareHost(given.history, known.history)) return given;
  if (breakBetween(given.history, known.history) === undefined) return known;
  return { ...given, known: { history: known.history, basis: known.basis } };
}

/** Returns how the same host's known list contradicts the given one about this key; undefined if it does not. */
export function contradictionOf({ history, known }: KeyList, kid: string | undefined): Contradiction | undefined {
  if (known === undefined) return undefined;
  const why = breakBetween(known.history, history)?.message;
  if (why === undefined && known.history.keys.some((entry) => entry.kid === kid)) return undefined;
  return { host: hostOf(known.history.keys.at(-1)?.origin ?? ""), date: dateOf(known.basis), why };
}

/** `why` is absent when the given list continues the known one, which lacks the key. */
export type Contradiction = { host: string; date: string; why?: string | undefined };

export function doubtSentence({ host, date, why }: Contradiction): string {
  return why === undefined
    ? `${host}'s own list, of ${date}, does not have this key: only the list that you gave says that it is ${host}'s.`
    : `The key list that you gave contradicts ${host}'s own, of ${date} (${why}). The author of this file could have made the list.`;
}

/** Returns the key history; undefined if the trust is key ids. */
export function historyOf(trust: Trust | undefined): KeyHistory | undefined {
  return trust && "keys" in trust ? trust : undefined;
}

function shareHost(one: KeyHistory, other: KeyHistory): boolean {
  const hosts = new Set(one.keys.map(({ origin }) => comparedHost(origin)));
  return other.keys.some(({ origin }) => hosts.has(comparedHost(origin)));
}

/** Normalizes a host for comparison: the scheme and a final dot make no difference to a reader. */
function comparedHost(origin: string): string {
  return hostOf(origin)
    .toLowerCase()
    .replace(/\.(?=:|$)/, "");
}

/** Returns `YYYY-MM-DD` in UTC. @param time ms since 1970 */
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
