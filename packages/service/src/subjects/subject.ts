import { createHash } from "node:crypto";
import { canonicalBytes } from "@attestd/proof/json";
import type { ChainName } from "../chains/chain.ts";

/** The subject of a paid call, normalised: the chain inferred, ids in their one spelling, heights as integers. */
export type Subject =
  | { kind: "transaction"; chain: ChainName; id: string }
  | { kind: "block"; chain: ChainName; height: number }
  | { kind: "inclusion"; chain: ChainName; id: string; height: number };

export type SubjectOf<K extends Subject["kind"]> = Extract<Subject, { kind: K }>;

/**
 * The identity of a subject: what a payment is bound to.
 *
 * It leaves out route, transport, price and spelling, so that one payment means one thing over every transport.
 *
 * @returns SHA-256 of the RFC 8785 JSON of the subject, hex
 */
export function requestHash(subject: Subject): string {
  return createHash("sha256").update(canonicalBytes(subject)).digest("hex");
}
