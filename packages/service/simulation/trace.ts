import type { Found } from "./batch.ts";
import { INVARIANTS } from "./invariants.ts";

/** Steps that are frequent and explain nothing. */
const IDLE = /^ *[\d.]+ \S* +(round|sees the round|awakes|time is up|waits|acts|hears|refreshes|renew|lease|balance)\b/;

/** A violation as a person reads it: what was broken, how to see it again, and the course of things without the idle. */
export function formatFound({ seed, violation, trace }: Found): string {
  return [
    `seed ${seed} breaks: ${INVARIANTS[violation.invariant]}`,
    `  ${violation.detail}`,
    ...trace.filter((line) => !IDLE.test(line)),
    `again: npm run test:sim -- --runs 1 --seed ${seed}`,
  ].join("\n");
}
