// By what key the attestation transaction was signed, which its block's entry says.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { falcon1024 } from "@noble/post-quantum/falcon.js";
import { addressBytes, readDigest, readInteger } from "./algorand.mjs";
import { verifiesEd25519 } from "./ed25519.mjs";
import { readMap } from "./msgpack.mjs";

/** Throws unless the signature of an inclusion's transaction is as the item says. */
export function checkAuthorisation({ alg, authorizer }, { txnBytesBase64, stibBase64 }, sender) {
  const entry = readMap(Buffer.from(stibBase64, "base64"));
  const kinds = ["sig", "msig", "lsig", "pqsig"].filter((name) => entry.has(name));
  assert(kinds.length === 1 && kinds[0] === { ed25519: "sig", "falcon-1024": "pqsig" }[alg], "another signature");
  assert(entry.has("sgnr") === (authorizer !== undefined), "another authorizer");
  const account = addressBytes(authorizer ?? sender);
  assert(!authorizer || readDigest(entry.get("sgnr")).equals(account), "another authorizer");
  const message = Buffer.concat([Buffer.from("TX"), Buffer.from(txnBytesBase64, "base64")]);
  if (alg === "ed25519") {
    assert(verifiesEd25519(account, message, bytesOf(entry.get("sig"))), "a signature that does not fit");
    return;
  }
  const pq = readMap(entry.get("pqsig"));
  const isKnown = (name) => ["sch", "slt", "pk", "sig"].includes(name);
  // The first byte counts all members, those under integers too.
  assert([...pq.keys()].every(isKnown) && entry.get("pqsig")[0] === 0x80 + pq.size, "a member more");
  const [scheme, key, signature] = ["sch", "pk", "sig"].map((name) => bytesOf(pq.get(name)));
  const salt = pq.has("slt") ? readInteger(pq.get("slt")) : 0;
  assert(scheme.equals(Buffer.from("f1")) && salt < 256 && key.length === 1793, "no key of Falcon-1024");
  const own = createHash("sha512-256")
    .update("PQAf1")
    .update(Buffer.from([salt]))
    .update(key)
    .digest();
  assert(own.equals(account), "another account's key");
  assert(verifiesFalcon(key, message, signature), "a signature that does not fit");
}

/** Whether a signature is the key's, in the deterministic form. */
export function verifiesFalcon(key, message, signature) {
  const isCompressed = signature.length > 2 && signature.length <= 1423 && signature[0] === 0xba;
  const salt = Buffer.concat([Buffer.from([signature[1], 10]), Buffer.from("FALCON_DET"), Buffer.alloc(28)]);
  const salted = Buffer.concat([Buffer.from([0x3a]), salt, signature.subarray(2)]);
  return isCompressed && falcon1024.verify(new Uint8Array(salted), new Uint8Array(message), new Uint8Array(key));
}

/** The content of msgpack bytes. */
function bytesOf(member) {
  const size = [2, 3, 5][member[0] - 0xc4];
  assert(size, "no bytes");
  return member.subarray(size);
}
