import { FormatError, type KeyHistory, requireContinuation, type Trust } from "@attestd/proof";
import { hostOf, printable } from "./printable.ts";
import { RESTS_ON } from "./words.ts";

/** Whose word a verdict takes for whose key it is. */
export type TrustBasis = {
  /**
   * `origin`: the list that this origin serves of itself. `file`: a list that the reader gave. `kid`: keys that the reader
   * named. `sandbox`: the list of the sandbox that stands here. `example`: the list that comes with the page's example.
   */
  basis: "origin" | "file" | "kid" | "sandbox" | "example";
  /** The origin's host, the file's name, the keys' ids; for programs. */
  name: string;
  /** When the list was fetched, or its file written: ms since 1970. Absent where nobody knows, and for `kid`. */
  since?: number;
};

/** A key list by which files are judged. */
export type KeyList = {
  history: KeyHistory;
  basis: TrustBasis;
  /** Of a list that the reader gave: the one of the same host that was known before, where the two differ. */
  known?: { history: KeyHistory; basis: TrustBasis };
};

/** `TrustBasis` as reports for programs have it: the date is of UTC, `YYYY-MM-DD`. */
export type StatedBasis = Omit<TrustBasis, "since"> & { date?: string };

const DAY_MS = 86_400_000;

/** What a report for programs says of a basis. */
export function statedBasis({ basis, name, since }: TrustBasis): StatedBasis {
  return { basis, name, ...(since !== undefined && { date: dayOf(since) }) };
}

/** One sentence that says whose keys a verdict rests on. */
export function basisSentence(trust: TrustBasis | undefined): string {
  if (trust === undefined) return RESTS_ON.none;
  return RESTS_ON[trust.basis](short(printable(trust.name)), dateOf(trust));
}

/** The date of a list as warnings name it. */
export function dateOf({ since }: TrustBasis): string {
  return since === undefined ? "an unknown date" : dayOf(since);
}

/** For `verify`: seconds, infinite where nobody knows the date of the list. Keys that were named have no age. */
export function historyAge({ basis, since }: TrustBasis, now = Date.now()): number {
  if (basis === "kid") return 0;
  return since === undefined ? Number.POSITIVE_INFINITY : Math.max(0, (now - since) / 1000);
}

/**
 * The date of a file, as far as it can be believed: one of tomorrow or later would make a list that never grows old.
 * @param modified ms since 1970, as the file system has it
 */
export function writtenAt(modified: number, now = Date.now()): number | undefined {
  return modified > now + DAY_MS ? undefined : modified;
}

/** Whether `later` is `earlier`, or goes on from it. @returns undefined where it does, else why it does not */
export function breakBetween(earlier: KeyHistory, later: KeyHistory): string | undefined {
  try {
    requireContinuation(earlier, later);
    return undefined;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return error.message;
  }
}

/**
 * The list to judge by once the reader has given one. A given list that the known one of the same host goes on from is
 * confirmed by it and says nothing more: the known one stays.
 */
export function givenBeside(given: KeyList, known: KeyList | undefined): KeyList {
  if (known === undefined || !shareHost(given.history, known.history)) return given;
  if (breakBetween(given.history, known.history) === undefined) return known;
  return { ...given, known: { history: known.history, basis: known.basis } };
}

/** What the known list of the same host says against a given one, for a bundle by this key; undefined where nothing. */
export function doubtOf({ history, known }: KeyList, kid: string | undefined): Doubt | undefined {
  if (known === undefined) return undefined;
  const host = hostOf(known.history.keys.at(-1)?.origin ?? "");
  const why = breakBetween(known.history, history);
  if (why !== undefined) return { host, date: dateOf(known.basis), why };
  return known.history.keys.some((entry) => entry.kid === kid) ? undefined : { host, date: dateOf(known.basis) };
}

/** `why` is absent where the given list goes on from the known one, to which the key is new. */
export type Doubt = { host: string; date: string; why?: string };

/** The history of a trust that is one. */
export function historyOf(trust: Trust | undefined): KeyHistory | undefined {
  return trust && "keys" in trust ? trust : undefined;
}

function shareHost(one: KeyHistory, other: KeyHistory): boolean {
  const hosts = new Set(one.keys.map(({ origin }) => comparedHost(origin)));
  return other.keys.some(({ origin }) => hosts.has(comparedHost(origin)));
}

/** Readers see hosts: scheme and the root's dot make no other one. */
function comparedHost(origin: string): string {
  return hostOf(origin)
    .toLowerCase()
    .replace(/\.(?=:|$)/, "");
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function short(name: string): string {
  return name.length <= 80 ? name : `${name.slice(0, 60)}…${name.slice(-16)}`;
}
