import { beforeEach, expect, test } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { within } from "../tracing/context.ts";
import { createReading, type Reading } from "./reading.ts";

let clock: TestClock;
let reading: Reading;
beforeEach(() => {
  clock = new TestClock();
  reading = createReading({ maxBytes: 100, maxOfClient: 50, clock });
});

const by = (client: string, bytes: number) =>
  within({ call: { stages: {} }, client: () => client }, () => reading.enter(bytes));

/** Whether a promise has been kept by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  promise.then(() => (over = true));
  await clock.advance(0);
  return over;
}

test("bytes are under way up to a bound in all, and of each client, and the next waits until some are given back", async () => {
  const own = [await by("A", 25), await by("A", 25)];
  const third = by("A", 25);
  expect(await isOver(third)).toBe(false);
  const other = await by("B", 50);
  const stranger = by("C", 10);
  expect([await isOver(stranger), reading.underWay()]).toEqual([false, 100]);
  other[Symbol.dispose]();
  other[Symbol.dispose]();
  expect([await isOver(stranger), await isOver(third), reading.underWay()]).toEqual([true, false, 60]);
  own[0]?.[Symbol.dispose]();
  expect(await isOver(third)).toBe(true);
  for (const held of [own[1], await third, await stranger]) held?.[Symbol.dispose]();
  expect(reading.underWay()).toBe(0);
});

test("what waits for too long is refused, and may come again; an answer that has begun waits longer", async () => {
  const held = await by("A", 50);
  const refused = expect(by("A", 1)).rejects.toMatchObject({
    code: "over_capacity",
    retryAfter: 5,
    members: { retry: { sameHeader: true } },
  });
  const begun = within({ call: { stages: {} }, client: () => "A" }, () => reading.enter(1, true));
  await clock.advance(5_000);
  await refused;
  await clock.advance(20_000);
  held[Symbol.dispose]();
  (await begun)[Symbol.dispose]();
  expect(reading.underWay()).toBe(0);
});

test("what alone is more than a bound goes when nothing else is under way", async () => {
  const held = await by("A", 1);
  const large = by("B", 1_000);
  expect(await isOver(large)).toBe(false);
  held[Symbol.dispose]();
  const one = await large;
  expect(await isOver(by("C", 1))).toBe(false);
  one[Symbol.dispose]();
});
