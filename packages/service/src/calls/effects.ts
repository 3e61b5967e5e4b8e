import { stage } from "../observe/tracing/stage.ts";
import type { createAttestation } from "./attestation.ts";
import type { Perform } from "./perform.ts";
import type { createSettlement } from "./settlement.ts";

export type EffectsOptions = {
  settlement: ReturnType<typeof createSettlement>;
  attestation: ReturnType<typeof createAttestation>;
  /** Rejects unless the attestor's key is the current one. */
  keys: { confirm(): Promise<void> };
  /** Throws while the attestor cannot sign. */
  signers: { confirm(): void };
};

/**
 * Everything that a call does outside of the journal. No effect commits anything: each returns what happened. Each is a
 * stage of the call, in the metrics, the traces and the call's log line.
 */
export function createEffects({ settlement, attestation, keys, signers }: EffectsOptions): Perform {
  return (call, effect, ...rest) => {
    const run = () => perform(call, effect, ...rest);
    // A delivered payment is watched for minutes, on purpose.
    return effect.do === "watch" || effect.do === "nothing" ? run() : stage(effect.do, {}, run);
  };

  async function perform(...[call, effect, memory, deadline]: Parameters<Perform>): ReturnType<Perform> {
    switch (effect.do) {
      case "settle":
        try {
          // A key that is not the current one must not take money. Nor must any while nothing can be signed: the money
          // would be taken long before anything is delivered.
          await keys.confirm();
          signers.confirm();
        } catch (error) {
          // The payment may still end on its chain.
          const ended = await settlement.reconcile(call, memory, deadline);
          if (ended) return ended;
          throw error;
        }
        return settlement.settle(call, memory, deadline);
      case "reconcile":
        return settlement.reconcile(call, memory, deadline);
      case "sign":
        // A key that is not the current one must not make a note.
        await keys.confirm();
        return attestation.sign(call, memory, deadline);
      case "submit":
        return attestation.submit(call, effect.attempt, deadline);
      case "seal":
        return attestation.seal(call, effect.attempt, memory, deadline);
      case "watch":
        return settlement.watch(call, memory, deadline);
      case "nothing":
        return undefined;
    }
  }
}
