import { expect, test } from "vitest";
import { createDiskWatch } from "./disk-watch.ts";

const MIB = 2n ** 20n;

function watching(minBytes: bigint) {
  const seen = { free: undefined as bigint | undefined | Error, lines: [] as string[] };
  const watch = createDiskWatch({
    journal: {
      async freeBytes() {
        if (seen.free instanceof Error) throw seen.free;
        return seen.free;
      },
    },
    minBytes,
    log: {
      error: (_: object, line?: string) => void seen.lines.push(`error ${line}`),
      info: (_: object, line?: string) => void seen.lines.push(`info ${line}`),
    },
  });
  return { seen, watch };
}

test("sales stop while less is free than must be, and the log has a line for each change", async () => {
  const { seen, watch } = watching(256n * MIB);
  const obstacleAt = async (free: typeof seen.free) => {
    seen.free = free;
    await watch.refresh();
    return watch.obstacle();
  };
  expect(await obstacleAt(256n * MIB)).toBeUndefined();
  const low = "disk_low: 255 MiB are free for the journal, of 256.";
  expect(await obstacleAt(256n * MIB - 1n)).toBe(low);
  expect(await obstacleAt(0n)).toContain("disk_low: 0 MiB");
  await expect(obstacleAt(new Error("gone"))).rejects.toThrow("gone");
  expect(watch.obstacle()).toContain("disk_low: 0 MiB");
  expect(await obstacleAt(300n * MIB)).toBeUndefined();
  // Where it cannot be known, nothing is held up by it.
  expect(await obstacleAt(undefined)).toBeUndefined();
  expect(seen.lines).toEqual(["error disk_low", "info the journal has room again"]);
});

test("no room is asked for where the setting is 0", async () => {
  const { seen, watch } = watching(0n);
  seen.free = 0n;
  await watch.refresh();
  expect(watch.obstacle()).toBeUndefined();
});
