import { z } from "zod";
import { AlgorandAddress, Base64Url32, Caip2, PqPublicKey, SafeInteger } from "./primitives.ts";
import { namedObject } from "./registry.ts";

const KeyEntry = namedObject("KeyEntry", "One key, and the rounds in which it is valid.", {
  type: z.literal("attestor-key"),
  version: z.literal(1),
  kid: Base64Url32.describe("RFC 7638 thumbprint of the key as an AKP JWK."),
  keySha256: Base64Url32.describe("base64url SHA-256 of the raw public key: the `a` of notes."),
  pqPublicKey: PqPublicKey,
  algorandAddress: AlgorandAddress,
  origin: z.string().describe("Origin of the service that signs with the key."),
  fromRound: SafeInteger.describe("First round of the key."),
  untilRound: SafeInteger.optional().describe("First round of its successor."),
  revokedRound: SafeInteger.optional().describe("From this round on, no signature by this key counts."),
  endorsement: z.base64().length(4412).optional().describe("ML-DSA-65 by the key before it; the first has none."),
});

/** In agreement with `proof/trust.ts`. */
export const KeyHistory = namedObject(
  "KeyHistory",
  "The history of the attestor's keys. A verifier keeps it, and checks bundles against it.",
  {
    version: z.literal(1),
    ledger: Caip2.describe("CAIP-2 of the ledger that has the notes."),
    keys: z.array(KeyEntry).min(1).describe("Oldest first."),
  },
);

export const JwkSet = namedObject(
  "JwkSet",
  "The keys of the history as JSON Web Keys of type AKP. Their rounds and revocations are in the history alone.",
  {
    keys: z.array(
      z.strictObject({
        kty: z.literal("AKP"),
        alg: z.literal("ML-DSA-65"),
        use: z.literal("sig"),
        pub: z
          .string()
          .regex(/^[A-Za-z0-9_-]{2603}$/)
          .describe("Raw public key, 1952 bytes, base64url."),
        kid: Base64Url32.describe("RFC 7638 thumbprint."),
      }),
    ),
  },
);
