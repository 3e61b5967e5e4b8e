import { isProofError, type KeyHistory, type ProofError, requireContinuation, type Trust } from "@attestd/proof";
import { hostOf, printable } from "./printable.ts";

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
  since?: number | undefined;
};

/** A key list that files are judged by. */
export type KeyList = {
  history: KeyHistory;
  basis: TrustBasis;
  /** For a list that the reader gave: the list of the same host that was known before, if the two differ. */
  known?: Omit<KeyList, "known">;
};

const DAY_MS = 86_400_000;

/** The basis in reports for programs: the date is `YYYY-MM-DD` of UTC. */
export function statedBasis({ basis, name, since }: TrustBasis) {
  return { basis, name, date: since === undefined ? undefined : dayOf(since) };
}

/** The sentence about the keys that a verdict rests on. */
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

/** The date of a list in warnings. */
export function dateOf({ since }: TrustBasis): string {
  return since === undefined ? "an unknown date" : dayOf(since);
}

/** Age of a list for `verify`, in seconds; infinite when its date is unknown. Key ids have no age. */
export function historyAge({ basis, since }: TrustBasis, now = Date.now()): number {
  if (basis === "kid") return 0;
  return since === undefined ? Number.POSITIVE_INFINITY : Math.max(0, (now - since) / 1000);
}

/** The date of a file, ms since 1970; undefined when it is a day or more ahead: such a list would never grow old. */
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
 * The list to judge by after the reader gave one. If the known list of the same host continues the given one, the known
 * list is used: it contains everything that the given one does.
 */
export function givenBeside(given: KeyList, known: KeyList | undefined): KeyList {
  if (known === undefined || !shareHost(given.history, known.history)) return given;
  if (breakBetween(given.history, known.history) === undefined) return known;
  return { ...given, known: { history: known.history, basis: known.basis } };
}

/** How the known list of the same host contradicts the given one about this key; undefined if it does not. */
export function doubtOf({ history, known }: KeyList, kid: string | undefined): Doubt | undefined {
  if (known === undefined) return undefined;
  const why = breakBetween(known.history, history)?.message;
  if (why === undefined && known.history.keys.some((entry) => entry.kid === kid)) return undefined;
  return { host: hostOf(known.history.keys.at(-1)?.origin ?? ""), date: dateOf(known.basis), why };
}

/** `why` is absent when the given list continues the known one, which does not have the key. */
export type Doubt = { host: string; date: string; why?: string | undefined };

export function doubtSentence({ host, date, why }: Doubt): string {
  return why === undefined
    ? `${host}'s own list, of ${date}, does not have this key: only the list that you gave says that it is ${host}'s.`
    : `The key list that you gave contradicts ${host}'s own, of ${date} (${why}). The author of this file could have made the list.`;
}

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
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
