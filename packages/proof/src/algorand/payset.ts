import { concatBytes, toBase32, utf8 } from "../encoding.ts";
import { malformed } from "../errors.ts";
import { sha512_256 } from "../sha2.ts";
import type { AlgorandBlock } from "./block.ts";
import { decodeMsgpack, decodeMsgpackMap, encodeMsgpack, getBytes, getString, type MsgpackMap } from "./msgpack.ts";
import { MsgpackCursor } from "./msgpack-cursor.ts";

/*
 * Reads a block's transactions as bytes, without decoding them: a full block has thousands, and hashing the node's own
 * encoding is enough. The hash binds what is found. A node whose encoding is not canonical only shows transactions with
 * other ids.
 */

/** A block, whose transactions are not decoded. */
export interface RawBlock extends Omit<AlgorandBlock, "transactions"> {
  /** The value of `txns`, a view; undefined where the block has no transactions. */
  payset: Uint8Array | undefined;
  entries: RawEntry[];
}

/** A transaction of a block. Byte strings are views of the block. */
export interface RawEntry {
  /** The in-block map, with the genesis left out. */
  bytes: Uint8Array;
  /** Its `txn`. */
  txn: Uint8Array;
  /** `hgi`: the transaction has the genesis id. */
  hasGenesisId: boolean;
  /** The transaction has made inner ones, `dt.itx`. */
  hasInner: boolean;
}

/** Takes `{block, cert}` apart, algod's answer to `GET /v2/blocks/{round}?format=msgpack`. @throws ProofError `malformed` */
export function splitRawBlock(answer: Uint8Array): RawBlock {
  const parts = membersOf(answer);
  const [block, cert] = [parts.get("block"), parts.get("cert")];
  if (block === undefined) throw malformed("block answer has no block");
  const members = membersOf(block);
  const payset = members.get("txns");
  members.delete("txns");
  const header: MsgpackMap = new Map();
  for (const [name, value] of members) header.set(name, decodeMsgpack(value));
  return {
    header,
    headerBytes: encodeMsgpack(header),
    payset,
    entries: payset === undefined ? [] : entriesOf(payset),
    cert: cert && decodeMsgpackMap(cert),
  };
}

function entriesOf(payset: Uint8Array): RawEntry[] {
  const cursor = new MsgpackCursor(payset);
  const entries: RawEntry[] = [];
  for (let left = cursor.array(); left > 0; left--) entries.push(entryAt(payset, cursor));
  return entries;
}

function entryAt(payset: Uint8Array, cursor: MsgpackCursor): RawEntry {
  const start = cursor.offset;
  let txn: Uint8Array | undefined;
  let [hasGenesisId, hasInner] = [false, false];
  for (let left = cursor.map(); left > 0; left--) {
    const name = cursor.name();
    const at = cursor.offset;
    cursor.skip();
    if (name === "txn") txn = payset.subarray(at, cursor.offset);
    else if (name === "hgi") hasGenesisId = payset[at] === TRUE;
    else if (name === "dt") hasInner = membersOf(payset.subarray(at, cursor.offset)).has("itx");
  }
  if (txn === undefined) throw malformed("block entry has no txn");
  return { bytes: payset.subarray(start, cursor.offset), txn, hasGenesisId, hasInner };
}

const TRUE = 0xc3;
const TX = utf8("TX");

/** Returns the values of a map by name, as views. */
function membersOf(map: Uint8Array): Map<string, Uint8Array> {
  const cursor = new MsgpackCursor(map);
  const members = new Map<string, Uint8Array>();
  for (let left = cursor.map(); left > 0; left--) {
    const name = cursor.name();
    if (members.has(name)) throw malformed(`msgpack: ${JSON.stringify(name)} twice`);
    members.set(name, cursor.value());
  }
  if (cursor.offset !== map.length) throw malformed(`msgpack: trailing bytes at offset ${cursor.offset}`);
  return members;
}

type Member = { name: string; bytes: Uint8Array };

/**
 * Returns functions that restore a block's transactions, with the genesis id and genesis hash from its header.
 * @param header of the block
 */
export function paysetReader(header: MsgpackMap) {
  const [genesisId, genesisHash] = [getString(header, "gen"), getBytes(header, "gh", 32)];
  const hash = genesisHash === undefined ? [] : [memberOf("gh", genesisHash)];
  const both = genesisId === undefined ? hash : [memberOf("gen", genesisId), ...hash];
  // One buffer for all hashes: an allocation per transaction costs as much as its hash.
  let preimage = new Uint8Array(4096);
  preimage.set(TX);
  /** @returns `"TX"` and the transaction: a view that the next call overwrites */
  const restored = ({ txn, hasGenesisId }: RawEntry) => {
    const added = hasGenesisId ? both : hash;
    const length = TX.length + txn.length + MAX_HEAD + added.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (preimage.length < length) {
      preimage = new Uint8Array(2 * length);
      preimage.set(TX);
    }
    return preimage.subarray(0, writeWith(preimage, TX.length, txn, added));
  };
  return {
    /** A transaction's id: 52 characters of base32. @throws ProofError `malformed` for an entry that repeats the genesis */
    txid: (entry: RawEntry) => toBase32(sha512_256(restored(entry))),
    /** Msgpack of the unsigned transaction, canonical where the node's is. @throws as `txid` */
    transaction: (entry: RawEntry) => restored(entry).slice(TX.length),
  };
}

function memberOf(name: string, value: string | Uint8Array): Member {
  return { name, bytes: concatBytes(encodeMsgpack(name), encodeMsgpack(value)) };
}

/** The most bytes in the head of a map with as many members as a transaction can have. */
const MAX_HEAD = 3;

/**
 * Writes a map and adds members, each at its place in the order of names.
 * @param added sorted by name
 * @returns the offset after the map
 */
function writeWith(target: Uint8Array, start: number, map: Uint8Array, added: readonly Member[]): number {
  const cursor = new MsgpackCursor(map);
  const size = cursor.map();
  let end = writeHead(target, start, size + added.length);
  let from = cursor.offset;
  let next = 0;
  const copyUntil = (to: number) => {
    const part = map.subarray(from, to);
    target.set(part, end);
    end += part.length;
    from = to;
  };
  const insert = ({ bytes }: Member) => {
    target.set(bytes, end);
    end += bytes.length;
    next += 1;
  };
  for (let left = size; left > 0; left--) {
    const at = cursor.offset;
    const name = cursor.name();
    for (let member = added[next]; member && member.name <= name; member = added[next]) {
      if (member.name === name) throw malformed("block entry repeats its header's genesis");
      copyUntil(at);
      insert(member);
    }
    cursor.skip();
  }
  copyUntil(map.length);
  for (let member = added[next]; member; member = added[next]) insert(member);
  return end;
}

function writeHead(target: Uint8Array, start: number, size: number): number {
  if (size > 0xffff) throw malformed("a transaction has no such number of members");
  const head = size < 16 ? [0x80 | size] : [0xde, size >> 8, size & 0xff];
  target.set(head, start);
  return start + head.length;
}
