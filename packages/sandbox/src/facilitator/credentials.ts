import { generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import type { TokenKey } from "./jwt.ts";

/** An API key as its owner gets it from the facilitator's console. */
export interface Credentials {
  keyId: string;
  secret: string;
  algorithm: TokenKey["algorithm"];
}

/** A new API key, for its owner and for the facilitator. */
export interface ApiKey {
  credentials: Credentials;
  tokenKey: TokenKey;
}

/** CDP's Ed25519 key: base64 of 64 bytes, seed and then public key. */
export function cdpEd25519Key(): ApiKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d, x } = jwkOf(privateKey);
  return apiKey(randomUUID(), "EdDSA", Buffer.concat([d, x]).toString("base64"), x);
}

/** CDP's P-256 key: PKCS#8 PEM, under the path that CDP gave its older keys as ids. */
export function cdpP256Key(): ApiKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = jwkOf(privateKey);
  const secret = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const keyId = `organizations/${randomUUID()}/apiKeys/${randomUUID()}`;
  return apiKey(keyId, "ES256", secret, Buffer.concat([Uint8Array.of(4), x, y]));
}

/** PayAI's key: `payai_sk_` and base64 of PKCS#8 DER. */
export function payaiKey(): ApiKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  const der = privateKey.export({ type: "pkcs8", format: "der" });
  return apiKey(randomUUID(), "EdDSA", `payai_sk_${der.toString("base64")}`, jwkOf(privateKey).x);
}

function apiKey(keyId: string, algorithm: Credentials["algorithm"], secret: string, publicKey: Uint8Array): ApiKey {
  return { credentials: { keyId, secret, algorithm }, tokenKey: { keyId, algorithm, publicKey } };
}

function jwkOf(key: KeyObject) {
  const { d = "", x = "", y = "" } = key.export({ format: "jwk" });
  return { d: Buffer.from(d, "base64url"), x: Buffer.from(x, "base64url"), y: Buffer.from(y, "base64url") };
}
