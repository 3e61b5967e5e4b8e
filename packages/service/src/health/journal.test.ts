import { describe, expect, test } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { journalBehind } from "../calls/copied.ts";
import { watchJournal } from "./journal.ts";

function watching() {
  const clock = new TestClock();
  const seen = {
    find: async (): Promise<undefined> => undefined,
    hasFoundLoss: false,
    markCopied: async (): Promise<void> => undefined,
    done: [] as string[],
  };
  const journal = {
    find: () => seen.find(),
    async markCopied() {
      seen.done.push("marks the copy");
      await seen.markCopied();
    },
  };
  const carrier = {
    hasFoundLoss: () => seen.hasFoundLoss,
    async restart(take: () => Promise<void>) {
      seen.done.push("ends its work");
      await take();
      seen.hasFoundLoss = false;
    },
  };
  const watch = watchJournal(journal, carrier, clock);
  const status = async (signal = new AbortController().signal) => {
    await watch.refresh(signal);
    return watch.status();
  };
  return { clock, seen, status, watch };
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

describe("a journal that is behind", () => {
  const BEHIND = {
    state: "unavailable",
    code: "journal_unavailable",
    reason: "journal_behind: The journal lacks commits that it had confirmed. Its calls are being taken up again.",
  };
  const LOST = {
    state: "degraded",
    reason: expect.stringMatching(/^journal_behind: the journal lost commits before .* attestd audit lists/),
  };

  test("is taken as it is once no call is carried; sales stop until the look after that, and the loss stays told", async () => {
    const { seen, status } = watching();
    const error = journalBehind("key");
    seen.find = () => Promise.reject(error);
    expect(await status()).toEqual({ ...BEHIND, facts: { err: error } });
    expect(seen.done).toEqual(["ends its work", "marks the copy"]);
    seen.find = async () => undefined;
    expect(await status()).toEqual(LOST);
    expect(await status()).toEqual(LOST);
    expect(seen.done).toHaveLength(2);
  });

  test("shows at once by the row of a call, though it answers", async () => {
    const { seen, status, watch } = watching();
    expect(await status()).toEqual({ state: "ok" });
    seen.hasFoundLoss = true;
    expect(watch.status()).toMatchObject(BEHIND);
    await status();
    expect(await status()).toEqual(LOST);
    expect(seen.done).toEqual(["ends its work", "marks the copy"]);
  });

  test("is tried again while it cannot be marked, and nothing is sold meanwhile though it answers", async () => {
    const { seen, status } = watching();
    seen.find = () => Promise.reject(journalBehind("key"));
    seen.markCopied = () => Promise.reject(new Error("terminating connection"));
    expect(await status()).toEqual({ ...BEHIND, facts: { err: new Error("terminating connection") } });
    seen.find = async () => undefined;
    expect(await status()).toMatchObject(BEHIND);
    seen.markCopied = async () => undefined;
    expect([await status(), await status()]).toMatchObject([BEHIND, LOST]);
  });

  test("sells nothing until the next start where its file was replaced, and says how", async () => {
    const { seen, status } = watching();
    seen.find = () => Promise.reject(journalBehind("replaced"));
    seen.markCopied = seen.find;
    const reason = expect.stringContaining("run attestd restore --in-place, and start the service.");
    for (let i = 0; i < 3; i++) expect(await status()).toMatchObject({ state: "unavailable", reason });
  });
});
