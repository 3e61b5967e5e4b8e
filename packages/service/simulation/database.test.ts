import { LEASE_MS } from "../src/calls/journal.ts";
import { journalContract, replicaContract } from "../test/journal-contract/calls.ts";
import { copiedContract, lossContract } from "../test/journal-contract/copied.ts";
import { refusedContract } from "../test/journal-contract/refused.ts";
import { Database } from "./database.ts";

async function place() {
  let now = 0;
  const database = new Database({ now: () => now, leaseMs: () => LEASE_MS });
  return {
    open: async () => database.connect(),
    evidenceKept: async () =>
      [...new Set(database.calls.flatMap(({ evidence }) => (evidence ? [JSON.stringify(evidence)] : [])))].reduce(
        (sum, kept) => sum + 1 + (JSON.parse(kept).items?.length ?? 0),
        0,
      ),
    async fillRefused(count: number) {
      const journal = database.connect();
      const filled = Array.from({ length: count }, (_, i) => ({
        key: `other ${i + 1}`,
        payer: `${i}`,
        subjectHash: "",
      }));
      for (const payment of filled) await journal.rememberRefused(payment);
    },
    remove: async () => undefined,
    async lose(key: string, left: "row" | "nothing") {
      // The newest commits are those of this call.
      const { version = 0 } = database.find(key) ?? {};
      database.failOver(left === "row" ? version - 1 : version);
    },
    outlive: async () => {
      now += LEASE_MS;
    },
  };
}

journalContract("simulated", place);
replicaContract("simulated", place);
refusedContract("simulated", place);
copiedContract("simulated", place);
lossContract("simulated", place);
