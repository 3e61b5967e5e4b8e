import type { StoredPayment, Vault } from "@attestd/client";
import type { Storage } from "../storage.ts";

/** Signed payments in the browser's own database: they are there after a reload, and in every tab. */
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
