import type { KeyHistory } from "@attestd/proof/trust";
import { testHistory } from "../bundles/bundles.ts";

/** CAIP-2 of a ledger that may be a sandbox's. */
export const SANDBOX_LEDGER = "algorand:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** A history of one key which speaks for another origin: nobody endorses a first entry. */
export function heldAt(origin: string, { keys, ...history }: KeyHistory): KeyHistory {
  return { ...history, keys: keys.map((key) => ({ ...key, origin })) };
}

/** The history that a sandbox keeps in `.attestd`. */
export function sandboxHistory(): KeyHistory {
  return heldAt("http://127.0.0.1:4020", testHistory(undefined, SANDBOX_LEDGER));
}
