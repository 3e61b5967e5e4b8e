import { createPublicKey } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";

/** What a fake key can be: our two kinds, and two that an operator may name by mistake. */
export type KeyKind = "ml-dsa-65" | "ed25519" | "ml-dsa-65-whole-messages" | "p-256";
export type KeyState = "enabled" | "disabled" | "pending-deletion";

/** A key that a fake KMS keeps. Its signatures are noble's. */
export type FakeKey = {
  /** AWS: a UUID. Google: a resource name. */
  id: string;
  /** AWS: begins with "alias/". */
  alias?: string;
  kind: KeyKind;
  /** 32 bytes. */
  seed: Uint8Array;
  state: KeyState;
};

/** How a fake answers a request to sign instead of as it should. */
export type Fault =
  | "throttled"
  | "internal"
  | "unavailable"
  | "denied"
  /** Takes the request, and never answers. */
  | "silent"
  /** Closes the connection once it has the request. */
  | "reset"
  /** One bit of the signature is another. */
  | "flipped"
  /** The signature is by another key. */
  | "other-key"
  | "short"
  /** An answer that never ends. */
  | "endless"
  /** 200 and HTML, as a captive portal's. */
  | "not-json"
  /** Google: a checksum that does not fit the signature. */
  | "damaged"
  /** Google: the service did not see the checksum of the request. */
  | "unchecked"
  /** The answer names another key. */
  | "renamed";

/** Prefixes of SubjectPublicKeyInfo: of ML-DSA-65 (RFC 9881), and of ed25519 (RFC 8410). */
const SPKI = {
  "ml-dsa-65": "308207b2300b0609608648016503040312038207a100",
  ed25519: "302a300506032b6570032100",
};
/** Of the P-256 key with the private scalar 1, whose point is the generator (SEC 2). */
const P256 =
  "3059301306072a8648ce3d020106082a8648ce3d030107034200046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

export function publicKeyOf({ kind, seed }: Pick<FakeKey, "kind" | "seed">): Uint8Array {
  return kind === "ed25519" ? ed25519.getPublicKey(seed) : ml_dsa65.keygen(seed).publicKey;
}

/** DER of the key's SubjectPublicKeyInfo. */
export function spkiOf(key: FakeKey): Buffer {
  if (key.kind === "p-256") return Buffer.from(P256, "hex");
  const prefix = SPKI[key.kind === "ed25519" ? "ed25519" : "ml-dsa-65"];
  return Buffer.concat([Buffer.from(prefix, "hex"), publicKeyOf(key)]);
}

export function pemOf(key: FakeKey): string {
  return createPublicKey({ key: spkiOf(key), format: "der", type: "spki" }).export({ format: "pem", type: "spki" });
}

/** @param input of ed25519 the message, of ML-DSA µ */
export function signatureOf({ kind, seed }: FakeKey, input: Uint8Array, fault: Fault | undefined): Buffer {
  const used = fault === "other-key" ? seed.map((byte) => byte ^ 0xff) : seed;
  const signature =
    kind === "ed25519"
      ? ed25519.sign(input, used)
      : ml_dsa65.internal.sign(input, ml_dsa65.keygen(used).secretKey, { externalMu: true });
  const bytes = Buffer.from(signature);
  if (fault === "flipped") bytes[40] = (bytes[40] ?? 0) ^ 1;
  return fault === "short" ? bytes.subarray(1) : bytes;
}
