import { expect, test } from "vitest";
import { watchDisk } from "./disk.ts";

const MIB = 2n ** 20n;

function watching(minBytes: bigint) {
  let free: bigint | undefined | Error;
  const watch = watchDisk(
    {
      async freeBytes() {
        if (free instanceof Error) throw free;
        return free;
      },
    },
    minBytes,
  );
  return async (next: typeof free) => {
    free = next;
    await watch.refresh();
    return watch.status();
  };
}

test("sales stop while less is free than must be", async () => {
  const statusAt = watching(256n * MIB);
  const low = (mib: number) => ({
    state: "unavailable",
    code: "disk_low",
    reason: `disk_low: ${mib} MiB are free for the journal, of 256.`,
  });
  expect(await statusAt(256n * MIB)).toEqual({ state: "ok" });
  expect(await statusAt(256n * MIB - 1n)).toMatchObject(low(255));
  expect(await statusAt(0n)).toMatchObject(low(0));
  await expect(statusAt(new Error("gone"))).rejects.toThrow("gone");
  expect(await statusAt(300n * MIB)).toEqual({ state: "ok" });
  // Where it cannot be known, nothing is held up by it.
  expect(await statusAt(undefined)).toEqual({ state: "ok" });
});

test("no room is asked for where the setting is 0", async () => {
  expect(await watching(0n)(0n)).toEqual({ state: "ok" });
});
