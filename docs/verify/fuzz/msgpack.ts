import type { Random } from "./random.ts";

/* Msgpack as a tree whose every node can be spelled wrongly: nothing here knows what is canonical. */

/** A scalar by its own bytes, an array or a map; `width` is of its count in bytes, 0 the shortest, `lie` is added to it. */
export type Pack = Uint8Array | List | Struct;
type List = { items: Pack[]; width?: number; lie?: number };
type Struct = { members: [key: Pack, value: Pack][]; width?: number; lie?: number };

const isList = (pack: Pack): pack is List => "items" in pack;
const isStruct = (pack: Pack): pack is Struct => "members" in pack;

/** Reads what is msgpack. @throws RangeError otherwise */
export function unpack(bytes: Uint8Array): Pack {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const count = (width: number) => {
    const start = at;
    at += width;
    return width === 1 ? view.getUint8(start) : width === 2 ? view.getUint16(start) : view.getUint32(start);
  };
  const list = (length: number) => ({ items: Array.from({ length }, read) });
  const struct = (length: number) => ({
    members: Array.from({ length }, (): [Pack, Pack] => [read(), read()]),
  });
  const scalar = (start: number, end: number) => {
    if (end > bytes.length) throw new RangeError("truncated");
    at = end;
    return bytes.slice(start, end);
  };
  function read(): Pack {
    const start = at;
    const type = count(1);
    if ((type & 0xf0) === 0x80) return struct(type & 0x0f);
    if ((type & 0xf0) === 0x90) return list(type & 0x0f);
    if (type >= 0xa0 && type < 0xc0) return scalar(start, at + (type & 0x1f));
    if (type === 0xdc || type === 0xdd) return list(count(2 << (type - 0xdc)));
    if (type === 0xde || type === 0xdf) return struct(count(2 << (type - 0xde)));
    if (type >= 0xc4 && type <= 0xc6) return scalar(start, count(1 << (type - 0xc4)) + at);
    if (type >= 0xd9 && type <= 0xdb) return scalar(start, count(1 << (type - 0xd9)) + at);
    if (type >= 0xcc && type <= 0xcf) return scalar(start, at + (1 << (type - 0xcc)));
    return scalar(start, at);
  }
  return read();
}

export function pack(tree: Pack): Uint8Array {
  return Uint8Array.from(bytesOf(tree));
}

function bytesOf(tree: Pack): number[] {
  if (isList(tree)) return [...head(tree, tree.items.length, 0x90, 0xdc), ...tree.items.flatMap(bytesOf)];
  if (isStruct(tree)) return [...head(tree, tree.members.length, 0x80, 0xde), ...tree.members.flat().flatMap(bytesOf)];
  return [...tree];
}

function head({ width = 0, lie = 0 }: { width?: number; lie?: number }, length: number, short: number, long: number) {
  const count = Math.max(0, length + lie);
  if (width === 0 && count < 16) return [short + count];
  return width < 4 && count < 2 ** 16
    ? [long, count >> 8, count & 255]
    : [long + 1, count >>> 24, (count >> 16) & 255, (count >> 8) & 255, count & 255];
}

/** A `str` in its shortest form. */
export function str(text: string | Uint8Array): Uint8Array {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  if (bytes.length < 32) return Uint8Array.of(0xa0 + bytes.length, ...bytes);
  if (bytes.length < 256) return Uint8Array.of(0xd9, bytes.length, ...bytes);
  return Uint8Array.of(0xda, bytes.length >> 8, bytes.length & 255, ...bytes);
}
/** A `bin` in its shortest form. */
export function bin(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 256) return Uint8Array.of(0xc4, bytes.length, ...bytes);
  return Uint8Array.of(0xc5, bytes.length >> 8, bytes.length & 255, ...bytes);
}
/** A non-negative integer in its shortest form. */
export function uint(value: bigint | number): Uint8Array {
  if (value < 0x80) return Uint8Array.of(Number(value));
  const width = [1, 2, 4, 8].find((bytes) => BigInt(value) < 256n ** BigInt(bytes)) ?? 8;
  const digits = BigInt.asUintN(64, BigInt(value))
    .toString(16)
    .padStart(2 * width, "0");
  return Uint8Array.of(0xcc + Math.log2(width), ...Buffer.from(digits, "hex"));
}

