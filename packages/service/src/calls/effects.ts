import { createAttestation } from "./attestation.ts";
import type { EffectsOptions, Perform } from "./perform.ts";
import { createSettlement } from "./settlement.ts";

/** Everything that a call does to the world. No effect commits anything: each returns what happened. */
export function createEffects(options: EffectsOptions): Perform {
  const payment = createSettlement(options);
  const attestation = createAttestation(options);
  return async (call, effect, memory, stop) => {
    switch (effect.do) {
      case "settle":
        return payment.settle(call, memory, stop);
      case "reconcile":
        return payment.reconcile(call, memory, stop);
      case "sign":
        return attestation.sign(call, memory, stop);
      case "submit":
        return attestation.submit(call, effect.attempt, stop);
      case "seal":
        return attestation.seal(call, effect.attempt, memory, stop);
      case "watch":
        return payment.watch(call, memory, stop);
      case "nothing":
        return undefined;
    }
  };
}

/**
 * Performs an effect only while the attestor's keys may be used for it, and can. A payment that must not be settled now is
 * still looked up: it may end on its chain.
 *
 * @throws what `confirm` throws
 */
export function confirmedPerform(
  perform: Perform,
  keys: { confirm(): Promise<void> },
  signers: { confirm(): void },
): Perform {
  return async (call, effect, ...rest) => {
    try {
      // A key that is not the current one must not take money or make a note.
      if (effect.do === "settle" || effect.do === "sign") await keys.confirm();
      // Nor while nothing can be signed: the money would be taken long before anything is delivered.
      if (effect.do === "settle") signers.confirm();
    } catch (error) {
      const ended = effect.do === "settle" && (await perform(call, { do: "reconcile" }, ...rest));
      if (ended) return ended;
      throw error;
    }
    return perform(call, effect, ...rest);
  };
}
