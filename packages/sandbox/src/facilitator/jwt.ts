import { fromBase64Url, fromUtf8, utf8 } from "@attestd/proof/encoding";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";

/** The key with which one API key's tokens are verified. */
export interface TokenKey {
  keyId: string;
  algorithm: "EdDSA" | "ES256";
  /** EdDSA: 32 bytes. ES256: the point, 33 or 65 bytes (SEC 1). */
  publicKey: Uint8Array;
}

type Members = Record<string, unknown>;

/** Why a token is refused. Its message may be shown to the client. */
export class TokenRefused extends Error {}

const MAX_TOKEN_LENGTH = 4_096;
/** The lifetime of CDP's and PayAI's tokens. */
const MAX_LIFE_SECONDS = 120;
const BEARER = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/**
 * Reads a JWT (RFC 7519, compact JWS of RFC 7515) and verifies its signature. Written only for the sandbox's
 * facilitators: it shares neither code nor a library with the service's signer.
 * @param authorization the value of the Authorization header
 * @returns its members, and the key that `kid` names, with which the signature was verified
 * @throws {TokenRefused} for another form, a key that is not among `keys`, another algorithm than the key's, or a wrong
 *   signature
 */
export function readToken(authorization: string, keys: readonly TokenKey[]) {
  if (authorization.length > MAX_TOKEN_LENGTH) throw new TokenRefused("the token is too long");
  const match = BEARER.exec(authorization);
  if (match === null) throw new TokenRefused("the Authorization header is not Bearer and a JWT");
  const [, head = "", body = "", tail = ""] = match;
  const header = readObject(head, "header");
  const key = keys.find(({ keyId }) => keyId === header.kid);
  if (key === undefined) throw new TokenRefused("header.kid names no API key");
  expectMember(header, "header", "alg", key.algorithm);
  expectMember(header, "header", "typ", "JWT");
  if (!isSigned(key, utf8(`${head}.${body}`), readBytes(tail, "signature")))
    throw new TokenRefused("the signature does not verify with the API key");
  return { header, claims: readObject(body, "claims"), key };
}

/** RFC 8037 for EdDSA; RFC 7518, section 3.4, for ES256: r and s, 32 bytes each. */
function isSigned({ algorithm, publicKey }: TokenKey, signed: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  try {
    if (algorithm === "EdDSA") return ed25519.verify(signature, signed, publicKey, { zip215: false });
    return p256.verify(signature, signed, publicKey, { prehash: true, lowS: false, format: "compact" });
  } catch {
    return false;
  }
}

/** @throws {TokenRefused} unless the member has exactly this value */
export function expectMember(members: Members, where: string, name: string, value: string): void {
  if (members[name] !== value) throw new TokenRefused(`${where}.${name} is not ${value}`);
}

/** @throws {TokenRefused} when a member is missing, or is not one that the kind's own clients send */
export function expectNames(members: Members, where: string, names: readonly string[]): void {
  const missing = names.find((name) => !Object.hasOwn(members, name));
  if (missing !== undefined) throw new TokenRefused(`${where}.${missing} is missing`);
  const strange = Object.keys(members).find((name) => !names.includes(name));
  if (strange !== undefined) throw new TokenRefused(`${where}.${strange} is not expected`);
}

/**
 * Checks `iat`, `exp`, and `nbf` if it is present.
 * @param now Unix seconds
 * @throws {TokenRefused} unless the token is valid now, was issued in the past, and is valid for two minutes at most
 */
export function expectAlive({ iat, nbf = iat, exp }: Members, now: number): void {
  if (!isSeconds(iat) || !isSeconds(nbf) || !isSeconds(exp))
    throw new TokenRefused("claims.iat, nbf or exp is no time in seconds");
  if (iat > now || nbf > now) throw new TokenRefused("the token is not valid yet");
  if (exp <= now) throw new TokenRefused("the token has expired");
  if (exp <= iat || exp - iat > MAX_LIFE_SECONDS)
    throw new TokenRefused(`the token lives longer than ${MAX_LIFE_SECONDS} s`);
}

function isSeconds(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function readObject(text: string, where: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(fromUtf8(readBytes(text, where)));
  } catch {
    throw new TokenRefused(`the ${where} is no JSON`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TokenRefused(`the ${where} is no JSON object`);
  return { ...value };
}

function readBytes(text: string, where: string): Uint8Array {
  try {
    return fromBase64Url(text);
  } catch {
    throw new TokenRefused(`the ${where} is no base64url without padding`);
  }
}