const hex = (digits: string) => new Uint8Array(Buffer.from(digits.replaceAll(" ", ""), "hex"));
/** Integers in every form, and every type by its first byte. */
const ODD = [
  ...["00", "01", "7f", "cc05", "cc80", "ccff", "cd0005", "cd00ff", "cd0100", "ce00000005", "ce0000ffff", "ce00010000"],
  ...["cf0000000000000005", "cf00000000ffffffff", "cf0000000100000000", "cf001fffffffffffff", "cf0020000000000000"],
  ...[
    "cf7fffffffffffffff",
    "cf8000000000000000",
    "cfffffffffffffffff",
    "ff",
    "e0",
    "f0",
    "d005",
    "d0ff",
    "d0df",
    "d080",
  ],
  ...["d10005", "d1ffff", "d1ff7f", "d18000", "d200000005", "d2ffffffff", "d2ffff7fff", "d280000000"],
  ...["d30000000000000005", "d3ffffffffffffffff", "d3ffffffff7fffffff", "d38000000000000000"],
  ...[
    "c0",
    "c1",
    "c2",
    "c3",
    "a0",
    "a161",
    "a1ff",
    "a2c3a9",
    "a3eda080",
    "a3c0af00",
    "d900",
    "d90161",
    "da0001 61",
    "db00000001 61",
  ],
  ...["c400", "c40100", "c500 00", "c50001 61", "c60000 0001 61", "c4ff", "c6ffffffff", "dbffffffff", "dfffffffff"],
  ...[
    "ca00000000",
    "cb0000000000000000",
    "d40000",
    "d50000 00",
    "c70000",
    "c8000000",
    "c900000000 00",
    "d6 00000000 00",
  ],
  ...["80", "90", "de0000", "df00000000", "dc0000", "dd00000000", "81c0c0", "8101a0", "8100c2", "91c2", "81a16180"],
].map(hex);
const NAMES = [
  "",
  "1",
  "a",
  "gen",
  "gh",
  "grp",
  "rnd",
  "tc",
  "tx",
  "txn",
  "txn256",
  "txn512",
  "type",
  "x".repeat(31),
  "x".repeat(32),
  "zz",
];

/** A scalar by chance, mostly an odd one. */
function scalar(random: Random): Pack {
  return random.weigh<() => Pack>([
    [12, () => random.pick(ODD)],
    [2, () => bin(random.once(4) ? new Uint8Array(32) : random.bytes(random.pick([0, 1, 31, 32, 33, 64, 255, 256])))],
    [
      2,
      () =>
        str(
          random
            .bytes(random.pick([0, 1, 5, 31, 32, 33, 255, 256]))
            .map((byte) => (random.once(20) ? byte : byte & 0x5f)),
        ),
    ],
    [
      2,
      () =>
        uint(
          random.pick([
            0,
            1,
            127,
            128,
            255,
            256,
            65_535,
            65_536,
            2 ** 32 - 1,
            2 ** 32,
            2 ** 53 - 1,
            2 ** 53,
            2n ** 64n - 1n,
          ]),
        ),
    ],
    [1, () => str(random.pick(NAMES))],
    [1, () => nested(random)],
  ])();
}

/** Arrays in arrays, or maps in maps, as deep as a reader may care about. */
function nested(random: Random): Pack {
  const isMap = random.once(2);
  let tree: Pack = random.pick(ODD);
  for (let depth = random.pick([1, 2, 3, 8, 20, 30, 60, 61, 62, 63, 64, 65, 66, 100, 300]); depth > 0; depth--)
    tree = isMap ? { members: [[str("a"), tree]] } : { items: [tree] };
  return tree;
}

