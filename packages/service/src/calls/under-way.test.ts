import { beforeEach, describe, expect, test, vi } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { within } from "../observe/tracing/context.ts";
import { createUnderWay, type Held, type UnderWay } from "./under-way.ts";

let clock: TestClock;
let underWay: UnderWay;
beforeEach(() => {
  clock = new TestClock();
  underWay = createUnderWay({ maxBytes: 100, maxOfClient: 50, clock, now: () => clock.now() });
});

const by = (client: string, bytes: number, hasBegun = false) =>
  within({ call: { stages: {} }, client: () => client }, () => underWay.enter(bytes, hasBegun));

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
  expect([await isOver(stranger), underWay.bytes()]).toEqual([false, 100]);
  other[Symbol.dispose]();
  other[Symbol.dispose]();
  expect([await isOver(stranger), await isOver(third), underWay.bytes()]).toEqual([true, false, 60]);
  own[0]?.[Symbol.dispose]();
  expect(await isOver(third)).toBe(true);
  for (const held of [own[1], await third, await stranger]) held?.[Symbol.dispose]();
  expect(underWay.bytes()).toBe(0);
});

test("what waits for too long is refused, and may come again; an answer that has begun waits longer", async () => {
  const held = await by("A", 50);
  const refused = expect(by("A", 1)).rejects.toMatchObject({
    code: "over_capacity",
    retryAfter: 10,
    members: { retry: { sameHeader: true } },
  });
  const begun = by("A", 1, true);
  await clock.advance(5_000);
  await refused;
  await clock.advance(20_000);
  held[Symbol.dispose]();
  (await begun)[Symbol.dispose]();
  expect(underWay.bytes()).toBe(0);
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

describe("answers that are not read", () => {
  const MIB = 2 ** 20;
  beforeEach(() => {
    underWay = createUnderWay({ maxBytes: 40 * MIB, maxOfClient: 15 * MIB, clock, now: () => clock.now() });
  });

  /** An answer on a connection. */
  function send(client: string, mib: number) {
    let isClosed = false;
    let held: Held | undefined;
    const close = () => {
      isClosed = true;
      held?.[Symbol.dispose]();
    };
    held = underWay.tryEnter({ client, bytes: mib * MIB, close });
    return { held, isClosed: () => isClosed };
  }

  test("give way when they are stale, the stalest first, and what is being read never does", async () => {
    const [idle, read, idler] = [send("a", 10), send("b", 10), send("c", 10)];
    await clock.advance(5_000);
    read.held?.took(2 * MIB);
    idle.held?.took(MIB);
    await clock.advance(24_999);
    expect(send("d", 11).held).toBeUndefined();
    await clock.advance(5_001);
    read.held?.took(2 * MIB);
    expect(send("d", 11).held).toBeDefined();
    expect([idle, read, idler].map((one) => one.isClosed())).toEqual([false, false, true]);
    // To close the other would not have made room enough.
    expect(send("e", 20).held).toBeUndefined();
    expect([idle, read, idler].map((one) => one.isClosed())).toEqual([false, false, true]);
    expect(underWay.bytes()).toBe(31 * MIB);
  });

  test("keep no place by a little that is read now and then; a reader of 50 kB/s keeps it", async () => {
    const [trickle, slow, other] = [send("a", 14), send("b", 14), send("c", 10)];
    for (let n = 0; n < 9; n++) {
      await clock.advance(26_000);
      trickle.held?.took(64 * 1024);
      slow.held?.took(26 * 50_000);
      other.held?.took(26 * 50_000);
    }
    expect(send("d", 10).held).toBeDefined();
    expect([trickle, slow, other].map((one) => one.isClosed())).toEqual([true, false, false]);
  });

  test("of one client give way to its next one when it reads none of them, and nobody else's do", async () => {
    const [gone, other] = [send("a", 15), send("b", 15)];
    expect(send("a", 10).held).toBeUndefined();
    await clock.advance(30_000);
    expect(send("a", 10).held).toBeDefined();
    expect([gone, other].map((one) => one.isClosed())).toEqual([true, false]);
  });

  test("are pieces of a long bundle, too: its connection is closed for those that come", async () => {
    const close = vi.fn();
    const answer = { ended: () => undefined, close };
    await within({ call: { stages: {} }, client: () => "a", answer }, () => underWay.enter(15 * MIB));
    await clock.advance(30_000);
    expect((await by("a", 10 * MIB)).took).toBeDefined();
    expect(close).toHaveBeenCalledOnce();
  });
});
