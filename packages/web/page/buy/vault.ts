import type { StoredPayment, Vault } from "@attestd/client";
import type { Storage } from "../storage.ts";

/** A vault in IndexedDB: it survives a reload, and all tabs share it. */
export function browserVault(storage: Storage): Vault {
  return {
    get: (id) => storage.get("payments", id),
    put: async (id, payment) =>
      (await storage.update<StoredPayment>("payments", id, (stored) => stored ?? payment)) ?? payment,
    remove: async (id, payment) => {
      await storage.update<StoredPayment>("payments", id, (stored) =>
        stored?.header === payment.header ? undefined : stored,
      );
    },
  };
}
