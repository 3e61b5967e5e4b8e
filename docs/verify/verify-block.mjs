// node verify-block.mjs bundle.json keys.json: as verify.mjs, of a BlockBundle or an InclusionBundle.
// It shares no more with attestd than verify.mjs does; RLP and Keccak-256 are viem's.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { fromRlp, keccak256, toHex, toRlp } from "viem";

const sha = (name, ...parts) => parts.reduce((hash, part) => hash.update(part), createHash(name)).digest();
const base64 = (text) => Buffer.from(text, "base64");
const respell = (text) => base64(text).toString("base64");
const sort = (_, value) => (value?.constructor === Object ? Object.fromEntries(Object.entries(value).sort()) : value);
const canonical = (value) => Buffer.from(JSON.stringify(value, sort)); // RFC 8785, of ASCII names and integers

const [text, keys] = process.argv.slice(2, 4).map((file) => readFileSync(file, "utf8"));
const { signature, ...signed } = JSON.parse(text);
const { type, block, source, inclusion, attest, attestor } = signed;
const history = JSON.parse(keys);
const key = history.keys.find(({ pqPublicKey }) => pqPublicKey === attestor.pqPublicKey);
assert(key && key.revokedRound === undefined, "keyTrust: not in this history, or revoked");
assert(key.fromRound <= attest.round && attest.round < (key.untilRound ?? 2 ** 53), "keyTrust: not in its rounds");
const publicKey = base64(key.pqPublicKey);
assert(ml_dsa65.verify(base64(signature.sigBase64), canonical(signed), publicKey), "signature");

// As there, the bundle is made anew from what can be recomputed, and must be the same.
const header = base64(block.headerBase64);
const { c, levels, id, height: n, blockHash: b, path } = { algorand, base }[block.chain]();
const { l, p } = JSON.parse(attest.note.slice("attestd/v1:j".length));
const [a, h] = [sha("sha256", publicKey).toString("base64url"), sha("sha256", header).toString("hex")];
assert(levels.test(l) && /^[\w-]{21}[AQgw]$/.test(p), "note: l or p");
assert(attest.round > 0 && Number.isSafeInteger(attest.round) && /^[A-Z2-7]{51}[AQ]$/.test(attest.txnId), "schema");
const bundle = {
  type: source ? "tx-inclusion" : "block-attestation",
  version: 1,
  network: "algorand-mainnet",
  block: { chain: block.chain, height: n, blockHash: b, headerBase64: header.toString("base64"), hashSha256: h },
  ...(source && included(base64(source.txnBytesBase64))),
  attest: { ...attest, note: `attestd/v1:j${canonical({ a, b, c, g: history.ledger, h, l, n, p })}` },
  attestor: { algorandAddress: key.algorandAddress, pqPublicKey: publicKey.toString("base64") },
  signature: { alg: "ML-DSA-65", sigBase64: respell(signature.sigBase64) },
};
assert(Number.isSafeInteger(n) && Object.keys(attest).length === 3, "schema");
assert.deepEqual(JSON.parse(text), bundle);
const countNames = (json) => json.match(/"(?:[^"\\]|\\.)*"\s*:/g).length;
assert.equal(countNames(text), countNames(JSON.stringify(bundle)), "schema: a member twice"); // JSON.parse hides it
console.log(
  `verified: ${type}, ${block.chain} ${n}, stated as recorded in round ${attest.round}, signed by ${key.origin}`,
);

function included(txn) {
  assert(Number.isSafeInteger(inclusion.index) && inclusion.index >= 0, "schema: index");
  const [txnBytesBase64, hashSha256] = [txn.toString("base64"), sha("sha256", txn).toString("hex")];
  const named = "chain" in source && { chain: block.chain };
  return { source: { ...named, txnId: id(txn), hashSha256, txnBytesBase64 }, inclusion: path(txn, inclusion) };
}

function algorand() {
  const fields = msgpack(header);
  const [tree, name] = fields.has("txn256") ? ["txn256", "sha256"] : ["txn", "sha512-256"];
  const gh = fields.get("gh")?.toString("base64url", 0, 24);
  const c = gh ? `algorand:${gh}` : history.ledger;
  const height = fields.get("rnd") ?? 0;
  const id = (txn) => base32(sha("sha512-256", "TX", txn));
  return { c, levels: /^finalized$/, id, height, blockHash: base32(sha("sha512-256", "BH", header)), path };

  function path(txn, { index, stibBase64, siblings, lightHeader }) {
    assert(siblings.length <= 20 && index < 2 ** siblings.length, "inclusion: index");
    const bits = [...index.toString(2).padStart(siblings.length, "0")].slice(0, siblings.length); // highest first
    if (tree === "txn") bits.reverse(); // a vector commitment's places are bit-reversed
    const leaf = sha(name, "TL", sha(name, "TX", txn), sha(name, "STIB", base64(stibBase64)));
    const root = siblings.map(base64).reduce((node, sibling, level) => {
      assert.equal(sibling.length, 32, "schema: siblings");
      return sha(name, "MA", ...(bits[level] === "1" ? [sibling, node] : [node, sibling]));
    }, leaf);
    assert(root.equals(fields.get(tree)), "inclusion: root");
    if (lightHeader) console.log("not checked: inclusion.lightHeader");
    const proof = {
      kind: "algorand-merkle",
      tree,
      index,
      stibBase64: respell(stibBase64),
      siblings: siblings.map(respell),
    };
    return { ...proof, ...(lightHeader && { lightHeader }) };
  }
}

