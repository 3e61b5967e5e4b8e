/* Msgpack as a tree whose every node can be spelled wrongly: nothing here knows what is canonical. */

/** A scalar by its own bytes, an array or a map; `width` is of its count in bytes, 0 the shortest, `lie` is added to it. */
export type Pack = Uint8Array | List | Struct;
export type List = { items: Pack[]; width?: number; lie?: number };
export type Struct = { members: [key: Pack, value: Pack][]; width?: number; lie?: number };

export const isList = (pack: Pack): pack is List => "items" in pack;
export const isStruct = (pack: Pack): pack is Struct => "members" in pack;

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
