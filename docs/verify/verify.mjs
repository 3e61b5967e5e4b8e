// node verify.mjs bundle.json keys.json: exits with 0 if a key of that history verifies the ProofBundle, else with 1.
// docs/format.md as a program. It shares nothing with attestd but JSON, hashes and an ML-DSA-65 library.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";

const sha = (data, encoding, name = "sha256") => createHash(name).update(data).digest(encoding);
const base64 = (text) => Buffer.from(text, "base64");
const sort = (_, value) => (value?.constructor === Object ? Object.fromEntries(Object.entries(value).sort()) : value);
const canonical = (value) => Buffer.from(JSON.stringify(value, sort)); // RFC 8785, of ASCII names and integers

const [text, keys] = process.argv.slice(2, 4).map((file) => readFileSync(file, "utf8"));
const { signature, ...signed } = JSON.parse(text);
const { source, attest, attestor } = signed;
const history = JSON.parse(keys);
const key = history.keys.find(({ pqPublicKey }) => pqPublicKey === attestor.pqPublicKey);
assert(key && key.revokedRound === undefined, "keyTrust: not in this history, or revoked");
assert(key.fromRound <= attest.round && attest.round < (key.untilRound ?? 2 ** 53), "keyTrust: not in its rounds");
const publicKey = base64(key.pqPublicKey);
assert(ml_dsa65.verify(base64(signature.sigBase64), canonical(signed), publicKey), "signature");

// Of the rest, all but two ids, round, l and p can be recomputed. So the bundle is made anew, and must be the same.
const bytes = base64(source.txnBytesBase64);
const genesis = bytes.subarray(bytes.indexOf("\xa2gh\xc4\x20", 0, "latin1") + 5); // msgpack of the key gh, then 32 bytes
const [chain, t, c, levels] = source.txnId.startsWith("0x")
  ? ["base", `0x${Buffer.from(keccak_256(bytes)).toString("hex")}`, "eip155:8453", /^(included|safe|finalized)$/]
  : ["algorand", algorandId(), `algorand:${genesis.toString("base64url", 0, 24)}`, /^finalized$/];
const { l, p } = JSON.parse(attest.note.slice("attestd/v1:j".length));
const note = { a: sha(publicKey, "base64url"), c, g: history.ledger, h: sha(bytes, "hex"), l, p, t };
assert(levels.test(l) && /^[\w-]{21}[AQgw]$/.test(p), "note: l or p");
assert(attest.round > 0 && Number.isSafeInteger(attest.round) && /^[A-Z2-7]{51}[AQ]$/.test(attest.txnId), "schema");
assert.deepEqual(JSON.parse(text), {
  version: 1,
  network: "algorand-mainnet",
  source: {
    ...("chain" in source && { chain }),
    txnId: t,
    hashSha256: note.h,
    txnBytesBase64: bytes.toString("base64"),
  },
  attest: { txnId: attest.txnId, round: attest.round, note: `attestd/v1:j${canonical(note)}` },
  attestor: { algorandAddress: key.algorandAddress, pqPublicKey: publicKey.toString("base64") },
  signature: { alg: "ML-DSA-65", sigBase64: base64(signature.sigBase64).toString("base64") },
});
// What JSON.parse hides: a member that is there twice.
assert.equal(text.match(/"(?:[^"\\]|\\.)*"\s*:/g).length, 13 + Object.keys(source).length, "schema: members");
console.log(`verified: ${chain} ${t}, stated as recorded in round ${attest.round}, signed by ${key.origin}`);

function algorandId() {
  const digest = BigInt(`0x${sha(Buffer.concat([Buffer.from("TX"), bytes]), "hex", "sha512-256")}`) << 4n;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return digest
    .toString(32)
    .padStart(52, "0")
    .replace(/./g, (digit) => alphabet[Number.parseInt(digit, 32)]);
}
