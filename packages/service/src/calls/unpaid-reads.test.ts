import { expect, test } from "vitest";
import { ServiceError } from "../lib/errors.ts";
import { Problem, type ProblemCode } from "../lib/problems.ts";
import type { Subject } from "../subjects/subject.ts";
import { createUnpaidReads, MAX_REFUSED, MAX_UNDER_WAY, WINDOW_MS } from "./unpaid-reads.ts";

function stage() {
  const clock = { time: 0, now: () => clock.time };
  const reads = createUnpaidReads(clock);
  let asked = 0;
  const run = (payer: string, n: number, end: ProblemCode | "found" | Error) =>
    reads
      .run(payer, batch(n), async () => {
        asked += 1;
        if (end === "found") return "found";
        throw end instanceof Error ? end : new Problem(end, "Not now.", { retryAfter: 1 });
      })
      .catch((error: Problem) => error.code);
  return { clock, reads, run, asked: () => asked };
}

const batch = (n: number): Subject => ({
  kind: "batch",
  items: [
    { chain: "base", id: `${n}` },
    { chain: "base", id: "x" },
  ],
});

test.each(["the same", "another"])(
  "a payer is refused without a look-up whose batches, %s, named what cannot be attested",
  async (which) => {
    const { clock, reads, run, asked } = stage();
    for (let n = 0; n < MAX_REFUSED; n++)
      expect(await run("base 1", which === "another" ? n : 0, "source_not_found")).toBe("source_not_found");
    const refused = reads.run("base 1", batch(99), async () => "found");
    expect(() => reads.check("base 1", batch(99))).toThrow(/named transactions that cannot be attested/);
    expect(() => reads.check("base 2", batch(99))).not.toThrow();
    await expect(refused).rejects.toMatchObject({ code: "over_capacity", retryAfter: WINDOW_MS / 1000 });
    expect(asked()).toBe(MAX_REFUSED);
    expect(await run("base 2", 0, "found")).toBe("found");
    clock.time = WINDOW_MS;
    expect(await run("base 1", 99, "found")).toBe("found");
  },
);

test("a payer whose batches are good has as many under way as there is room for, and is told so of the next", async () => {
  const { reads } = stage();
  const open = Array.from({ length: MAX_UNDER_WAY }, () => Promise.withResolvers<string>());
  const reading = open.map(({ promise }, n) => reads.run("base 1", batch(n), () => promise));
  const full = { code: "over_capacity", message: expect.stringMatching(/are being read/), retryAfter: 5 };
  await expect(reads.run("base 1", batch(99), async () => "found")).rejects.toMatchObject(full);
  expect(() => reads.check("base 2", batch(99))).not.toThrow();
  for (const { resolve } of open) resolve("found");
  expect(await Promise.all(reading)).toEqual(open.map(() => "found"));
  expect(await reads.run("base 1", batch(99), async () => "found")).toBe("found");
});

test("what was bought, what had no place and what is read still take nothing more", async () => {
  const { reads, run, asked } = stage();
  for (let n = 0; n < 2 * MAX_UNDER_WAY; n++) expect(await run("base 1", n, "found")).toBe("found");
  for (let n = 0; n < 3 * MAX_UNDER_WAY; n++) {
    await run("base 1", n, "found");
    await run("base 1", n, "over_capacity");
    expect(await run("base 1", -1, "source_reading")).toBe("source_reading");
  }
  expect(() => reads.check("base 1", batch(-1))).not.toThrow();
  expect(await run("base 1", -1, "found")).toBe("found");
  expect(asked()).toBe(11 * MAX_UNDER_WAY + 1);
});

test.each([
  new ServiceError("providers_unavailable", "No node answers."),
  new Problem("providers_conflict", "One item is shown in two ways."),
  new TypeError("A fault of our own."),
])("what we could not read never counts against its payer, and is read again: $message", async (error) => {
  const { clock, run, asked } = stage();
  const code = "code" in error ? error.code : undefined;
  for (let n = 0; n < 20; n++) expect(await run("base 1", 0, error)).toBe(code);
  for (let n = 1; n < MAX_UNDER_WAY; n++) expect(await run("base 1", n, error)).toBe(code);
  expect(asked()).toBe(20 + MAX_UNDER_WAY - 1);
  // Each keeps its place as long as its payer is told to wait: ids that no node can answer for are not read without a pause.
  expect(await run("base 1", 99, "found")).toBe("over_capacity");
  expect(await run("base 1", 0, "found")).toBe("found");
  clock.time = 10_000;
  for (let n = 0; n <= MAX_UNDER_WAY; n++) expect(await run("base 1", n, "found")).toBe("found");
});

test("requests of one batch that are refused together count once", async () => {
  const { run } = stage();
  const together = (n: number) => Promise.all([1, 2, 3].map(() => run("base 1", n, "source_not_found")));
  for (let n = 1; n < MAX_REFUSED; n++) await together(n);
  expect(await run("base 1", 0, "source_not_found")).toBe("source_not_found");
  expect(await run("base 1", 0, "found")).toBe("over_capacity");
});

test("a batch whose source is not final yet counts each time: its payer chooses the source", async () => {
  const { run, asked } = stage();
  for (let n = 0; n < 10; n++) await run("base 1", 0, "source_not_final");
  expect(asked()).toBe(MAX_REFUSED);
});

test("readings that are begun and left keep their places for a while, and then count against their payer", async () => {
  const { clock, run, asked } = stage();
  for (let n = 0; n < 20; n++) await run("base 1", n, "source_reading");
  expect(asked()).toBe(MAX_UNDER_WAY);
  expect(await run("base 1", 0, "found")).toBe("found");
  clock.time = WINDOW_MS;
  expect(await run("base 1", 99, "found")).toBe("over_capacity");
  expect(await run("base 2", 99, "found")).toBe("found");
  clock.time = 2 * WINDOW_MS;
  expect(await run("base 1", 99, "found")).toBe("found");
});

test("a reading that its payer comes back for counts against nobody, however long it takes and however it fails", async () => {
  const { clock, run } = stage();
  for (let n = 0; n < MAX_UNDER_WAY; n++) await run("base 1", n, "source_reading");
  for (clock.time = WINDOW_MS / 2; clock.time < 3 * WINDOW_MS; clock.time += WINDOW_MS / 2)
    for (let n = 0; n < MAX_UNDER_WAY; n++) expect(await run("base 1", n, "source_reading")).toBe("source_reading");
  const away = new ServiceError("providers_unavailable", "No node answers.");
  for (let n = 0; n < MAX_UNDER_WAY; n++) await run("base 1", n, n % 2 === 0 ? "found" : away);
  clock.time += WINDOW_MS;
  expect(await run("base 1", 99, "found")).toBe("found");
});

test("other subjects are not bounded", async () => {
  const { reads } = stage();
  const one: Subject = { kind: "transaction", chain: "base", id: "x" };
  for (let n = 0; n < 2 * MAX_UNDER_WAY; n++)
    await expect(
      reads.run("base 1", one, async () => {
        throw new Problem("source_not_found", "None.");
      }),
    ).rejects.toMatchObject({ code: "source_not_found" });
});
