import { expect, test } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { createJournalWatch } from "./journal-watch.ts";

function watching() {
  const clock = new TestClock();
  const seen = { find: async (): Promise<undefined> => undefined, lines: [] as string[] };
  const watch = createJournalWatch({
    journal: { find: () => seen.find() },
    clock,
    log: {
      error: (_: object, line?: string) => void seen.lines.push(`error ${line}`),
      info: (_: object, line?: string) => void seen.lines.push(`info ${line}`),
    },
  });
  const obstacle = async () => {
    await watch.refresh(new AbortController().signal);
    return watch.obstacle();
  };
  return { clock, seen, watch, obstacle };
}

test("sales stop while the journal fails or is late, and the log has a line for each change", async () => {
  const { clock, seen, obstacle } = watching();
  expect(await obstacle()).toBeUndefined();
  seen.find = () => Promise.reject(new Error("terminating connection"));
  expect(await obstacle()).toBe("The journal does not answer.");
  seen.find = () => new Promise(() => undefined);
  const late = obstacle();
  await clock.advance(5_000);
  expect(await late).toBe("The journal does not answer.");
  seen.find = async () => undefined;
  expect(await obstacle()).toBeUndefined();
  expect(seen.lines).toEqual(["error journal_unavailable", "info the journal answers again"]);
});

test("a service that stops learns nothing from a read that it broke off", async () => {
  const { seen, watch } = watching();
  const stop = new AbortController();
  seen.find = () => new Promise(() => undefined);
  const asked = watch.refresh(stop.signal);
  stop.abort();
  await asked;
  expect(watch.obstacle()).toBeUndefined();
  expect(seen.lines).toEqual([]);
});
