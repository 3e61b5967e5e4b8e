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

/** The members of a map whose keys are text, each as it is encoded. A struct leaves out what is empty. */
export function readMap(bytes, isStruct = false) {
  let at = 0;
  const map = value(0);
  assert(map instanceof Map && at === bytes.length, "msgpack: not one map");
  return map;

  function value(depth) {
    assert(depth <= 64, "msgpack: nested deeper than 64");
    const type = uint(1);
    if (type < 0x80 || type === 0xc0 || type === 0xc2 || type === 0xc3) return undefined;
    if (type < 0xa0) return type < 0x90 ? members(type & 0x0f, depth + 1) : items(type & 0x0f, depth + 1);
    if (type < 0xc0) return skip(type & 0x1f);
    if (type >= 0xc4 && type <= 0xc6) return skip(uint(1 << (type - 0xc4), LEAST.bytes[type - 0xc4]));
    if (type >= 0xcc && type <= 0xcf) return uint(1 << (type - 0xcc), LEAST.integer[type - 0xcc]);
    if (type >= 0xd9 && type <= 0xdb) return skip(uint(1 << (type - 0xd9), LEAST.text[type - 0xd9]));
    if (type === 0xdc || type === 0xdd) return items(uint(2 << (type - 0xdc), LEAST.list[type - 0xdc]), depth + 1);
    assert(type === 0xde || type === 0xdf, "msgpack: a type that Algorand does not use");
    return members(uint(2 << (type - 0xde), LEAST.list[type - 0xde]), depth + 1);
  }
  /** Keys are integers, which go before, by value, or text, by its bytes. */
  function members(count, depth) {
    const map = new Map();
    for (let last = ""; count > 0; count--) {
      const [key, member] = [encoded(depth), encoded(depth)];
      const size = key[0] >= 0xd9 && key[0] <= 0xdb ? 1 + 2 ** (key[0] - 0xd9) : 1;
      const isText = size > 1 || (key[0] & 0xe0) === 0xa0;
      assert(isText || key[0] < 0x80 || (key[0] >= 0xcc && key[0] <= 0xcf), "msgpack: a key of another type");
      const name = key.toString("latin1", isText ? size : 0);
      const place = `${isText ? 1 : 0}${name}`;
      assert(last < place, "msgpack: members out of order");
      assert(!(isStruct && isText && EMPTY.includes(member.toString("hex", 0, 3))), "msgpack: an empty member");
      if (isText) map.set(name, member);
      last = place;
    }
    return map;
  }
  function items(count, depth) {
    for (let index = 0; index < count; index++) value(depth);
  }
  function encoded(depth) {
    const start = at;
    value(depth);
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
