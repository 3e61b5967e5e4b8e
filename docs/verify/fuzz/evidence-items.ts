import { createHash } from "node:crypto";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { alterPack } from "./alter-msgpack.ts";
import { bin, getMember, isStruct, type Pack, pack, setMember, uint, unpack } from "./msgpack.ts";
import { alterBytes, alterItems, type Random } from "./random.ts";
import type { Json } from "./values.ts";

/* What may be wrong in an item of evidence, with all that is said of it right. */

export type Item = { [name: string]: Json };

/** Changes one item, which is given to it. */
export function alterItem(random: Random, items: Item[]): void {
  const item = random.pick(items);
  if (typeof item !== "object" || item === null) return;
  const names = ["stibBase64", "headerBase64", "txnBytesBase64"].filter((name) => typeof item[name] === "string");
  const choices: [number, () => unknown][] = [];
  if (names.length > 0) choices.push([3, () => alterPacked(random, item, random.pick(names))]);
  if (typeof item.stateProofBase64 === "string") choices.push([8, () => alterStateProof(random, item)]);
  if (item.message !== undefined) choices.push([4, () => alterStake(random, item)]);
  if (Array.isArray(item.siblings)) choices.push([2, () => alterSiblings(random, item.siblings as Json[])]);
  if (typeof item.index === "number") choices.push([2, () => Object.assign(item, { index: near(random, item.index) })]);
  if (item.alg !== undefined) choices.push([2, () => alterAuthorisation(random, item)]);
  if (choices.length > 0) random.weigh(choices)();
}

function alterPacked(random: Random, item: Item, name: string): void {
  const bytes = fromBase64(String(item[name]));
  item[name] = toBase64(random.once(2) ? alterBytes(random, bytes) : repacked(random, bytes, alterPack));
}

/** Msgpack with a change to what is in it; what is no msgpack any more gets one to its bytes. */
function repacked(random: Random, bytes: Uint8Array, change: (random: Random, tree: Pack) => Pack): Uint8Array {
  try {
    return pack(change(random, unpack(bytes)));
  } catch (error) {
    if (error instanceof RangeError) return alterBytes(random, bytes);
    throw error;
  }
}

function near(random: Random, value: Json | undefined): Json {
  const number = typeof value === "number" ? value : 0;
  const others = [0, 1, number + 1, number - 1, number + 16, number - 16, number * 2, 2 ** 32, 2 ** 53 - 1];
  return Math.min(Math.max(0, random.pick(others)), 2 ** 53 - 1);
}

function alterSiblings(random: Random, siblings: Json[]): void {
  alterItems(random, siblings, () => toBase64(random.bytes(random.once(6) ? 31 : 32)));
}

