import { alterItems, type Random } from "./random.ts";

/* RLP as a tree whose every item can be spelled wrongly. */

/** Bytes, a list, or what stands there as it is, right or wrong. */
export type Rlp = Uint8Array | Rlp[] | { raw: Uint8Array };

export function toRlp(item: Rlp): Uint8Array {
  if ("raw" in item) return item.raw;
  if (!Array.isArray(item)) return item.length === 1 && (item[0] as number) < 0x80 ? item : prefixed(item, 0x80);
  return prefixed(Buffer.concat(item.map(toRlp)), 0xc0);
}

/** @param wide bytes of the length that are too many */
function prefixed(payload: Uint8Array, kind: number, wide = 0): Uint8Array {
  if (payload.length <= 55 && wide === 0) return Buffer.concat([Uint8Array.of(kind + payload.length), payload]);
  const digits = payload.length.toString(16);
  const width = Math.ceil(digits.length / 2) + (payload.length <= 55 ? wide - 1 : wide);
  const length = Buffer.from(digits.padStart(2 * width, "0"), "hex");
  return Buffer.concat([Uint8Array.of(kind + 55 + width), length, payload]);
}

/** An item that holds the same as another, by a length that is not the shortest. */
export function longForm(item: Rlp, wide = 1): Rlp {
  if ("raw" in item) return item;
  const payload = Array.isArray(item) ? Buffer.concat(item.map(toRlp)) : item;
  return { raw: prefixed(payload, Array.isArray(item) ? 0xc0 : 0x80, wide) };
}

const raw = (digits: string) => ({ raw: new Uint8Array(Buffer.from(digits, "hex")) });
const ODD: Rlp[] = [
  ...[
    "8100",
    "8105",
    "817f",
    "b800",
    "b80105",
    "b90001",
    "b837",
    "bf00000000000000ff",
    "bfffffffffffffffff",
    "b8ff",
  ].map(raw),
  ...[
    "f800",
    "f801c0",
    "f90000",
    "ffffffffffffffffff",
    "ff0000000000000001",
    "c1",
    "c180c0",
    "c7",
    "bf",
    "ff",
    "b8",
    "f8",
  ].map(raw),
  ...[[], [[]], [new Uint8Array()], [[], [[]]]],
];

/** A field by chance: of every length that matters, with and without leading zeros. */
export function field(random: Random): Rlp {
  return random.weigh<() => Rlp>([
    [3, () => random.pick(ODD)],
    [4, () => random.bytes(random.pick([0, 1, 2, 7, 8, 9, 19, 20, 21, 31, 32, 33, 40, 55, 56, 255, 256, 257]))],
    [2, () => Uint8Array.of(...(random.once(2) ? [0] : []), ...random.bytes(random.below(4)))],
    [
      3,
      () =>
        quantity(
          random.pick([
            0,
            1,
            2,
            26,
            27,
            28,
            34,
            35,
            36,
            37,
            127,
            128,
            8453,
            16_941,
            16_942,
            2 ** 32,
            2 ** 53 - 1,
            2 ** 53,
            2n ** 64n - 1n,
            2n ** 64n,
            2n ** 256n - 1n,
            2n ** 256n,
          ]),
        ),
    ],
    [1, () => nested(random)],
  ])();
}

/** An integer in its shortest form: zero is no bytes. */
export function quantity(value: number | bigint): Uint8Array {
  const digits = value.toString(16);
  return new Uint8Array(Buffer.from(value > 0 ? digits.padStart(digits.length + (digits.length % 2), "0") : "", "hex"));
}

function nested(random: Random): Rlp {
  let item: Rlp = [];
  for (let depth = random.pick([1, 5, 28, 29, 30, 31, 32, 33, 34, 100, 300]); depth > 0; depth--) item = [item];
  return item;
}

/** Changes one place of a list, which is given to it. */
export function alterRlp(random: Random, item: Rlp): Rlp {
  if (!Array.isArray(item)) return field(random);
  const list = random.once(3) ? random.pick(lists(item)) : item;
  const at = random.below(list.length);
  const one = list[at];
  if (one && random.once(8)) list[at] = longForm(one, 1 + random.below(2));
  else if (isSmall(one) && random.once(2)) list[at] = { raw: Uint8Array.of(0x81, ...one) };
  else if (one instanceof Uint8Array && random.once(4)) list[at] = Uint8Array.of(0, ...one);
  else alterItems(random, list, () => field(random));
  return item;
}

/** Whether it is a byte that stands for itself, and so has no prefix. */
function isSmall(item: Rlp | undefined): item is Uint8Array {
  return item instanceof Uint8Array && item.length === 1 && (item[0] as number) < 0x80;
}

function lists(item: Rlp): Rlp[][] {
  return Array.isArray(item) ? [item, ...item.flatMap(lists)] : [];
}
