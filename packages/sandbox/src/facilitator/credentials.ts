import { generateKeyPairSync, randomUUID } from "node:crypto";
import { toBase64 } from "@attestd/proof/encoding";
import { makeSecretKey } from "../secret-key.ts";
import type { TokenKey } from "./jwt.ts";

/** A new API key, for its owner and for the facilitator. */
export type ApiKey = ReturnType<typeof apiKey>;

/** An API key as its owner gets it from the facilitator's console. */
export type Credentials = ApiKey["credentials"];

/** CDP's Ed25519 key: base64 of 64 bytes, seed and then public key. */
export function cdpEd25519Key(): ApiKey {
  const key = makeSecretKey();
  return apiKey(randomUUID(), "EdDSA", toBase64(key), key.subarray(32));
}

/** CDP's P-256 key: PKCS#8 PEM, under the path that CDP gave its older keys as ids. */
export function cdpP256Key(): ApiKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const secret = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const keyId = `organizations/${randomUUID()}/apiKeys/${randomUUID()}`;
  return apiKey(keyId, "ES256", secret, publicKey.export({ format: "raw-public" }));
}

/** PayAI's key: `payai_sk_` and base64 of PKCS#8 DER. */
export function payaiKey(): ApiKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const secret = `payai_sk_${toBase64(privateKey.export({ type: "pkcs8", format: "der" }))}`;
  return apiKey(randomUUID(), "EdDSA", secret, publicKey.export({ format: "raw-public" }));
}

function apiKey(keyId: string, algorithm: TokenKey["algorithm"], secret: string, publicKey: Uint8Array) {
  return { credentials: { keyId, secret, algorithm }, tokenKey: { keyId, algorithm, publicKey } };
}
