import { z } from "zod";
import { AlgorandAddress, Base64Url32, Caip2, PqPublicKey, SafeInteger } from "./primitives.ts";
import { named } from "./registry.ts";

const KeyEntry = named(
  "KeyEntry",
  z
    .strictObject({
      type: z.literal("attestor-key"),
      version: z.literal(1),
      kid: Base64Url32.describe("RFC 7638 thumbprint of the key as an AKP JWK."),
      keySha256: Base64Url32.describe("base64url SHA-256 of the raw public key: the `a` of notes."),
      pqPublicKey: PqPublicKey,
      algorandAddress: AlgorandAddress,
      origin: z.string().describe("Origin of the service whose key it is."),
      fromRound: SafeInteger.describe("First round of the key."),
      untilRound: SafeInteger.optional().describe("First round that is its successor's."),
      revokedRound: SafeInteger.optional().describe("From this round on nothing by this key counts."),
      endorsement: z.base64().length(4412).optional().describe("ML-DSA-65 by the key before it; the first has none."),
    })
    .describe("One key, and the rounds for which it speaks."),
);

/** `proof/trust.ts`. */
export const KeyHistory = named(
  "KeyHistory",
  z
    .strictObject({
      version: z.literal(1),
      ledger: Caip2.describe("CAIP-2 of the ledger on which the notes stand."),
      keys: z.array(KeyEntry).min(1).describe("Oldest first."),
    })
    .describe("The history of the attestor's keys: what a verifier keeps, and holds bundles against."),
);

export const JwkSet = named(
  "JwkSet",
  z
    .strictObject({
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
    })
    .describe("The keys of the history as JSON Web Keys of type AKP. Spans and revocations are in the history alone."),
);
