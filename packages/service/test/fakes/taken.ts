import type { Refusal } from "../../src/payment/refusal.ts";

/** Returns what a check of a payment found. @throws Error with the reason if it refused the payment */
export function taken<T extends object>(found: T | Refusal): T {
  if ("byFacilitator" in found) throw new Error(found.reason);
  return found;
}
