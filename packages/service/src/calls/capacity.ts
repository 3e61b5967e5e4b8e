import type { Ledger } from "../ledger/ledger.ts";
import { Problem } from "../problems.ts";

export type CapacityOptions = {
  ledger: Pick<Ledger, "spendable">;
  /** Calls that are being worked on now. */
  carried: () => number;
  /** Calls that may be between admission and their end at one time. */
  mostInFlight: number;
  /** Paid calls that wait for their bundles: how long the oldest has in ms, 0 without one, and how long it may. */
  queue?: { age: () => number; longestMs: number };
  /** microAlgos that must remain after every call in flight has paid its fee. */
  reserve: bigint;
  /** microAlgos that one attestation transaction costs. */
  fee: bigint;
  /** Why the attestor's key may not sign, as a sentence. */
  keyObstacle?: () => string | undefined;
  /** Why the journal may take no further call, as a sentence. */
  diskObstacle?: () => string | undefined;
};

/** Decides whether another call may begin. Only calls that have not been paid for are ever turned away. */
export interface Capacity {
  /**
   * Takes a place for the time until the call is carried, or refused.
   *
   * @returns gives the place back
   * @throws Problem saying why there is none
   */
  enter(): () => void;
  /** Reads the account's balance again; call it once a round or so. @throws ProviderError, the last balance stands */
  refresh(signal: AbortSignal): Promise<void>;
  /** From now on nothing is admitted. */
  stop(): void;
  /** Why nothing is admitted, if so. */
  refusal(): Problem | undefined;
}

export function createCapacity(options: CapacityOptions): Capacity {
  const { ledger, carried, mostInFlight, queue, reserve, fee, keyObstacle, diskObstacle } = options;
  let admitting = 0;
  let stopping = false;
  let spendable: bigint | undefined;

  function refusal(): Problem | undefined {
    if (stopping) return new Problem("stopping", "The service is stopping.", { retryAfter: 5 });
    const obstacle = keyObstacle?.();
    if (obstacle) return new Problem("attestor_key_unusable", obstacle, { retryAfter: 60 });
    const full = diskObstacle?.();
    if (full) return new Problem("disk_low", full, { retryAfter: 60 });
    const inFlight = admitting + carried();
    if (inFlight >= mostInFlight)
      return new Problem("over_capacity", `${inFlight} calls are in flight.`, { retryAfter: 5 });
    // What is not delivered to those who have paid would not be to others: their money is not taken.
    const age = queue?.age() ?? 0;
    if (queue && age > queue.longestMs) {
      const detail = `A paid call has waited for its bundle for ${Math.floor(age / 1000)} s.`;
      return new Problem("over_capacity", detail, { retryAfter: 30 });
    }
    if (spendable === undefined)
      return new Problem("providers_unavailable", "The attestor's balance has not been read yet.", { retryAfter: 5 });
    if (spendable - fee * BigInt(inFlight + 1) < reserve)
      return new Problem("attestor_unfunded", "The attestor's account is short of ALGO.", { retryAfter: 300 });
    return undefined;
  }

  return {
    enter() {
      const problem = refusal();
      if (problem) throw problem;
      admitting += 1;
      let held = true;
      return () => {
        if (held) admitting -= 1;
        held = false;
      };
    },
    async refresh(signal) {
      spendable = await ledger.spendable(signal);
    },
    stop() {
      stopping = true;
    },
    refusal,
  };
}
