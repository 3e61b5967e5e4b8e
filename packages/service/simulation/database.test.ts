import { LEASE_MS } from "../src/calls/journal.ts";
import { journalContract, replicaContract } from "../test/journal-contract/calls.ts";
import { Database } from "./database.ts";

async function place() {
  let now = 0;
  const database = new Database({ now: () => now, leaseMs: () => LEASE_MS });
  return {
    open: async () => database.connect(),
    evidenceKept: async () =>
      new Set(database.calls.flatMap(({ evidence }) => (evidence ? [JSON.stringify(evidence)] : []))).size,
    remove: async () => undefined,
    outlive: async () => {
      now += LEASE_MS;
    },
  };
}

journalContract("simulated", place);
replicaContract("simulated", place);
