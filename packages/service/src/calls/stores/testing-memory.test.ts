import { LEASE_MS } from "../store.ts";
import { replicaContract, storeContract } from "./contract.ts";
import { MemoryJournal } from "./testing-memory.ts";

async function place() {
  let now = 0;
  const journal = new MemoryJournal({ now: () => now });
  return {
    open: async () => journal.replica(),
    remove: async () => undefined,
    outlive: async () => {
      now += LEASE_MS;
    },
  };
}

storeContract("memory", place);
replicaContract("memory", place);
