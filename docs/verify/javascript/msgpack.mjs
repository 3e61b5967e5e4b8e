// Canonical msgpack, as Algorand writes it: members in order, each length and integer in its shortest form.
import assert from "node:assert/strict";

/** The least that each form of a length or an integer may hold: what would fit a shorter one must be in that. */
const LEAST = {
  integer: [0x80, 2 ** 8, 2 ** 16, 2 ** 32],
  text: [32, 2 ** 8, 2 ** 16],
  bytes: [0, 2 ** 8, 2 ** 16],
  list: [16, 2 ** 16],
};

/** 0, {}, [], "", nil, false and no bytes. */
const EMPTY = ["00", "80", "90", "a0", "c0", "c2", "c400"];

/** The members of a map, each as it is encoded. A struct leaves out what is empty. */
export function readMap(bytes, isStruct = false) {
  let at = 0;
  const map = value();
  assert(map instanceof Map && at === bytes.length, "msgpack: not one map");
  return map;

  function value() {
    const type = uint(1);
    if (type < 0x80 || type === 0xc0 || type === 0xc2 || type === 0xc3) return undefined;
    if (type < 0xa0) return type < 0x90 ? members(type & 0x0f) : items(type & 0x0f);
    if (type < 0xc0) return skip(type & 0x1f);
    if (type >= 0xc4 && type <= 0xc6) return skip(uint(1 << (type - 0xc4), LEAST.bytes[type - 0xc4]));
    if (type >= 0xcc && type <= 0xcf) return uint(1 << (type - 0xcc), LEAST.integer[type - 0xcc]);
    if (type >= 0xd9 && type <= 0xdb) return skip(uint(1 << (type - 0xd9), LEAST.text[type - 0xd9]));
    if (type === 0xdc || type === 0xdd) return items(uint(2 << (type - 0xdc), LEAST.list[type - 0xdc]));
    assert(type === 0xde || type === 0xdf, "msgpack: a type that Algorand does not use");
    return members(uint(2 << (type - 0xde), LEAST.list[type - 0xde]));
  }
  function members(count) {
    const map = new Map();
    for (let last = ""; map.size < count; ) {
      const [key, member] = [encoded(), encoded()];
      const isText = (key[0] & 0xe0) === 0xa0;
      const name = key.toString("latin1", isText ? 1 : 0);
      assert(map.size === 0 || last < name, "msgpack: members out of order");
      assert(!(isStruct && isText && EMPTY.includes(member.toString("hex", 0, 3))), "msgpack: an empty member");
      map.set(name, member);
      last = name;
    }
    return map;
  }
  function items(count) {
    for (let index = 0; index < count; index++) value();
  }
  function encoded() {
    const start = at;
    value();
    return bytes.subarray(start, at);
  }
  function uint(length, least = 0) {
    skip(length);
    const number = Number(`0x${bytes.toString("hex", at - length, at)}`);
    assert(number >= least, "msgpack: not in its shortest form");
    return number;
  }
  function skip(length) {
    assert(length <= bytes.length - at, "msgpack: truncated");
    at += length;
  }
}
