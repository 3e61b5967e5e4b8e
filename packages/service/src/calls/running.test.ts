import { expect, test } from "vitest";
import { aCall } from "../../test/fakes/calls.ts";
import { activeOf, newRunning } from "./running.ts";

test("what is worked on counts each call, and a batch by its items; what can only wait does not count", () => {
  const items = Array.from({ length: 25 }, (_, n) => ({ chain: "base" as const, id: `${n}` }));
  const [single, batch] = [newRunning(aCall()), newRunning(aCall({ subject: { kind: "batch", items } }))];
  expect(activeOf([single, batch])).toEqual({ calls: 2, weight: 4 });
  batch.memory.waiting = true;
  expect(activeOf([single, batch])).toEqual({ calls: 1, weight: 1 });
});
