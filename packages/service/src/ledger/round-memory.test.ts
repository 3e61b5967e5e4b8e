import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RoundMemory } from "./round-memory.ts";

describe("RoundMemory", () => {
  it("holds nothing at first", () => {
    const memory = new RoundMemory();
    expect([memory.latest, memory.oldest, memory.roundOf("A")]).toEqual([0, Number.POSITIVE_INFINITY, undefined]);
  });

  it("holds the latest 1100 rounds and no more", () => {
    const memory = new RoundMemory();
    for (let round = 5; round <= 1_105; round++) memory.add(round, [`in ${round}`]);
    expect([memory.oldest, memory.latest]).toEqual([6, 1_105]);
    expect([memory.roundOf("in 5"), memory.roundOf("in 6")]).toEqual([undefined, 6]);
  });

  it("holds every round in which a transaction of 1,000 rounds may be, when its window ends and 99 rounds later", () => {
    const memory = new RoundMemory();
    const window = { firstValid: 101, lastValid: 1_101 };
    for (let round = 1; round <= window.lastValid; round++) memory.add(round, []);
    for (let late = 0; late < 100; late++) {
      expect(memory.oldest).toBeLessThanOrEqual(window.firstValid);
      memory.add(memory.latest + 1, []);
    }
  });

  it("holds fewer rounds when they are full", () => {
    const memory = new RoundMemory();
    const full = (round: number) => Array.from({ length: RoundMemory.IDS / 2 }, (_, i) => `${round}.${i}`);
    for (const round of [1, 2, 3]) memory.add(round, full(round));
    expect([memory.oldest, memory.latest, memory.roundOf("1.0"), memory.roundOf("3.0")]).toEqual([2, 3, undefined, 3]);
  });

  it("has every id of the consecutive rounds from oldest to latest, and no other", () => {
    const additions = fc.array(fc.record({ gap: fc.constantFrom(0, 0, 0, 0, 7), ids: fc.nat(3) }), { maxLength: 40 });
    fc.assert(
      fc.property(additions, (rounds) => {
        const memory = new RoundMemory();
        const added = new Map<number, string[]>();
        for (const { gap, ids } of rounds) {
          const round = memory.latest + 1 + gap;
          added.set(
            round,
            Array.from({ length: ids }, (_, i) => `${round}.${i}`),
          );
          memory.add(round, added.get(round) ?? []);
          for (let held = memory.oldest; held <= memory.latest; held++) expect(added.has(held)).toBe(true);
          for (const [at, names] of added)
            for (const name of names) expect(memory.roundOf(name)).toBe(at < memory.oldest ? undefined : at);
        }
      }),
    );
  });
});
