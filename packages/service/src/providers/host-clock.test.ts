import { beforeEach, describe, expect, test } from "vitest";
import { createHostClock } from "./host-clock.ts";

const FAR = "203.0.113.7";
const NEAR = "::ffff:192.168.1.9";
/** The true time, Unix ms; how far this host's clock is ahead of it; and how long the machine has slept. */
let [time, ahead, slept] = [0, 0, 0];
let clock: ReturnType<typeof createHostClock>;
beforeEach(() => {
  [time, ahead, slept] = [Date.UTC(2026, 10, 28, 12), 0, 0];
  clock = createHostClock({ now: () => time + ahead, monotonic: () => time - slept });
});

const wait = (ms: number) => {
  time += ms;
};
const dateOf = (at: number) => new Date(at).toUTCString();
/** An exchange of 100 ms with a host whose clock is off. */
function exchange(
  host: string,
  { off = 0, address = FAR, age }: { off?: number; address?: string; age?: string } = {},
) {
  const answered = clock.begin();
  wait(100);
  answered(host, { date: dateOf(time + off), age, address });
}
const judged = () => {
  const { verdict, aheadMs, by, of } = clock.compare();
  return [verdict, Math.round(aheadMs / 1000), by.length, of];
};

describe("a clock", () => {
  test("that no upstream has answered about is not judged", () => {
    expect(judged()).toEqual(["unknown", 0, 0, 0]);
  });

  test.each([
    [900_000, ["wrong", 899, 2, 2]],
    [-900_000, ["wrong", -899, 2, 2]],
    [27_000, ["wrong", 26, 2, 2]],
    [-27_000, ["wrong", -26, 2, 2]],
    [20_000, ["doubtful", 19, 2, 2]],
    [3_000, ["right", 0, 2, 2]],
    [0, ["right", 0, 2, 2]],
  ])("that is %i ms ahead of two hosts is judged by both", (off, verdict) => {
    ahead = off;
    exchange("a");
    exchange("b");
    const [word, seconds, ...counts] = judged();
    expect([word, ...counts]).toEqual([verdict[0], verdict[2], verdict[3]]);
    expect(Math.abs(Number(seconds) - Number(verdict[1]))).toBeLessThanOrEqual(1);
  });

  test("that one host alone contradicts is only doubtful: it may lie", () => {
    exchange("liar", { off: -900_000 });
    expect(judged()).toEqual(["doubtful", 899, 1, 1]);
  });

  test("is doubtful where two hosts contradict one another, and right by two of three", () => {
    exchange("liar", { off: 900_000 });
    exchange("b");
    expect(judged()).toEqual(["doubtful", -900, 1, 2]);
    exchange("c");
    expect(judged()).toEqual(["right", 0, 2, 3]);
    exchange("d", { off: 900_000 });
    expect(judged()).toEqual(["doubtful", -900, 2, 4]);
    exchange("e", { off: 900_000 });
    expect(judged()[0]).toBe("wrong");
  });

  test("is not called right by hosts of its own network, which may have the same clock", () => {
    ahead = 900_000;
    for (const host of ["algod", "indexer", "base"]) exchange(host, { address: NEAR, off: ahead });
    expect(judged()).toEqual(["right", 0, 3, 3]);
    exchange("facilitator");
    exchange("node");
    expect(judged()).toEqual(["wrong", 899, 2, 2]);
  });

  test("is not judged by what a cache kept, by answers that took long, or without a date", () => {
    exchange("cached", { off: -900_000, age: "900" });
    const answered = clock.begin();
    wait(6_000);
    answered("slow", { date: dateOf(time - 900_000), age: undefined, address: FAR });
    clock.begin()("undated", { date: "yesterday", age: undefined, address: FAR });
    clock.begin()("undated", { date: undefined, age: undefined, address: FAR });
    expect(judged()).toEqual(["unknown", 0, 0, 0]);
  });

  test("is not judged by hosts that have not answered for a minute", () => {
    exchange("liar", { off: -900_000 });
    wait(61_000);
    expect(judged()).toEqual(["unknown", 0, 0, 0]);
  });

  test("is judged anew once it was set, and not by an answer that came meanwhile", () => {
    ahead = 900_000;
    exchange("a");
    exchange("b");
    const answered = clock.begin();
    ahead = 0;
    answered("c", { date: dateOf(time), age: undefined, address: FAR });
    expect(judged()).toEqual(["unknown", 0, 0, 0]);
    exchange("a");
    exchange("b");
    expect(judged()).toEqual(["right", 0, 2, 2]);
  });

  test("is right after a sleep of the machine, during which answers had waited", () => {
    exchange("a");
    const answered = clock.begin();
    const date = dateOf(time);
    wait(3_600_000);
    slept = 3_600_000;
    answered("b", { date, age: undefined, address: FAR });
    expect(judged()).toEqual(["unknown", 0, 0, 0]);
    exchange("a");
    exchange("b");
    expect(judged()).toEqual(["right", 0, 2, 2]);
  });
});

describe("the ledger's blocks", () => {
  /** Makes rounds of 3 s, each read 1 s after the time in its header, which is `behind` the true time. */
  function rounds(count: number, behind = 0) {
    for (let i = 0; i < count; i++) {
      clock.noteBlock("blocks", time - 1_000 - behind);
      wait(3_000);
    }
  }

  test("that come steadily show a clock that is ahead, or behind", () => {
    ahead = 900_000;
    rounds(5);
    expect(judged()).toEqual(["unknown", 0, 0, 0]);
    rounds(5);
    exchange("a");
    const [verdict, seconds] = judged();
    expect([verdict, Number(seconds) > 885]).toEqual(["wrong", true]);
    ahead = -900_000;
    rounds(10);
    exchange("a");
    expect(judged().slice(0, 2)).toEqual(["wrong", -899]);
  });

  test("that are recent outweigh a host that lies", () => {
    rounds(10);
    exchange("liar", { off: -900_000 });
    expect(judged()).toEqual(["doubtful", 899, 1, 2]);
  });

  test("show nothing while the chain is halted, though its newest block grows old", () => {
    rounds(10);
    const newest = time;
    for (let i = 0; i < 60; i++) {
      wait(15_000);
      exchange("a");
    }
    expect([time - newest > 900_000, judged()]).toEqual([true, ["right", 0, 1, 1]]);
  });

  test("show nothing while the chain, or a node, catches up: their ages change", () => {
    // After a halt, Algorand's times advance by at most 25 s per round.
    for (let behind = 900_000; behind > 0; behind -= 22_000) rounds(1, behind);
    exchange("a");
    expect(judged()).toEqual(["right", 0, 1, 1]);
  });
});
