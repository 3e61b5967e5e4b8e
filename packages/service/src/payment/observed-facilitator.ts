import { count, timed } from "../metrics/meter.ts";
import { stage } from "../tracing/stage.ts";
import { DecidedByChain, type Facilitator, type SettleAnswer } from "./facilitator.ts";

/** Counts a facilitator's answers. @param host of its URL */
export function observedFacilitator(facilitator: Facilitator, rail: string, host: string): Facilitator {
  const time = <T>(operation: keyof Facilitator, ask: () => Promise<T>) =>
    timed("facilitatorSeconds", { facilitator: host, operation }, ask);
  return {
    verify: (...asked) =>
      stage("verify", { "attestd.facilitator": host }, () => time("verify", () => facilitator.verify(...asked))),
    supported: (signal) => time("supported", () => facilitator.supported(signal)),
    async settle(payment, requirement, signal) {
      const settled = (outcome: string) => count("settlements", { rail, facilitator: host, outcome });
      try {
        const answer = await time("settle", () => facilitator.settle(payment, requirement, signal));
        settled(outcomeOf(answer));
        return answer;
      } catch (error) {
        settled(signal.reason instanceof DecidedByChain ? "not_awaited" : "failed");
        throw error;
      }
    },
  };
}

function outcomeOf({ success, isPending }: SettleAnswer): string {
  if (success) return "success";
  return isPending ? "pending" : "refused";
}
