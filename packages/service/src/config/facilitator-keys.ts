import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { fromBase64 } from "@attestd/proof/encoding";
import { attempt } from "@attestd/proof/errors";

/** The algorithm of a facilitator's key: Ed25519, or ECDSA on P-256 with SHA-256 (RFC 7518, RFC 8037). */
export type TokenAlgorithm = "EdDSA" | "ES256";

/** A private key that signs tokens for a facilitator. */
export type TokenKey = { readonly algorithm: TokenAlgorithm; readonly key: KeyObject };

const PKCS8_COMMAND = "openssl pkcs8 -topk8 -nocrypt -in key.pem -out pkcs8.pem";

/**
 * Reads the secret of an API key of CDP: base64 of 64 bytes, the Ed25519 seed and its public key; or the PKCS#8 PEM of a
 * P-256 key, whose line breaks may be written as `\n`.
 *
 * @throws RangeError a predicate without any of the secret
 */
export function cdpKey(secret: string): TokenKey {
  if (secret.includes("-----")) return { algorithm: "ES256", key: p256Key(secret.replaceAll("\\n", "\n")) };
  const bytes = base64Of(secret);
  if (bytes?.length !== 64) throw new RangeError("must be base64 of 64 bytes, or a PKCS#8 PEM of a P-256 key");
  const key = createPrivateKey({ key: bytes.subarray(0, 32), format: "raw-private", asymmetricKeyType: "ed25519" });
  const publicKey = createPublicKey(key).export({ format: "raw-public" });
  if (!publicKey.equals(bytes.subarray(32)))
    throw new RangeError("ends with a public key that is not of its seed: copy the secret again");
  return { algorithm: "EdDSA", key: signing("EdDSA", key) };
}

/**
 * Reads the secret of an API key of PayAI: base64 of the PKCS#8 DER of an Ed25519 key, with or without the prefix
 * `payai_sk_`.
 *
 * @throws RangeError as `cdpKey` does
 */
export function payaiKey(secret: string): TokenKey {
  const der = base64Of(secret.replace(/^payai_sk_/, ""));
  const key = der && importedKey({ key: der, format: "der", type: "pkcs8" });
  if (key?.asymmetricKeyType !== "ed25519")
    throw new RangeError("must be base64 of the PKCS#8 DER of an Ed25519 key, as payai_sk_… has it");
  return { algorithm: "EdDSA", key: signing("EdDSA", key) };
}

/** Signs with a key. @returns as a JWS has it: 64 bytes, of ES256 R and S (RFC 7518, section 3.4) */
export function signToken({ algorithm, key }: TokenKey, message: Uint8Array): Buffer {
  if (algorithm === "EdDSA") return sign(null, message, key);
  return sign("sha256", message, { key, dsaEncoding: "ieee-p1363" });
}

function p256Key(pem: string): KeyObject {
  if (pem.includes("BEGIN EC PRIVATE KEY"))
    throw new RangeError(`is a SEC1 key ("BEGIN EC PRIVATE KEY"): convert it to PKCS#8 with ${PKCS8_COMMAND}`);
  if (pem.includes("BEGIN ENCRYPTED")) throw new RangeError(`is encrypted: decrypt it with ${PKCS8_COMMAND}`);
  const key = importedKey({ key: Buffer.from(pem), format: "pem" });
  if (key?.asymmetricKeyType !== "ec" || key.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw new RangeError("must be a whole PKCS#8 PEM of a P-256 key, or base64 of 64 bytes");
  return signing("ES256", key);
}

/** @returns undefined when OpenSSL does not read it; its message could quote the key */
function importedKey(input: Parameters<typeof createPrivateKey>[0]): KeyObject | undefined {
  try {
    return createPrivateKey(input);
  } catch {
    return undefined;
  }
}

/** Signs and verifies once: what a key cannot sign is found at start, not at the first sale. */
function signing(algorithm: TokenAlgorithm, key: KeyObject): KeyObject {
  const message = Buffer.from("attestd");
  const signature = signToken({ algorithm, key }, message);
  const hash = algorithm === "EdDSA" ? null : "sha256";
  const options = { key: createPublicKey(key), dsaEncoding: "ieee-p1363" as const };
  if (!verify(hash, message, options, signature)) throw new RangeError("does not sign: its two halves do not fit");
  return key;
}

function base64Of(text: string): Buffer | undefined {
  return attempt("malformed", () => Buffer.from(fromBase64(text)));
}
