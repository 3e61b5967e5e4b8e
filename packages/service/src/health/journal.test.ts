import { expect, test } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { watchJournal } from "./journal.ts";

function watching() {
  const clock = new TestClock();
  const seen = { find: async (): Promise<undefined> => undefined };
  const watch = watchJournal({ find: () => seen.find() }, clock);
  const status = async (signal = new AbortController().signal) => {
    await watch.refresh(signal);
    return watch.status();
  };
  return { clock, seen, status };
}

test("sales stop while the journal fails or is late, and the log gets the cause", async () => {
  const { clock, seen, status } = watching();
  const refusal = { state: "unavailable", code: "journal_unavailable", reason: "The journal does not answer." };
  expect(await status()).toEqual({ state: "ok" });
  seen.find = () => Promise.reject(new Error("terminating connection"));
  expect(await status()).toEqual({ ...refusal, facts: { err: new Error("terminating connection") } });
  seen.find = () => new Promise(() => undefined);
  const late = status();
  await clock.advance(5_000);
  expect(await late).toEqual({ ...refusal, facts: { err: new Error("no answer within 5 s") } });
  seen.find = async () => undefined;
  expect(await status()).toEqual({ state: "ok" });
});

test("a service that stops learns nothing from a read that it broke off", async () => {
  const { seen, status } = watching();
  const stop = new AbortController();
  seen.find = () => new Promise(() => undefined);
  const asked = status(stop.signal);
  stop.abort();
  expect(await asked).toEqual({ state: "ok" });
});
