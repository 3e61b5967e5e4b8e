import { ServiceError } from "../errors.ts";
import type { Evidence } from "../subjects/product.ts";
import { APART, type Call, evidenceOf } from "./call.ts";
import type { Journal } from "./journal.ts";

/** Evidence while it is used. */
export type HeldEvidence = Disposable & { readonly evidence: Evidence };

/** Pieces of large evidence that are in memory at a time. */
const LARGE_AT_A_TIME = 2;

/**
 * The evidence of calls for their effects. What stands apart from the row is read when it is needed, for a few calls at a time:
 * a hundred batches that are carried on after a restart would otherwise fill the memory.
 */
export function createEvidence(journal: Pick<Journal, "evidenceOf">) {
  const waiting: (() => void)[] = [];
  let used = 0;

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else used -= 1;
  }

  async function large(key: string): Promise<HeldEvidence> {
    if (used < LARGE_AT_A_TIME) used += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      const evidence = await journal.evidenceOf(key);
      if (!evidence) throw new ServiceError("call_held_up", `the journal has no evidence of ${key}`);
      let isOver = false;
      const end = () => {
        if (!isOver) leave();
        isOver = true;
      };
      return { evidence, [Symbol.dispose]: end };
    } catch (error) {
      leave();
      throw error;
    }
  }

  return {
    /** @returns the evidence, to be disposed of when nothing of it is in use. @throws call_held_up for a call that is final */
    async of(call: Call): Promise<HeldEvidence> {
      if (call.evidence === APART) return large(call.key);
      return { evidence: evidenceOf(call), [Symbol.dispose]: () => undefined };
    },
  };
}
