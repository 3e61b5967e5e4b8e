import type { Health } from "../health/health.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { Problem } from "../lib/problems.ts";
import type { Runner } from "./runner.ts";

/** What must be left after all attestations, in microAlgos. */
export const ATTESTOR_RESERVE = 100_000n;
/** How long a paid call may wait for its bundle before new calls are refused, in ms: about twenty rounds of MainNet. */
const MAX_QUEUE_AGE_MS = 60_000;

export type CapacityOptions = {
  ledger: Pick<Ledger, "spendable" | "fee">;
  runner: Pick<Runner, "active" | "queueAge">;
  /** The weight that may be between admission and its end at one time. */
  maxInFlight: () => number;
  health: Pick<Health, "refusal">;
};

export type Capacity = ReturnType<typeof createCapacity>;

/** Decides whether another call may begin. It refuses only calls that are not paid yet. */
export function createCapacity({ ledger, runner, maxInFlight, health }: CapacityOptions) {
  let admitting = 0;
  let stopping = false;
  let spendable: bigint | undefined;

  /** Why no call may begin, if so. */
  function refusal(): Problem | undefined {
    if (stopping) return new Problem("stopping", "The service is stopping.", { retryAfter: 5 });
    const unhealthy = health.refusal();
    if (unhealthy) return unhealthy;
    const { calls, weight } = runner.active;
    const inFlight = admitting + calls;
    // What is being admitted weighs 1: a batch whose payment is not verified takes no other's place, and few are read at a time.
    if (admitting + weight >= maxInFlight()) {
      const batches = weight > calls ? ` Batches among them take the room of ${weight - calls} more.` : "";
      return new Problem("over_capacity", `${inFlight} calls are in flight.${batches}`, { retryAfter: 5 });
    }
    // While paid calls are not delivered, new ones would not be either: their money is not taken.
    const age = runner.queueAge;
    if (age > MAX_QUEUE_AGE_MS) {
      const detail = `A paid call has waited for its bundle for ${Math.floor(age / 1000)} s.`;
      return new Problem("over_capacity", detail, { retryAfter: 30 });
    }
    if (spendable === undefined)
      return new Problem("providers_unavailable", "The attestor's balance has not been read yet.", { retryAfter: 5 });
    if (spendable - ledger.fee * BigInt(inFlight + 1) < ATTESTOR_RESERVE)
      return new Problem("attestor_unfunded", "The attestor's account is short of ALGO.", { retryAfter: 300 });
    return undefined;
  }

  return {
    refusal,
    /**
     * Counts a call until the runner carries it, or it is refused.
     *
     * @returns a function that ends the count
     * @throws Problem with the reason why no call may begin
     */
    enter(): () => void {
      const problem = refusal();
      if (problem) throw problem;
      admitting += 1;
      let held = true;
      return () => {
        if (held) admitting -= 1;
        held = false;
      };
    },
    /** Reads the account's balance again, about once a round. @throws ProviderError; the last balance then stands */
    async refresh(signal: AbortSignal): Promise<void> {
      spendable = await ledger.spendable(signal);
    },
    /** Attestations that the account can pay for; undefined until its balance was read. */
    affordable: () => (spendable === undefined ? undefined : attestationsFor(spendable, ledger.fee)),
    /** Admits nothing from now on. */
    stop(): void {
      stopping = true;
    },
  };
}

/** Attestations that an account can pay for. @param spendable microAlgos above its minimum balance */
export function attestationsFor(spendable: bigint, fee: bigint): bigint {
  return spendable > ATTESTOR_RESERVE ? (spendable - ATTESTOR_RESERVE) / fee : 0n;
}
