import type { KeyHistory } from "@attestd/proof";
import { testHistory } from "../bundles/bundles.ts";

/** CAIP-2 of a ledger that can be a sandbox's. */
export const SANDBOX_LEDGER = "algorand:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** The history with another origin in every entry. Nobody endorses the first entry, so one key stays valid. */
export function withOrigin(origin: string, { keys, ...history }: KeyHistory): KeyHistory {
  return { ...history, keys: keys.map((key) => ({ ...key, origin })) };
}

/** The history that a sandbox keeps in `.attestd`. */
export function sandboxHistory(): KeyHistory {
  return withOrigin("http://127.0.0.1:4020", testHistory(undefined, SANDBOX_LEDGER));
}
