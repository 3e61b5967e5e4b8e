import { expect, test } from "vitest";
import { ServiceError } from "../errors.ts";
import { Problem, type ProblemCode } from "../problems.ts";
import type { Subject } from "../subjects/subject.ts";
import { createUnpaidReads, MAX_REPEATED, MAX_UNBOUGHT, WINDOW_MS } from "./unpaid-reads.ts";

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
  "a payer is refused without a look-up whose batches, %s, were not bought",
  async (which) => {
    const { clock, reads, run, asked } = stage();
    for (let n = 0; n < MAX_UNBOUGHT; n++)
      expect(await run("base 1", which === "another" ? n : 0, "source_not_found")).toBe("source_not_found");
    const refused = reads.run("base 1", batch(99), async () => "found");
    expect(() => reads.check("base 1", batch(99))).toThrow(/were read and not bought/);
    expect(() => reads.check("base 2", batch(99))).not.toThrow();
    await expect(refused).rejects.toMatchObject({ code: "over_capacity", retryAfter: WINDOW_MS / 1000 });
    expect(asked()).toBe(MAX_UNBOUGHT);
    expect(await run("base 2", 0, "found")).toBe("found");
    clock.time = WINDOW_MS;
    expect(await run("base 1", 99, "found")).toBe("found");
  },
);

test("what was bought, what had no place and what is read still take nothing more", async () => {
  const { reads, run, asked } = stage();
  for (let n = 0; n < 2 * MAX_UNBOUGHT; n++) expect(await run("base 1", n, "found")).toBe("found");
  for (let n = 0; n < 3 * MAX_UNBOUGHT; n++) {
    await run("base 1", n, "found");
    await run("base 1", n, "over_capacity");
    expect(await run("base 1", -1, "source_reading")).toBe("source_reading");
  }
  expect(() => reads.check("base 1", batch(-1))).not.toThrow();
  expect(await run("base 1", -1, "found")).toBe("found");
  expect(asked()).toBe(11 * MAX_UNBOUGHT + 1);
});

test.each([
  new ServiceError("providers_unavailable", "No node answers."),
  new Problem("providers_conflict", "One item is shown in two ways."),
])("a batch that is repeated because its chains cannot be read takes one place: $code", async (error) => {
  const { reads, run, asked } = stage();
  for (let n = 0; n < MAX_REPEATED; n++) expect(await run("base 1", 0, error)).toBe(error.code);
  for (let n = 1; n < MAX_UNBOUGHT; n++) await run("base 1", n, error);
  expect(asked()).toBe(MAX_REPEATED + MAX_UNBOUGHT - 1);
  // What has been repeated for too long has kept its place, and is no longer under way.
  expect(() => reads.check("base 1", batch(0))).toThrow(/were read and not bought/);
  expect(await run("base 1", 1, "found")).toBe("found");
  expect(await run("base 1", 0, "found")).toBe("found");
});

test("requests of one batch that fail together, more than may repeat it, leave it over", async () => {
  const { run, asked } = stage();
  const error = new ServiceError("providers_unavailable", "No node answers.");
  await Promise.all(Array.from({ length: MAX_REPEATED + 2 }, () => run("base 1", 0, error)));
  for (let n = 1; n < MAX_UNBOUGHT; n++) await run("base 1", n, "source_not_found");
  const before = asked();
  expect(await run("base 1", 0, "found")).toBe("over_capacity");
  expect(asked()).toBe(before);
});

test("a batch whose source is not final yet takes a place each time: its payer chooses the source", async () => {
  const { run, asked } = stage();
  for (let n = 0; n < 10; n++) await run("base 1", 0, "source_not_final");
  expect(asked()).toBe(MAX_UNBOUGHT);
});

test("readings that are begun and left count", async () => {
  const { run, asked } = stage();
  for (let n = 0; n < 10; n++) await run("base 1", n, "source_reading");
  expect(asked()).toBe(MAX_UNBOUGHT);
});

test("other subjects are not bounded", async () => {
  const { reads } = stage();
  const one: Subject = { kind: "transaction", chain: "base", id: "x" };
  for (let n = 0; n < 2 * MAX_UNBOUGHT; n++)
    await expect(
      reads.run("base 1", one, async () => {
        throw new Problem("source_not_found", "None.");
      }),
    ).rejects.toMatchObject({ code: "source_not_found" });
});
