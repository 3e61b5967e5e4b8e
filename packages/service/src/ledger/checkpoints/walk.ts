import { fromBase64 } from "@attestd/proof/encoding";
import { type Checkpoint, checkpointAfter, type StateProofFault } from "@attestd/proof/state-proof";
import { ServiceError } from "../../lib/errors.ts";
import { isUnusable, unavailable } from "../../providers/provider.ts";
import type { FoundProof, ProofSource } from "./proofs.ts";

export type WalkOptions = {
  source: ProofSource;
  /** Runs `checkStateProof` in a thread of its own. */
  verify: (found: FoundProof, checkpoint: Checkpoint) => Promise<StateProofFault | undefined>;
  /** How many state proofs are requested before their predecessor is verified. */
  ahead: number;
  /** The rounds of each state proof; by default those of the first one. */
  interval?: number | undefined;
  /** The walk ends at the first checkpoint at this round or later. */
  to?: number | undefined;
  /** Waits before a request is repeated. @param attempt from 1 */
  pause: (attempt: number, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
};

/** How often a request without a usable answer is made. */
const MAX_ATTEMPTS = 5;

/** A requested state proof, and how its verification ended. */
type Asked = { next: Checkpoint; name: string; verified: Promise<void>; ended?: Ended };
type Ended = PromiseSettledResult<StateProofFault | undefined>;

/**
 * Walks from a checkpoint to the next ones, by the state proof between each two. It does not trust the source: it
 * yields a checkpoint only after the state proof before it was verified on the previous checkpoint.
 * @param from a trusted checkpoint
 * @throws proof_unsound if a state proof does not verify; ProviderError if the source gives no usable answer.
 *   Everything that was verified before is yielded first
 */
export async function* walk(from: Checkpoint, options: WalkOptions): AsyncGenerator<Checkpoint, void> {
  const { source, verify, ahead, to = Number.POSITIVE_INFINITY, signal } = options;
  const genesisHash = fromBase64(from.genesisHash);
  const queue: Asked[] = [];
  let { interval } = options;
  let [last, isEnd]: [Checkpoint, boolean] = [from, false];
  let failure: { error: unknown } | undefined;

  async function ask(): Promise<void> {
    const found = await asked(() => source.after(last, interval, signal), options);
    if (found === undefined) {
      isEnd = true;
      return;
    }
    const { message } = found;
    const { firstAttestedRound: first, lastAttestedRound: until } = message;
    const covers = until - first + 1;
    if (first !== last.round + 1 || (interval !== undefined && covers !== interval))
      throw unavailable(
        `${source.name} gave the state proof of rounds ${first} to ${until} instead of the one after round ${last.round}`,
      );
    interval = covers;
    const checked = verify(found, last);
    last = checkpointAfter(genesisHash, message);
    const one: Asked = { next: last, name: `rounds ${first} to ${until}`, verified: Promise.resolve() };
    one.verified = Promise.allSettled([checked]).then(([ended]) => {
      one.ended = ended;
    });
    queue.push(one);
  }

  let asking: Promise<void> | undefined;
  for (;;) {
    if (!asking && !isEnd && !failure && queue.length < ahead && last.round < to)
      asking = ask()
        .catch((error) => {
          failure = { error };
        })
        .finally(() => {
          asking = undefined;
        });
    const [first] = queue;
    // Verified checkpoints are yielded even while the source does not answer.
    if (first?.ended === undefined) {
      const waits = [first?.verified, asking].filter((one) => one !== undefined);
      if (waits.length === 0) break;
      await Promise.race(waits);
      signal.throwIfAborted();
      continue;
    }
    requireSound(first, first.ended, source);
    queue.shift();
    yield first.next;
  }
  if (failure) throw failure.error;
}

function requireSound({ name }: Asked, ended: Ended, source: ProofSource): void {
  if (ended.status === "rejected") throw ended.reason;
  if (ended.value === undefined) return;
  const message = `${source.name} gave a state proof of ${name} that does not verify: ${ended.value}`;
  throw new ServiceError("proof_unsound", message);
}

/** Repeats a request without a usable answer, because a walk of MainNet takes hours. */
async function asked<T>(ask: () => Promise<T>, { pause, signal, source }: WalkOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnusable(error)) throw error;
      if (attempt === MAX_ATTEMPTS)
        throw unavailable((error as Error).message || `${source.name} gave no usable answer`, error);
    }
    await pause(attempt, signal);
  }
}