function key(random: Random): Pack {
  return random.weigh<() => Pack>([
    [4, () => str(random.pick(NAMES))],
    [3, () => scalar(random)],
    [1, () => uint(random.below(300))],
    [1, () => bin(random.bytes(random.below(4)))],
    [1, () => str(random.bytes(random.below(4)))],
    [1, () => Uint8Array.of(255 - random.below(32))],
  ])();
}

/** Changes one place of a tree, which is given to it. */
export function alterPack(random: Random, tree: Pack): Pack {
  if (!isList(tree) && !isStruct(tree)) return scalar(random);
  const at = random.pick(containers(tree));
  if (random.once(12)) {
    at.width = random.pick([2, 4]);
    return tree;
  }
  if (random.once(40)) {
    at.lie = random.pick([-1, 1, 16]);
    return tree;
  }
  if (isList(at)) alterItems(random, at.items, () => scalar(random));
  else alterMembers(random, at);
  return tree;
}

function containers(tree: Pack): (List | Struct)[] {
  if (isList(tree)) return [tree, ...tree.items.flatMap(containers)];
  return isStruct(tree) ? [tree, ...tree.members.flat().flatMap(containers)] : [];
}

/** Replaces, adds, doubles, drops or moves one item of a list. */
export function alterItems<T>(random: Random, items: T[], make: () => T): void {
  const at = random.below(items.length);
  const choices: [number, () => unknown][] = [
    [2, () => items.splice(random.below(items.length + 1), 0, make())],
    [3, () => items.splice(at, 1, make())],
    [1, () => items.splice(at, 1)],
    [1, () => items.splice(at, 0, items[at] as T)],
    [1, () => items.splice(random.below(items.length), 0, ...items.splice(at, 1))],
  ];
  random.weigh(items.length === 0 ? choices.slice(0, 1) : choices)();
}

function alterMembers(random: Random, at: Struct): void {
  const member = at.members[random.below(at.members.length)];
  if (member === undefined || random.once(3)) insert(random, at, [key(random), scalar(random)]);
  else if (random.once(2)) member[1] = scalar(random);
  else if (random.once(4)) member[0] = key(random);
  else alterItems(random, at.members, () => [key(random), scalar(random)]);
}

/** A new member, mostly where its key belongs: by the text's bytes, or by all bytes where it is no text. */
function insert(random: Random, { members }: Struct, member: [Pack, Pack]): void {
  const whole = random.once(2);
  const text = (of: Pack) => {
    const bytes = Buffer.from(pack(of));
    return whole || ((bytes[0] ?? 0) & 0xe0) !== 0xa0 ? bytes : bytes.subarray(1);
  };
  const place = members.findIndex(([other]) => Buffer.compare(text(other), text(member[0])) > 0);
  const sorted = place === -1 ? members.length : place;
  members.splice(random.once(4) ? random.below(members.length + 1) : sorted, 0, member);
}

/** Sets a member of a map, where its name belongs. */
export function setMember(tree: Pack, name: string, value: Pack): void {
  if (!isStruct(tree)) return;
  const own = Buffer.from(str(name));
  const found = tree.members.find(([other]) => !isList(other) && !isStruct(other) && own.equals(other));
  if (found) found[1] = value;
  else {
    const place = tree.members.findIndex(([other]) => Buffer.compare(pack(other).subarray(1), own.subarray(1)) > 0);
    tree.members.splice(place === -1 ? tree.members.length : place, 0, [own, value]);
  }
}

/** A member of a map, as it is encoded. */
export function getMember(tree: Pack, name: string): Uint8Array | undefined {
  const own = Buffer.from(str(name));
  const found = isStruct(tree) ? tree.members.find(([other]) => own.equals(pack(other))) : undefined;
  return found && pack(found[1]);
}
