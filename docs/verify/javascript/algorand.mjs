// What a verifier must know of Algorand: the ids of transactions and blocks, and the way from the one to the other.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readMap } from "./msgpack.mjs";

export const LEVELS = ["finalized"];
/** Whether a transaction that failed stands in a block. */
export const CAN_FAIL = false;

const hash = (name, ...parts) => parts.reduce((hasher, part) => hasher.update(part), createHash(name)).digest();
const decode = (text) => Buffer.from(text, "base64");

/** Consensus v34 to v38, whose light headers begin with the seed. */
const SEED_VERSIONS = [
  "2dd5435993f6f6d65691140f592ebca5ef19ffbd",
  "433d8e9a7274b6fca703d91213e05c7e6a589e69",
  "44fa607d6051730f5264526bf3c108d51f0eadb6",
  "1ac4dd1f85470e1fb36c8a65520e1313d7dfed5e",
  "abd3d4823c6f77349fc04c3af7b1e99fe4df699f",
].map((commit) => `\xd9\x59https://github.com/algorandfoundation/specs/tree/${commit}`); // text of 89 letters

/** The id and the network of a transaction; `ledger` where it names no network. */
export function transaction(bytes, ledger) {
  const fields = readMap(bytes, true);
  assert(/^[\xa0-\xbf\xd9-\xdb]/.test(fields.get("type").toString("latin1")), "its type is no text");
  return { id: base32(hash("sha512-256", "TX", bytes)), network: network(fields, ledger) };
}

/** The hash, the height and the network of a block, from its header. */
export function header(bytes, ledger) {
  const fields = readMap(bytes);
  const height = readInteger(fields.get("rnd"));
  assert(height < 2 ** 53, "a height of 2^53 or more");
  return { hash: base32(hash("sha512-256", "BH", bytes)), height, network: network(fields, ledger) };
}

/** Whether a transaction is in the block of a header: by the Merkle tree that the header commits to. */
export function isIncluded({ tree, index, stibBase64, siblings, lightHeader }, transaction, headerBytes) {
  assert(header(headerBytes));
  const fields = readMap(headerBytes);
  if (tree !== (fields.has("txn256") ? "txn256" : "txn")) return false;
  const name = tree === "txn256" ? "sha256" : "sha512-256";
  const leaf = hash(name, "TL", hash(name, "TX", transaction), hash(name, "STIB", decode(stibBase64)));
  if (!leads(name, tree === "txn256", leaf, index, siblings, readDigest(fields.get(tree)))) return false;
  return lightHeader === undefined || isCommitted(lightHeader, fields, headerBytes);
}

/** Whether a block is in the interval of a state proof. That its commitment is one of consensus, no bundle can tell. */
export function isCommitted({ index, interval, commitment, siblings }, fields, headerBytes) {
  const bytes = (digest) => Buffer.concat([Buffer.from([0xc4, 32]), digest]);
  const digestOf = (name) => bytes(readDigest(fields.get(name)));
  assert(readInteger(fields.get("rnd")) > 0, "no round that a state proof covers");
  const isSeedFirst = SEED_VERSIONS.includes(fields.get("proto")?.toString("latin1"));
  const first = isSeedFirst ? { 0: digestOf("seed") } : { 1: bytes(hash("sha512-256", "BH", headerBytes)) };
  const members = { ...first, gh: digestOf("gh"), r: fields.get("rnd"), tc: digestOf("txn256") };
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  const light = present.flatMap(([name, value]) => [Buffer.from([0xa0 | name.length]), Buffer.from(name), value]);
  const leaf = hash("sha256", "B256", Buffer.from([0x80 | present.length]), ...light);
  return interval === 2 ** siblings.length && leads("sha256", true, leaf, index, siblings, decode(commitment));
}

/** Whether siblings lead from a leaf to a root. In a vector commitment the place of a leaf is its index, bits reversed. */
function leads(name, isVector, leaf, index, siblings, root) {
  if (index >= 2 ** siblings.length) return false;
  const bits = [...index.toString(2).padStart(siblings.length, "0")].slice(0, siblings.length); // highest first
  if (!isVector) bits.reverse();
  const top = siblings.map(decode).reduce((node, sibling, level) => {
    return hash(name, "MA", ...(bits[level] === "1" ? [sibling, node] : [node, sibling]));
  }, leaf);
  return top.equals(root);
}

function network(fields, ledger) {
  return fields.has("gh") ? `algorand:${readDigest(fields.get("gh")).toString("base64url", 0, 24)}` : ledger;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
function base32(digest) {
  const digits = (BigInt(`0x${digest.toString("hex")}`) << 4n).toString(32).padStart(52, "0");
  return digits.replace(/./g, (digit) => BASE32[Number.parseInt(digit, 32)]);
}

/** Whether a text is an address: a public key of 32 bytes and the last 4 of its hash, 2 bits unused. */
export function isAddress(text) {
  return /^[A-Z2-7]{57}[AEIMQUY4]$/.test(text) && addressBytes(text) !== undefined;
}

/** The public key of an address. */
export function addressBytes(text) {
  const bits = [...text].reduce((number, letter) => number * 32n + BigInt(BASE32.indexOf(letter)), 0n);
  const bytes = Buffer.from((bits >> 2n).toString(16).padStart(72, "0"), "hex");
  const key = bytes.subarray(0, 32);
  return hash("sha512-256", key).subarray(28).equals(bytes.subarray(32)) ? key : undefined;
}

export function readDigest(value) {
  assert(value?.length === 34 && value[0] === 0xc4, "not 32 bytes");
  return value.subarray(2);
}

export function readInteger(value) {
  if (value === undefined) return 0;
  assert(value[0] < 0x80 || (value[0] >= 0xcc && value[0] <= 0xcf), "not an integer");
  return Number(`0x${value.toString("hex", value.length > 1 ? 1 : 0)}`);
}
