import { untilSettled } from "../lib/clock.ts";
import { hasCode, ServiceError } from "../lib/errors.ts";
import { isProviderError, type ProviderError, unavailable } from "./provider.ts";

/** Different answers of providers to one question, for an alert: at least one of them is wrong. */
export type Conflict = { about: string; answers: readonly { provider: string; answer: string }[] };

/** An answer from fewer providers than a majority, while the others were away. */
export type Minority = { about: string; answered: readonly string[]; of: number };

/**
 * A block header whose bytes cannot be made from a node's answer. `unknownFields`: members that may be fields of a new
 * fork.
 */
export type UnreadHeader = { about: string; provider: string; reason: string; unknownFields: readonly string[] };

/** How many providers must agree, and what is called when they do not. All questions of a deployment share them. */
export type QuorumRules = {
  /** k of n: how many must give the same answer; default: a majority. A k greater than n counts as n. */
  quorum?: number | undefined;
  onConflict: (conflict: Conflict) => void;
  /** Called when an answer is accepted from fewer providers than a majority, which only a lower `quorum` allows. */
  onMinority?: (minority: Minority) => void;
  onUnreadHeader?: (header: UnreadHeader) => void;
};

/** Returns how many of n providers are more than half: 1 of 1, 2 of 2, 2 of 3, 3 of 4. */
export function majorityOf(providers: number): number {
  return Math.floor(providers / 2) + 1;
}

/** Returns how many of n providers must agree. */
export function quorumOf(providers: number, { quorum = majorityOf(providers) }: Pick<QuorumRules, "quorum">): number {
  return Math.max(1, Math.min(quorum, providers));
}

export type Question<T> = {
  /** The subject, for errors and alerts: "transaction ABC…". */
  about: string;
  /** Returns the fact in an answer, recomputed from its bytes if possible. Equal strings are the same fact. */
  same: (answer: T) => string;
  /** Whether an answer only shows that its provider lags behind the others, and so contradicts none of them. */
  behind?: (answer: T, others: readonly T[]) => boolean;
  signal: AbortSignal;
};

/**
 * Makes a question about something that a provider may not have, yet or any more: that it has none contradicts no other
 * answer.
 * @param factOf the fact in an answer that is not undefined, like `same` of a question
 * @param none what undefined is called, for errors and alerts
 */
export function ifAny<T>(
  about: string,
  factOf: (answer: T) => string,
  signal: AbortSignal,
  none = "none",
): Question<T | undefined> {
  return {
    about,
    same: (answer) => (answer === undefined ? none : factOf(answer)),
    behind: (answer, others) => answer === undefined && others.some((other) => other !== undefined),
    signal,
  };
}

type Received<T> = { provider: { readonly name: string }; answer: T };

/**
 * Asks every provider at once and returns the answers that agree: at least a quorum, in the order in which they came.
 *
 * A majority decides as soon as it exists, and outvotes the others. Fewer, if the rules allow it, decide once nobody is
 * left to ask, and only if nobody contradicts them. Every conflict is reported.
 * @throws ProviderError providers_conflict, or providers_unavailable when too few answered or the signal's time is up;
 *   the signal's reason when it was aborted for another reason
 */
export function agree<P extends { readonly name: string }, T>(
  providers: readonly P[],
  ask: (provider: P, signal: AbortSignal) => Promise<T>,
  question: Question<T>,
  rules: QuorumRules,
): Promise<[T, ...T[]]> {
  const decide = (ends: AbortSignal) => decideBy(providers, (provider) => ask(provider, ends), question, rules);
  // With a single provider there are no pending requests to abort.
  return providers.length > 1 ? untilSettled(question.signal, decide) : decide(question.signal);
}

async function decideBy<P extends { readonly name: string }, T>(
  providers: readonly P[],
  ask: (provider: P) => Promise<T>,
  question: Question<T>,
  rules: QuorumRules,
): Promise<[T, ...T[]]> {
  const { about, same, signal } = question;
  const enough = quorumOf(providers.length, rules);
  const majority = majorityOf(providers.length);
  const received: Received<T>[] = [];
  const failures: ProviderError[] = [];
  const dispute = () => {
    const answers = received.map(({ provider, answer }) => ({ provider: provider.name, answer: same(answer) }));
    return reportConflict({ about, answers }, rules);
  };

  const outstanding = new Map(
    providers.map((provider) => {
      const answered = (answer: T) => ({ provider, answer });
      return [provider, ask(provider).then(answered, (error: unknown) => ({ provider, error }))] as const;
    }),
  );

  for (;;) {
    const facts = countVotes(received, question);
    const [leader] = facts;
    const votes = leader?.length ?? 0;
    const disputed = facts.length > 1;
    if (leader && votes >= Math.max(enough, majority)) {
      if (disputed) dispute();
      return leader;
    }
    /** Includes every answer that may still come. */
    const most = votes + outstanding.size;
    if (disputed && most < Math.max(enough, majority)) throw dispute();
    if (most < enough) {
      const lag = new ServiceError("block_unknown", "some providers lag behind the others");
      const cause = received.length >= enough ? lag : failures[0];
      throw tooFew(`${about}, on which ${enough} of ${providers.length} must agree`, failures, cause);
    }
    if (leader && outstanding.size === 0) {
      const answered = received.map(({ provider }) => provider.name);
      rules.onMinority?.({ about, answered, of: providers.length });
      return leader;
    }

    const arrived = await Promise.race(outstanding.values());
    outstanding.delete(arrived.provider);
    if ("answer" in arrived) received.push(arrived);
    else if (signal.aborted) throw ended(signal, about);
    else if (isProviderError(arrived.error)) failures.push(arrived.error);
    else throw arrived.error;
  }
}

