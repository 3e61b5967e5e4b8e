import { createHash } from "node:crypto";
import { toBase64 } from "@attestd/proof/encoding";
import type { Json } from "./values.ts";

/** What a bundle is about. */
export type Subject = { source?: Json; block?: Json; inclusion?: Json; note: Record<string, Json>; levels: string[] };
/** How many alterations of the bytes, and of the proof. */
export type Alterations = { bytes: number; proof: number };
export type Kind = "transaction" | "block" | "inclusion";

/** Bytes with ids and hashes that are right for them, whatever they are. */
export type Made = {
  txn: Uint8Array;
  txnId: string;
  head: Uint8Array;
  blockHash: string;
  height: number;
  inclusion: Json | undefined;
  /** CAIP-2. */
  network: string;
  levels: string[];
};

export function sha(name: "sha256" | "sha512-256", ...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(createHash(name).update(Buffer.concat(parts)).digest());
}
export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** What a bundle says of the bytes, and what its note does. */
export function subjectOf(kind: Kind, chain: string, made: Made): Subject {
  const { txn, txnId, head, blockHash, height, inclusion, network: c, levels } = made;
  const [ofTxn, ofHead] = [hex(sha("sha256", txn)), hex(sha("sha256", head))];
  const source = { chain, txnId, hashSha256: ofTxn, txnBytesBase64: toBase64(txn) };
  const block = { chain, height, blockHash, headerBase64: toBase64(head), hashSha256: ofHead };
  const note = { b: blockHash, c, h: ofHead, n: height };
  // The time of no header: a transaction's bundle does not hold one.
  const outcome = chain === "base" ? { s: height % 2 } : {};
  if (kind === "transaction") return { source, levels, note: { ...note, ...outcome, h: ofTxn, t: txnId, u: height } };
  return kind === "block" ? { block, levels, note } : { source, block, inclusion: inclusion ?? null, levels, note };
}
