import { bin, isList, isStruct, type List, type Pack, pack, type Struct, str, uint } from "./msgpack.ts";
import { alterItems, type Random } from "./random.ts";

/* Mistakes in msgpack: what no node would write, and some of what one would. */

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
