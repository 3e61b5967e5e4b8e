import { expect, test } from "vitest";
import { aCall } from "../../test/fakes/calls.ts";
import type { Attempt } from "../ledger/ledger.ts";
import { createCopiedCalls } from "./copied.ts";
import type { OpenCall } from "./journal.ts";

const call = (key: string, createdAt: number): OpenCall => ({ key, state: "settling", createdAt });

/** A journal with calls of the times 1 and 2 out of a copy, and one of 3 that began since; the ledger has one of 1. */
function copied() {
  const searches: string[][] = [];
  const journal = {
    since: 100 as number | undefined,
    until: 2,
    calls: [call("one", 1), call("two", 2), call("three", 3)],
    open: async () => journal.calls,
    copiedUntil: async () => journal.until,
    mayLackSince: () => journal.since,
  };
  const found = { txid: "ATTEST" } as Attempt;
  const attestationOf = createCopiedCalls(journal, (calls) => {
    searches.push(calls.map(({ key }) => key));
    return async (key) => (key === "one" ? found : undefined);
  });
  return { searches, journal, found, attestationOf };
}

test("calls of before the copy are searched for on the ledger together, and those of after it not at all", async () => {
  const { searches, journal, found, attestationOf } = copied();
  const [one, two, three] = journal.calls as [OpenCall, OpenCall, OpenCall];
  expect(await Promise.all([one, two, three].map(attestationOf))).toEqual([found, undefined, undefined]);
  expect(await attestationOf({ ...one, bundle: { id: "S" } })).toBeUndefined();
  expect(searches).toEqual([["one", "two"]]);
});

test("after another loss the ledger is searched again: what it had none of may have been attested for since", async () => {
  const { searches, journal, attestationOf } = copied();
  await attestationOf(call("two", 2));
  journal.since = 200;
  await attestationOf(call("two", 2));
  expect(searches).toHaveLength(2);
});

test("a call that came among the open ones later is searched for, too", async () => {
  const { searches, journal, attestationOf } = copied();
  await attestationOf(call("two", 2));
  journal.calls.push(call("adopted", 2));
  await attestationOf(call("adopted", 2));
  expect(searches.at(-1)).toContain("adopted");
});

test("a journal that lacks nothing is not even asked, and one that cannot be read is asked again", async () => {
  const { journal, attestationOf } = copied();
  const { open } = journal;
  journal.open = () => Promise.reject(new Error("no answer"));
  await expect(attestationOf(call("two", 2))).rejects.toThrow("no answer");
  journal.since = undefined;
  expect(await attestationOf(aCall())).toBeUndefined();
  Object.assign(journal, { since: 100, open });
  expect(await attestationOf(call("two", 2))).toBeUndefined();
});
