import { randomBytes } from "node:crypto";

/**
 * A message with this prefix is not a transaction ("TX"), bundle or key entry ("{") or receipt ("e"): it states
 * nothing.
 */
const PROBE = "attestd/probe/v1/";

/** Makes a message that is signed to see whether a key can sign. No earlier signature fits it. */
export function newProbe(): string {
  return `${PROBE}${randomBytes(16).toString("hex")}`;
}

export function isProbe(text: string): boolean {
  return text.startsWith(PROBE) && /^[0-9a-f]{32}$/.test(text.slice(PROBE.length));
}