function base() {
  const fields = rlp(toHex(header));
  assert(fields.length >= 15 && !fields[8].startsWith("0x00"), "blockHash: no header");
  const [id, height] = [(bytes) => keccak256(toHex(bytes)), Number(fields[8] === "0x" ? 0 : fields[8])];
  return { c: "eip155:8453", levels: /^(included|safe|finalized)$/, id, height, blockHash: id(header), path };

  function path(txn, { index, nodes, receipt }) {
    assert.equal(descend(fields[4], index, nodes), toHex(txn), "inclusion: transaction");
    const proof = { kind: "mpt", index, nodes: nodes.map(respell) };
    if (!receipt) return proof;
    const bytes = base64(receipt.bytesBase64);
    assert.equal(descend(fields[5], index, receipt.nodes), toHex(bytes), "inclusion: receipt");
    return { ...proof, receipt: { bytesBase64: bytes.toString("base64"), nodes: receipt.nodes.map(respell) } };
  }
}

/** Down a Merkle-Patricia trie: the item under rlp(index), in hex. */
function descend(root, index, nodes) {
  const size = Math.ceil(index.toString(16).length / 2);
  let [named, key, item] = [root, toRlp(index ? toHex(index, { size }) : "0x").slice(2)];
  for (const node of nodes.map((text) => toHex(base64(text)))) {
    const isNext = Array.isArray(named) ? node.length < 66 && node === toRlp(named) : keccak256(node) === named;
    assert(isNext && item === undefined, "inclusion: not the node that its parent names");
    const items = rlp(node);
    assert(items.length === 17 || (items.length === 2 && typeof items[0] === "string"), "inclusion: no node");
    const [, flag, nibbles] = items.length === 17 ? ["", "1", key[0]] : /^0x([13]|[02]0)(.*)$/.exec(items[0]);
    assert(key.startsWith(nibbles) && (nibbles || flag === "20"), "inclusion: another's path");
    key = key.slice(nibbles.length);
    named = items.length === 17 ? items[Number.parseInt(nibbles, 16)] : items[1];
    if (/^[23]/.test(flag)) item = key === "" && items[1];
  }
  return item;
}

function rlp(hex) {
  const items = fromRlp(hex);
  assert(Array.isArray(items) && toRlp(items) === hex, "RLP: no list, or not in its one encoding");
  return items;
}

/** A map with text for its keys; byte strings and texts are Buffers. */
function msgpack(bytes) {
  let at = 0;
  const map = value();
  assert(map instanceof Map && at === bytes.length, "msgpack: no map, or more");
  return map;

  function value() {
    const type = uint(1);
    if (type < 0x80 || type >= 0xe0) return type < 0x80 ? type : type - 0x100;
    if (type < 0xa0) return type < 0x90 ? entries(type & 0x0f) : items(type & 0x0f);
    if (type < 0xc0) return take(type & 0x1f);
    if (type === 0xc0 || type === 0xc2 || type === 0xc3) return type === 0xc3;
    if (type >= 0xc4 && type <= 0xc6) return take(uint(1 << (type - 0xc4)));
    if (type >= 0xcc && type <= 0xcf) return uint(1 << (type - 0xcc));
    if (type >= 0xd9 && type <= 0xdb) return take(uint(1 << (type - 0xd9)));
    assert(type >= 0xdc, "msgpack: a type that no header has");
    return type < 0xde ? items(uint(2 << (type - 0xdc))) : entries(uint(2 << (type - 0xde)));
  }
  function take(length) {
    assert(length <= bytes.length - at, "msgpack: truncated");
    at += length;
    return bytes.subarray(at - length, at);
  }
  function uint(length) {
    return Number(`0x${take(length).toString("hex")}`);
  }
  function items(length) {
    return Array.from({ length }, value);
  }
  function entries(length) {
    const map = new Map(Array.from({ length }, () => [String(value()), value()]));
    assert.equal(map.size, length, "msgpack: a key twice");
    return map;
  }
}

function base32(digest) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const digits = (BigInt(`0x${digest.toString("hex")}`) << 4n).toString(32).padStart(52, "0");
  return digits.replace(/./g, (digit) => alphabet[Number.parseInt(digit, 32)]);
}
