// The form of a state proof: canonical msgpack, and every member that there must be.
import assert from "node:assert/strict";
import { readMap } from "./msgpack.mjs";

/** The values of msgpack that `readMap` has found canonical: maps, lists, bytes, and integers as BigInt. */
function values(bytes) {
  let at = 0;
  const take = (length) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = (length) => BigInt(`0x${take(length).toString("hex")}`);
  const value = () => {
    const type = Number(number(1));
    if (type < 0x80) return BigInt(type);
    if (type < 0x90) return map(type & 15);
    if (type < 0xa0) return Array.from({ length: type & 15 }, value);
    if (type < 0xc0) return take(type & 31).toString("latin1");
    if (type >= 0xc4 && type <= 0xc6) return take(Number(number(2 ** (type - 0xc4))));
    if (type >= 0xcc && type <= 0xcf) return number(2 ** (type - 0xcc));
    if (type >= 0xdc && type <= 0xdd) return Array.from({ length: Number(number(2 ** (type - 0xdb))) }, value);
    assert(type >= 0xde && type <= 0xdf, "a type that no state proof has");
    return map(Number(number(2 ** (type - 0xdd))));
  };
  const map = (size) => new Map(Array.from({ length: size }, () => [value(), value()]));
  return value();
}

/** The members of a map, which has all of `required`, may have those of `optional`, and no other. */
function members(map, required, optional = {}) {
  assert(map instanceof Map && Object.keys(required).every((name) => map.has(name)), "a member is missing");
  const known = { ...required, ...optional };
  for (const [name, value] of map) assert(Object.hasOwn(known, name) && known[name](value), `a wrong member ${name}`);
  return Object.fromEntries(map);
}
const isMap = (value) => value instanceof Map;
const isNumber = (value) => typeof value === "bigint";
const isBytes = (least, most) => (value) => Buffer.isBuffer(value) && value.length >= least && value.length <= most;
const isHash = isBytes(64, 64);
const isList = (is, most) => (value) => Array.isArray(value) && value.length <= most && value.every(is);

function readTree(map, deepest) {
  const { hsh, pth = [], td = 0n } = members(map, { hsh: isMap }, { pth: isList(isHash, 2 ** 20), td: isNumber });
  assert(members(hsh, { t: isNumber }).t === 1n && td <= deepest, "not of sumhash512, or too deep");
  return { pth, td: Number(td) };
}

function readReveal(map) {
  const { s: slot, p } = members(map, { s: isMap, p: isMap });
  const { p: verifier, w } = members(p, { p: isMap, w: isNumber });
  const { cmt, lf } = members(verifier, { cmt: isHash, lf: isNumber });
  const { s: signed, l = 0n } = members(slot, { s: isMap }, { l: isNumber });
  const of = { sig: isBytes(3, 1423), prf: isMap, vkey: isMap };
  const { sig, idx = 0n, prf, vkey } = members(signed, of, { idx: isNumber });
  return { w, cmt, lf, l, sig, idx, prf: readTree(prf, 16), k: members(vkey, { k: isBytes(1793, 1793) }).k };
}

/** The members of a state proof, which is refused if it has another form. */
export function readStateProof(bytes) {
  assert(bytes.length <= 3 * 2 ** 20, "longer than 3 MiB");
  readMap(bytes, true);
  const of = { c: isHash, w: isNumber, S: isMap, P: isMap, r: isMap, pr: isList(isNumber, 640) };
  const { c, w, S, P, v = 0n, r, pr } = members(values(bytes), of, { v: isNumber });
  assert([...r.keys()].every((place) => pr.includes(place)) && pr.every((place) => r.has(place)), "not of its places");
  const reveals = new Map([...r].map(([place, reveal]) => [place, readReveal(reveal)]));
  return { c, w, S: readTree(S, 20n), P: readTree(P, 20n), v, reveals, pr };
}

/** A signature's coefficients in 12 bits each. */
export function constantLength(sig) {
  const bits = [...sig.subarray(2)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  let at = 0;
  const coefficients = Array.from({ length: 1024 }, () => {
    const end = bits.indexOf("1", at + 8);
    assert(end !== -1, "cut");
    const magnitude = Number.parseInt(bits.slice(at + 1, at + 8), 2) + 128 * (end - at - 8);
    const isNegative = bits[at] === "1";
    assert(magnitude <= 2047 && !(isNegative && magnitude === 0), "a coefficient that is too large, or -0");
    at = end + 1;
    return (isNegative ? 4096 - magnitude : magnitude).toString(2).padStart(12, "0");
  });
  assert(bits.length - at < 8 && !bits.slice(at).includes("1"), "something behind the coefficients");
  const packed = coefficients
    .join("")
    .match(/.{8}/g)
    .map((byte) => Number.parseInt(byte, 2));
  return Buffer.from([0xda, sig[1], ...packed]);
}