/**
 * Asks one provider after the other until one answers. Only for writes, which any node passes on, and for reads on
 * which no signature depends.
 * @throws ProviderError providers_unavailable when none did or the signal's time is up; the signal's reason otherwise
 */
export async function failover<P, T>(
  providers: readonly P[],
  ask: (provider: P, signal: AbortSignal) => Promise<T>,
  { about, signal }: Pick<Question<T>, "about" | "signal">,
): Promise<T> {
  const failures: ProviderError[] = [];
  for (const provider of providers) {
    try {
      return await ask(provider, signal);
    } catch (error) {
      if (signal.aborted) throw ended(signal, about);
      if (!isProviderError(error)) throw error;
      failures.push(error);
    }
  }
  throw tooFew(about, failures);
}

/**
 * Asks every provider at once and returns the first answer. Only if any single provider is enough: a new round.
 * @throws as failover does
 */
export async function fastest<P, T>(
  providers: readonly P[],
  ask: (provider: P, signal: AbortSignal) => Promise<T>,
  { about, signal }: Pick<Question<T>, "about" | "signal">,
): Promise<T> {
  if (providers.length === 1) return failover(providers, ask, { about, signal });
  try {
    return await untilSettled(signal, (ends) => Promise.any(providers.map((provider) => ask(provider, ends))));
  } catch (error) {
    if (signal.aborted) throw ended(signal, about);
    const failures: unknown[] = error instanceof AggregateError ? error.errors : [error];
    const defect = failures.find((failure) => !isProviderError(failure));
    throw defect ?? tooFew(about, failures as ProviderError[]);
  }
}

/** Groups the answers by fact, most votes first, without those of lagging providers. */
function countVotes<T>(received: readonly Received<T>[], { same, behind }: Question<T>): [T, ...T[]][] {
  const answers = received.map(({ answer }) => answer);
  const current = behind ? answers.filter((answer) => !behind(answer, answers)) : answers;
  const groups = [...Map.groupBy(current, same).values()] as [T, ...T[]][];
  return groups.sort((a, b) => b.length - a.length);
}

/** Reports a conflict. @returns the error to throw */
export function reportConflict(conflict: Conflict, { onConflict }: QuorumRules): ProviderError {
  onConflict(conflict);
  const answers = conflict.answers.map(({ provider, answer }) => `${provider}: ${answer}`).join("; ");
  return new ServiceError("providers_conflict", `providers contradict one another about ${conflict.about}: ${answers}`);
}

/** Makes the error for too few answers. @param cause default: the first failure */
export function tooFew(
  about: string,
  failures: readonly ProviderError[],
  cause: Error | undefined = failures[0],
): ProviderError {
  const contradictory = failures.find(({ code }) => code === "providers_conflict");
  if (contradictory) return contradictory;
  const reasons = failures.map(({ message }) => message).join("; ");
  return unavailable(`too few providers answered about ${about}${reasons && `: ${reasons}`}`, cause);
}

/** Whether `agree` failed although enough providers answered: some of them lag behind the others, and will catch up. */
export function hasLaggards(error: unknown): boolean {
  return isProviderError(error) && hasCode(error.cause, "block_unknown");
}

/**
 * Returns the error for a question whose signal was aborted: a time-out counts as the providers' failure, any other
 * abort as the caller's.
 * @returns ProviderError, or the signal's reason
 */
export function ended(signal: AbortSignal, about: string): unknown {
  const late = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  return late ? unavailable(`no answer about ${about} in time`, signal.reason) : signal.reason;
}

/** Waits for the answers to a question to every provider. @throws the first failure, or the error of `ended` */
export async function orEnded<T>(answers: Promise<T>, about: string, signal: AbortSignal): Promise<T> {
  try {
    return await answers;
  } catch (error) {
    throw signal.aborted ? ended(signal, about) : error;
  }
}
