// Keys: whom a verifier believes, and for which rounds.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { isHistory } from "./form.mjs";
import { canonical, parse } from "./json.mjs";

export const MAINNET = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
const decode = (text) => Buffer.from(text, "base64");

/** The key history in a file; or no more than the `kid` of one key, and the ledger that is MainNet. */
export function readTrust(argument) {
  if (/^[\w-]{43}$/.test(argument)) return { kid: argument, ledger: MAINNET };
  const history = parse(readFileSync(argument));
  assert(isHistory(history), "keys: not a key history");
  history.keys.forEach(({ untilRound, revokedRound, endorsement, ...entry }, index) => {
    const [previous, next] = [history.keys[index - 1], history.keys[index + 1]];
    assert(entry.algorandAddress === history.keys[0].algorandAddress, "keys: another account");
    assert(entry.kid === keyId(entry.pqPublicKey), "keys: another kid");
    assert(entry.keySha256 === keySha256(entry.pqPublicKey), "keys: another SHA-256");
    assert(history.keys.findIndex(({ kid }) => kid === entry.kid) === index, "keys: a key twice");
    assert(untilRound === next?.fromRound && !(untilRound <= entry.fromRound), "keys: a gap");
    assert((endorsement === undefined) === (previous === undefined), "keys: not endorsed");
    assert(!previous || signs(previous.pqPublicKey, entry, endorsement), "keys: endorsed by another");
  });
  return history;
}

/** The standing of a bundle's key, and whether it may have signed in that round. */
export function judgeKey({ attest, attestor }, { kid, keys }) {
  if (kid) return keyId(attestor.pqPublicKey) === kid ? ["current", true] : ["unknown", false];
  const key = keys.find(({ pqPublicKey }) => pqPublicKey === attestor.pqPublicKey);
  if (!key) return ["unknown", false];
  // Whoever holds a revoked key can write any round into a bundle.
  if (key.revokedRound !== undefined) return ["revoked", false];
  const isOfItsTime = key.fromRound <= attest.round && attest.round < (key.untilRound ?? Number.POSITIVE_INFINITY);
  const isItsAccount = attestor.algorandAddress === key.algorandAddress;
  return [key.untilRound === undefined ? "current" : "retired", isOfItsTime && isItsAccount];
}

/** Whether a signature is the key's over the canonical bytes of a value: ML-DSA-65 with an empty context. */
export function signs(pqPublicKey, value, signature) {
  return signsBytes(pqPublicKey, canonical(value), decode(signature));
}

export function signsBytes(pqPublicKey, bytes, signature) {
  return ml_dsa65.verify(signature, bytes, decode(pqPublicKey));
}

/** The key's RFC 7638 thumbprint. */
export function keyId(pqPublicKey) {
  const jwk = { alg: "ML-DSA-65", kty: "AKP", pub: decode(pqPublicKey).toString("base64url") };
  return createHash("sha256").update(canonical(jwk)).digest("base64url");
}

export function keySha256(pqPublicKey) {
  return createHash("sha256").update(decode(pqPublicKey)).digest("base64url");
}
