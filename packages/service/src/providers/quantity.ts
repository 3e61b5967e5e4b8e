import { untilSettled } from "../lib/clock.ts";
import { isProviderError, type ProviderError } from "./provider.ts";
import { ended, type Question, type QuorumRules, quorumOf, tooFew } from "./quorum.ts";

/**
 * Asks every provider at once for a quantity that honest ones may see differently because it changes: a round, a
 * balance, a fee.
 *
 * Fewer liars than a quorum cannot move the result beyond what an honest provider says, up or down, while as many
 * honest ones answer as must agree.
 * @returns the greatest value that a quorum of the providers reach
 * @throws ProviderError providers_unavailable when too few answered or the signal's time is up; the signal's reason
 *   when it was aborted for another reason
 */
export async function agreeOnQuantity<P, T extends number | bigint>(
  providers: readonly P[],
  ask: (provider: P, signal: AbortSignal) => Promise<T>,
  { about, signal }: Pick<Question<T>, "about" | "signal">,
  rules: Pick<QuorumRules, "quorum">,
): Promise<T> {
  const enough = quorumOf(providers.length, rules);
  const values: T[] = [];
  const failures: ProviderError[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const judge = () => {
    const left = providers.length - values.length - failures.length;
    const sorted: readonly T[] = values.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0));
    // Missing answers count once as the least, and once as the greatest possible.
    const least: T | undefined = sorted[enough - 1];
    const greatest: T | undefined = sorted[enough - 1 - left];
    if (least !== undefined && least === greatest) resolve(least);
    else if (values.length + left < enough)
      reject(tooFew(`${about}, which ${enough} of ${providers.length} must tell`, failures));
  };
  const askOne = async (provider: P, ends: AbortSignal) => {
    try {
      values.push(await ask(provider, ends));
      judge();
    } catch (error) {
      if (signal.aborted) return reject(ended(signal, about));
      if (!isProviderError(error)) return reject(error);
      failures.push(error);
      judge();
    }
  };
  return untilSettled(signal, (ends) => {
    for (const provider of providers) void askOne(provider, ends);
    if (providers.length === 0) judge();
    return promise;
  });
}
