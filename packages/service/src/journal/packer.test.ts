import { expect, test } from "vitest";
import { createPruner } from "./packer.ts";
import type { PartedRow } from "./record.ts";

/** Calls of one kind, whose dictionary the second one teaches. */
const rows = Array.from({ length: 6 }, (_, i): PartedRow => {
  const [payload, subject] = [
    { payload: { signature: `${i}`.repeat(40) } },
    "what all calls of a kind share ".repeat(9),
  ];
  const request = JSON.stringify({ aliases: [], subject, payload, requirement: {} });
  const parts = {
    payer: "P",
    subject_hash: "00",
    request,
    progress: "{}",
    bundle: "{}",
    attempts: "[]",
  };
  return {
    ...parts,
    evidence: null,
    bundle_id: null,
    key: `${i}`,
    rail: "algorand",
    state: "void",
  } as unknown as PartedRow;
});

test("no row names a dictionary that is not committed yet, however many prune at once", async () => {
  const committed = new Set<string>();
  const missing: string[] = [];
  let used = 0;
  const prune = createPruner({
    dictionaries: () => [],
    take: async () => rows,
    async commit(packed, fresh) {
      // Commits without a dictionary overtake those with one where they can.
      for (let turns = fresh.length > 0 ? 1_000 : 0; turns > 0; turns--) await new Promise(setImmediate);
      for (const { hash } of fresh) committed.add(Buffer.from(hash).toString("hex"));
      for (const { key, dictionary } of packed) {
        if (!dictionary) continue;
        used++;
        if (!committed.has(Buffer.from(dictionary.hash).toString("hex"))) missing.push(key);
      }
    },
  });
  await Promise.all(Array.from({ length: 4 }, () => prune(1, 6)));
  expect(used).toBeGreaterThan(0);
  expect(missing).toEqual([]);
});