function alterAuthorisation(random: Random, item: Item): void {
  const change = random.pick([
    () => Object.assign(item, { alg: item.alg === "ed25519" ? "falcon-1024" : "ed25519" }),
    () => delete item.authorizer,
    () => Object.assign(item, { authorizer: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY5HFKQ" }),
  ]);
  change();
}

/** Message, checkpoint and path. */
function alterStake(random: Random, item: Item): void {
  const [message, checkpoint] = [item.message, item.checkpoint] as [Item, Item];
  const shift = (by: number) => {
    for (const name of ["firstAttestedRound", "lastAttestedRound"]) message[name] = Number(message[name]) + by;
    checkpoint.round = Number(checkpoint.round) + by;
  };
  const integers = ["firstAttestedRound", "lastAttestedRound", "lnProvenWeight"];
  const change = random.pick([
    () => shift(random.pick([16, 1, 32, 256])),
    () => Object.assign(message, { [random.pick(integers)]: near(random, message[random.pick(integers)]) }),
    () => Object.assign(checkpoint, { [random.pick(["round", "lnProvenWeight"])]: near(random, checkpoint.round) }),
    () => Object.assign(checkpoint, { lnProvenWeight: near(random, checkpoint.lnProvenWeight) }),
    () => Object.assign(checkpoint, { genesisHash: toBase64(random.bytes(32)) }),
    () => Object.assign(checkpoint, { votersCommitment: toBase64(random.bytes(64)) }),
    () => Object.assign(message, { votersCommitment: toBase64(random.bytes(64)) }),
    () => Object.assign(message, { blockHeadersCommitment: toBase64(random.bytes(32)) }),
    () =>
      Object.assign(item, {
        path: {
          index: random.below(3),
          size: 1 + random.below(3),
          hashes: Array.from({ length: random.pick([0, 1, 2, 53, 54]) }, () => toBase64(random.bytes(32))),
        },
      }),
    () => delete item.stateProofBase64,
    () => Object.assign(item, { stateProofSha256: "0".repeat(64) }),
  ]);
  change();
}

/** The state proof: its members, what is within them, and its bytes; mostly with the right hash. */
function alterStateProof(random: Random, item: Item): void {
  const bytes = fromBase64(String(item.stateProofBase64));
  const altered = random.weigh<() => Uint8Array>([
    [2, () => alterBytes(random, bytes)],
    [3, () => repacked(random, bytes, alterPack)],
    [6, () => repacked(random, bytes, alterMember)],
  ])();
  item.stateProofBase64 = toBase64(altered);
  if (!random.once(12)) item.stateProofSha256 = createHash("sha256").update(altered).digest("hex");
}

/** Where a member of a state proof stands. Places are bytes, as they are encoded. */
const PATHS: (string | number)[][] = [
  ...[["c"], ["w"], ["v"], ["S"], ["P"], ["pr"], ["r"]],
  ...["hsh", "pth", "td"].flatMap((name) => [
    ["S", name],
    ["P", name],
    ["r", 0, "s", "s", "prf", name],
  ]),
  ...[
    ["r", 0, "p", "w"],
    ["r", 0, "p", "p", "cmt"],
    ["r", 0, "p", "p", "lf"],
    ["r", 0, "s", "l"],
    ["r", 0, "s", "s", "idx"],
    ["r", 0, "s", "s", "sig"],
    ["r", 0, "s", "s", "vkey", "k"],
    ["S", "hsh", "t"],
  ],
];

function alterMember(random: Random, tree: Pack): Pack {
  const steps = random.pick(PATHS);
  let at: Pack | undefined = tree;
  for (const step of steps.slice(0, -1)) at = memberOf(at, step);
  const name = steps.at(-1);
  if (at === undefined || !isStruct(at) || typeof name !== "string") return tree;
  const own = getMember(at, name);
  const value = random.weigh<() => Pack>([
    [3, () => uint(random.pick([0, 1, 2, 15, 16, 17, 20, 21, 255, 256, 2 ** 32, 2 ** 53, 2n ** 63n, 2n ** 64n - 1n]))],
    [2, () => bin(random.bytes(random.pick([0, 3, 63, 64, 65, 1423, 1424, 1793])))],
    [2, () => ({ items: Array.from({ length: random.below(4) }, () => bin(random.bytes(64))) })],
    [1, () => ({ items: Array.from({ length: random.pick([1, 148, 639, 640, 641]) }, () => uint(0)) })],
    [4, () => (own ? alterBytes(random, own) : uint(1))],
    [3, () => (own ? withinBytes(random, own) : uint(1))],
  ])();
  if (random.once(8)) at.members.splice(random.below(at.members.length), 1);
  else setMember(at, name, value);
  return tree;
}

/** Bytes in which one bit is another, behind their length. */
function withinBytes(random: Random, own: Uint8Array): Uint8Array {
  const place = Math.min(own.length - 1, 3 + random.below(own.length));
  return own.with(place, (own[place] as number) ^ (1 << random.below(8)));
}

function memberOf(tree: Pack | undefined, step: string | number): Pack | undefined {
  if (tree === undefined || !isStruct(tree)) return undefined;
  const key = typeof step === "number" ? uint(step) : undefined;
  const found = tree.members.find(([name]) =>
    key ? Buffer.compare(pack(name), key) === 0 : Buffer.from(pack(name)).subarray(1).toString() === step,
  );
  return found?.[1];
}
