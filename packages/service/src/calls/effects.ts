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
        return payment.begin(call, memory);
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
