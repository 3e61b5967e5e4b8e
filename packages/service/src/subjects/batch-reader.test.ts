import { describe, expect, test } from "vitest";
import type { SourceChain, SourceTransaction, SourceTransactions } from "../chains/chain.ts";
import { ServiceError } from "../lib/errors.ts";
import { createBatchReader } from "./batch-reader.ts";
import type { SubjectOf } from "./subject.ts";

const AT_A_TIME = 2;
const WAITING = 30;

/** Makes a chain that answers about a batch only when told to. @param bytes of each transaction */
function stage(bytes = 1) {
  const open: (() => void)[] = [];
  let asked = 0;
  const chain = {
    async transactions(ids: readonly string[]): Promise<SourceTransactions> {
      asked += 1;
      await new Promise<void>((resolve) => open.push(resolve));
      return new Map(ids.map((id) => [id, { txnId: id, bytes: new Uint8Array(bytes) } as SourceTransaction]));
    },
  } as unknown as SourceChain;
  const clock = {
    time: 0,
    now: () => clock.time,
    sleep: () => new Promise<never>(() => undefined),
    timeout: () => new AbortController().signal,
  };
  const reader = createBatchReader(new Map([["base", chain]]), clock);
  const never = new AbortController().signal;
  return {
    clock,
    asked: () => asked,
    read: (n: number, { signal = never, items = 1 } = {}) => reader.read(batch(n, items), signal),
    /** Ends the oldest pending reading. */
    async answer() {
      for (let i = 0; i < 100 && open.length === 0; i++) await Promise.resolve();
      const end = open.shift();
      if (!end) throw new Error("no batch is being read");
      end();
      for (let i = 0; i < 20; i++) await Promise.resolve();
    },
  };
}

const batch = (n: number, items = 1): SubjectOf<"batch"> => ({
  kind: "batch",
  items: Array.from({ length: items }, (_, i) => ({ chain: "base", id: `${n} ${i}` })),
});

describe("batches", () => {
  test("are read two at a time, thirty wait, and the next is refused with nothing asked", async () => {
    const { read, asked, answer } = stage();
    const all = Array.from({ length: AT_A_TIME + WAITING }, (_, n) => read(n));
    await expect(read(99)).rejects.toMatchObject({ code: "over_capacity", retryAfter: 5 });
    expect(asked()).toBe(AT_A_TIME);
    for (const one of all) {
      await answer();
      expect(await one).toHaveLength(1);
    }
    expect(asked()).toBe(all.length);
  });

  test("are read on when their request ends, once, and are there for the request that comes again", async () => {
    const { read, asked, answer } = stage();
    await expect(read(1, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "source_reading",
      retryAfter: 5,
    });
    const again = [read(1), read(1)];
    await answer();
    expect((await Promise.all(again)).map(({ length }) => length)).toEqual([1, 1]);
    await read(1);
    expect(asked()).toBe(1);
  });

  test("that no node answers for are read again only after the pause that their payer is told", async () => {
    let asked = 0;
    const chain = {
      async transactions() {
        asked += 1;
        throw new ServiceError("providers_unavailable", "No node answers.");
      },
    } as unknown as SourceChain;
    const clock = {
      time: 0,
      now: () => clock.time,
      sleep: () => new Promise<never>(() => undefined),
      timeout: () => never,
    };
    const never = new AbortController().signal;
    const reader = createBatchReader(new Map([["base", chain]]), clock);
    for (let n = 0; n < 3; n++)
      await expect(reader.read(batch(1), never)).rejects.toMatchObject({ code: "providers_unavailable" });
    expect(asked).toBe(1);
    clock.time = 10_000;
    await expect(reader.read(batch(1), never)).rejects.toMatchObject({ code: "providers_unavailable" });
    expect(asked).toBe(2);
  });

  test("are forgotten after a minute", async () => {
    const { clock, read, asked, answer } = stage();
    const first = read(1);
    await answer();
    await first;
    clock.time = 60_001;
    const second = read(1);
    await answer();
    await second;
    expect(asked()).toBe(2);
  });

  test.each([
    [1, 266_240],
    [2, 135_168],
    [1_000, 4_358],
  ])("of %i items have 256 KiB, and 4 KiB for each item, in all", async (items, bytes) => {
    const { read: fit, answer: answerFitting } = stage(bytes);
    const fitting = fit(1, { items });
    await answerFitting();
    expect(await fitting).toHaveLength(items);
    const { read, answer } = stage(bytes + 1);
    const large = read(1, { items });
    const refused = expect(large).rejects.toMatchObject({
      code: "sources_too_large",
      message: expect.stringMatching(
        new RegExp(
          `^the transactions have more than ${256 * 1024 + items * 4096} bytes in all; .*"?1 \\d+ \\(${bytes + 1}\\)`,
        ),
      ),
    });
    await answer();
    await refused;
  });

  test("are kept within 17 MiB, the newest of them", async () => {
    const { read, asked, answer } = stage(4_358);
    const of = (n: number) => read(n, { items: 1_000 });
    for (let n = 0; n < 6; n++) {
      const one = of(n);
      await answer();
      await one;
    }
    await of(5);
    await of(3);
    expect(asked()).toBe(6);
    const dropped = of(2);
    await answer();
    await dropped;
    expect(asked()).toBe(7);
  });
});
