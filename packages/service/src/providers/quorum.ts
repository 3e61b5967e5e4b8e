import { setTimeout as pause } from "node:timers/promises";
import { ProviderError, unavailable } from "./provider.ts";

/** Providers answered one question differently. For an alert: at least one of them is wrong. */
export type Conflict = { about: string; answers: readonly { provider: string; answer: string }[] };

/** How many providers must agree, and who hears when they do not. One for all questions of a deployment. */
export type QuorumRules = {
  /**
   * k of n: how many must give the same answer. Absent: one where fewer than three providers are asked, else more than
   * half. k greater than n counts as n.
   */
  quorum?: number;
  onConflict: (conflict: Conflict) => void;
  /** How long the slower providers are waited for once enough have answered; then they count as unreachable. */
  patienceMs?: number;
};

export type Question<T> = {
  /** What is asked, for errors and alerts: "transaction ABC…". */
  about: string;
  /** The fact in an answer, recomputed from its bytes where that is possible. Equal keys are the same fact. */
  same: (answer: T) => string;
  /** Whether an answer, given the others, only shows that its provider lags, and so contradicts no one. */
  behind?: (answer: T, others: readonly T[]) => boolean;
  signal: AbortSignal;
};

const PATIENCE_MS = 2_000;

type Heard<T> = { name: string; answer: T };

/**
 * Asks every provider at once and returns the answers that agree (at least as many as the quorum, first come first).
 *
 * A provider that fails or is too slow is tolerated. A provider that contradicts is tolerated only by a majority quorum
 * of three or more, which outvotes it; otherwise any two different answers refuse. Either way the conflict is reported.
 *
 * @throws ProviderError providers_conflict, or providers_unavailable when too few answered or the signal's time is up;
 * the signal's reason when it was aborted for another reason
 */
export async function agree<P extends { readonly name: string }, T>(
  providers: readonly P[],
  ask: (provider: P, signal: AbortSignal) => Promise<T>,
  question: Question<T>,
  rules: QuorumRules,
): Promise<[T, ...T[]]> {
  const { about, same, signal } = question;
  const enough = Math.min(rules.quorum ?? defaultQuorum(providers.length), providers.length);
  const outvotes = providers.length >= 3 && enough > providers.length / 2;
  const heard: Heard<T>[] = [];
  const failures: ProviderError[] = [];
  const dispute = () =>
    reportConflict(
      { about, answers: heard.map(({ name, answer }) => ({ provider: name, answer: same(answer) })) },
      rules,
    );

  const laggards = new AbortController();
  const ends = AbortSignal.any([signal, laggards.signal]);
  const outstanding = new Map(
    providers.map((provider) => {
      const { name } = provider;
      const told = (answer: T) => ({ provider, name, answer });
      return [provider, ask(provider, ends).then(told, (error: unknown) => ({ provider, error }))] as const;
    }),
  );
  let patience: Promise<undefined> | undefined;

  try {
    for (;;) {
      const facts = countVotes(heard, question);
      const [leader] = facts;
      const won = leader !== undefined && leader.length >= enough;
      const disputed = facts.length > 1;
      if (disputed && !outvotes) throw dispute();
      if (won && (outvotes || outstanding.size === 0)) {
        if (disputed) dispute();
        return leader;
      }
      if (outstanding.size === 0) throw disputed ? dispute() : tooFew(about, failures);

      if (won) patience ??= expire(rules.patienceMs ?? PATIENCE_MS, laggards.signal);
      const arrived = await Promise.race([...outstanding.values(), ...(patience ? [patience] : [])]);
      if (arrived === undefined) {
        if (won) return leader;
        patience = undefined;
        continue;
      }
      outstanding.delete(arrived.provider);
      if ("answer" in arrived) heard.push(arrived);
      else if (signal.aborted) throw ended(signal, about);
      else if (arrived.error instanceof ProviderError) failures.push(arrived.error);
      else throw arrived.error;
    }
  } finally {
    if (outstanding.size > 0 || patience) laggards.abort();
  }
}

/**
 * Asks one provider after the other until one answers: for writes, which any node passes on, and for reads that nothing
 * is signed upon.
 *
 * @throws ProviderError providers_unavailable when none did or the signal's time is up; the signal's reason otherwise
 */
export async function failover<P, T>(
  providers: readonly P[],
  ask: (provider: P, signal: AbortSignal) => Promise<T>,
  { about, signal }: { about: string; signal: AbortSignal },
): Promise<T> {
  const failures: ProviderError[] = [];
  for (const provider of providers) {
    try {
      return await ask(provider, signal);
    } catch (error) {
      if (signal.aborted) throw ended(signal, about);
      if (!(error instanceof ProviderError)) throw error;
      failures.push(error);
    }
  }
  throw tooFew(about, failures);
}

/**
 * Asks every provider at once and takes the first answer, for what any one of them may tell: that a round has come.
 *
 * @throws as failover does
 */
export async function fastest<P, T>(
  providers: readonly P[],
  ask: (provider: P, signal: AbortSignal) => Promise<T>,
  { about, signal }: { about: string; signal: AbortSignal },
): Promise<T> {
  const others = new AbortController();
  const ends = AbortSignal.any([signal, others.signal]);
  try {
    return await Promise.any(providers.map((provider) => ask(provider, ends)));
  } catch (error) {
    if (signal.aborted) throw ended(signal, about);
    const failures: unknown[] = error instanceof AggregateError ? error.errors : [error];
    const mistake = failures.find((failure) => !(failure instanceof ProviderError));
    throw mistake ?? tooFew(about, failures as ProviderError[]);
  } finally {
    others.abort();
  }
}

function expire(ms: number, signal: AbortSignal): Promise<undefined> {
  return pause(ms, undefined, { signal }).catch(() => undefined);
}

function defaultQuorum(providers: number): number {
  return providers < 3 ? 1 : Math.floor(providers / 2) + 1;
}

/** The answers by fact, most votes first, without those whose provider lags. */
function countVotes<T>(heard: readonly Heard<T>[], { same, behind }: Question<T>): [T, ...T[]][] {
  const answers = heard.map(({ answer }) => answer);
  const current = behind ? answers.filter((answer) => !behind(answer, answers)) : answers;
  const groups = [...Map.groupBy(current, same).values()] as [T, ...T[]][];
  return groups.sort((a, b) => b.length - a.length);
}

/** Reports a conflict and returns the error that says it. */
export function reportConflict(conflict: Conflict, { onConflict }: QuorumRules): ProviderError {
  onConflict(conflict);
  const told = conflict.answers.map(({ provider, answer }) => `${provider}: ${answer}`).join("; ");
  return new ProviderError("providers_conflict", `providers contradict one another about ${conflict.about}: ${told}`);
}

function tooFew(about: string, failures: readonly ProviderError[]): ProviderError {
  const contradictory = failures.find(({ code }) => code === "providers_conflict");
  if (contradictory) return contradictory;
  const told = failures.map(({ message }) => message).join("; ");
  return unavailable(`too few providers answered about ${about}${told && `: ${told}`}`, failures[0]);
}

/** A deadline leaves the question open, which is the providers' doing; any other abort is the caller's own. */
export function ended(signal: AbortSignal, about: string): unknown {
  const late = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  return late ? unavailable(`no answer about ${about} in time`, signal.reason) : signal.reason;
}
