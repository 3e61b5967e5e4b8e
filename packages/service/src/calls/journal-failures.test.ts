import { afterEach, expect, test } from "vitest";
import { ServiceError } from "../lib/errors.ts";
import { admissionJournal, keptJournal } from "./journal-failures.ts";

const logged: unknown[] = [];
const log = { error: (...line: unknown[]) => void logged.push(line) };
afterEach(() => void logged.splice(0));
/** A line for each failure, with its cause. */
const requireLines = (lines: number) =>
  expect(logged).toEqual(
    Array.from({ length: lines }, () => [{ err: new Error("Connection terminated") }, expect.any(String)]),
  );

test.each(["journal_busy", "expectation_lost"] as const)("%s of the journal stays as it is", async (code) => {
  const failed = () => Promise.reject(new ServiceError(code, "why"));
  const journal = admissionJournal({ expect: failed, insert: failed } as never, log);
  await expect(journal.expect(["name"])).rejects.toMatchObject({ name: "ServiceError", code });
  await expect(journal.insert({} as never)).rejects.toMatchObject({ name: "ServiceError", code });
});

test("any other failure is a payment of which nothing is known, which the payer repeats", async () => {
  const failed = () => Promise.reject(new Error("Connection terminated"));
  const all = { find: failed, insert: failed, exposure: failed, expect: failed, isExpectedElsewhere: failed };
  const journal = admissionJournal(all as never, log);
  for (const ask of [
    () => journal.find("key"),
    () => journal.insert({} as never),
    () => journal.exposure("base", "payer"),
    () => journal.expect(["name"]),
    () => journal.isExpectedElsewhere("name"),
  ])
    await expect(ask()).rejects.toMatchObject({ code: "payment_unknown", members: { retry: { sameHeader: true } } });
  requireLines(5);
});

test("what was delivered cannot be fetched, and nothing is said of a payment", async () => {
  const failed = () => Promise.reject(new Error("Connection terminated"));
  const reads = { stored: failed, bodyOf: failed, partsOf: failed };
  const journal = keptJournal({ ...reads, evidence: failed, stateProof: failed }, log);
  for (const ask of [
    () => journal.stored("id"),
    () => journal.bodyOf("id"),
    () => journal.partsOf("id", 0, 1),
    () => journal.evidence("record", "id"),
    () => journal.stateProof("id"),
  ])
    await expect(ask()).rejects.toMatchObject({ code: "journal_unavailable", retryAfter: 15 });
  requireLines(5);
});
