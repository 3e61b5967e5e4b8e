import type { IdForm } from "../chain-format.ts";
import { concatBytes, equalBytes, fromBase32, toBase32, utf8 } from "../encoding.ts";
import { attempt, malformed } from "../errors.ts";
import { sha512_256 } from "../sha2.ts";
import {
  decodeMsgpackMap,
  encodeMsgpack,
  getBytes,
  getMap,
  getString,
  isEmpty,
  type MsgpackKey,
  type MsgpackMap,
  type MsgpackValue,
  RawString,
} from "./msgpack.ts";

const TX = utf8("TX");
const GROUP = utf8("TG");
const MULTISIG_ADDRESS = utf8("MultisigAddr");

/**
 * Returns the message that a transaction's signer signs: `"TX"` and the canonical msgpack of the unsigned transaction.
 */
export function signedMessage(bytes: Uint8Array): Uint8Array {
  return concatBytes(TX, bytes);
}

/** The 32 bytes of a transaction's id: SHA-512/256 of what its signer signs. */
export function transactionDigest(bytes: Uint8Array): Uint8Array {
  return sha512_256(signedMessage(bytes));
}

/**
 * Returns a group's id, 32 bytes, the `grp` of each member: SHA-512/256 of `"TG"` and the msgpack of the members' ids,
 * each computed without `grp`. Source: go-algorand, `data/transactions/checks.go`.
 */
export function groupDigest(members: readonly MsgpackMap[]): { digest: Uint8Array; ids: Uint8Array[] } {
  const ids = members.map((member) => {
    const alone = new Map(member);
    alone.delete("grp");
    return transactionDigest(encodeMsgpack(alone));
  });
  return { digest: sha512_256(concatBytes(GROUP, encodeMsgpack(new Map([["txlist", ids]])))), ids };
}

/** A transaction's id: 52 characters of base32. @param bytes canonical msgpack of the unsigned transaction */
export function txid(bytes: Uint8Array): string {
  return toBase32(transactionDigest(bytes));
}

/** Transaction ids and block hashes: 32 bytes. 52 characters hold 260 bits; the last 4 are unused and zero. */
export const ALGORAND_ID: IdForm = { pattern: /^[A-Z2-7]{51}[AQ]$/, description: "52 base32 characters" };

/**
 * Decodes an unsigned transaction: canonical msgpack of a map with a str `type` and no empty member (`omitempty`). It
 * accepts zero addresses and digests, which a node leaves out and only a schema shows; no ledger has an id of such bytes.
 * @throws ProofError `malformed`
 */
export function decodeTransaction(bytes: Uint8Array): MsgpackMap {
  const transaction = decodeMsgpackMap(bytes);
  const type = transaction.get("type");
  if (typeof type !== "string" && !(type instanceof RawString)) throw malformed("transaction has no type");
  if (hasEmptyMember(transaction) || !equalBytes(encodeMsgpack(transaction), bytes))
    throw malformed("transaction is not canonical msgpack");
  return transaction;
}

/** Whether `decodeTransaction` accepts the bytes. */
export function isCanonicalTransaction(bytes: Uint8Array): boolean {
  return attempt("malformed", () => decodeTransaction(bytes)) !== undefined;
}

/** Go's `omitempty` applies to structs, whose keys are strings, and not to maps, whose keys are integers. */
function hasEmptyMember(value: MsgpackValue): boolean {
  if (Array.isArray(value)) return value.some(hasEmptyMember);
  if (!(value instanceof Map)) return false;
  const isText = (key: MsgpackKey) => typeof key === "string" || key instanceof RawString;
  return [...value].some(([key, member]) => (isText(key) && isEmpty(member)) || hasEmptyMember(member));
}

/**
 * Restores the unsigned transaction from an element of a block's `txns`: adds the genesis id (if `hgi` is set) and the
 * genesis hash, which blocks leave out since consensus v16. Source: go-algorand, `data/bookkeeping`, DecodeSignedTxn.
 * @throws ProofError `malformed` when the element has no `txn` or repeats the header's genesis
 */
export function restoreTransaction(inBlock: MsgpackMap, header: MsgpackMap): MsgpackMap {
  const stripped = getMap(inBlock, "txn");
  if (stripped === undefined) throw malformed("block entry has no txn");
  if (stripped.has("gen") || stripped.has("gh")) throw malformed("block entry repeats its header's genesis");
  const transaction = new Map(stripped);
  const genesisId = getString(header, "gen");
  const genesisHash = getBytes(header, "gh", 32);
  if (inBlock.get("hgi") === true && genesisId !== undefined) transaction.set("gen", genesisId);
  if (genesisHash !== undefined) transaction.set("gh", genesisHash);
  return transaction;
}

const CHECKSUM_LENGTH = 4;

/** An account's address: base32 of the 32-byte public key and the last 4 bytes of its SHA-512/256; 58 characters. */
export function encodeAddress(publicKey: Uint8Array): string {
  if (publicKey.length !== 32) throw new TypeError("an Algorand public key has 32 bytes");
  return toBase32(concatBytes(publicKey, checksum(publicKey)));
}

/** The 32-byte public key of an address. @throws ProofError `malformed`, also when the checksum is wrong */
export function decodeAddress(address: string): Uint8Array {
  const bytes = fromBase32(address);
  const publicKey = bytes.subarray(0, 32);
  if (bytes.length !== 32 + CHECKSUM_LENGTH || !equalBytes(bytes.subarray(32), checksum(publicKey)))
    throw malformed("not an Algorand address");
  return publicKey;
}

/** Whether the text is an Algorand address with a right checksum. */
export function isAlgorandAddress(text: string): boolean {
  return attempt("malformed", () => decodeAddress(text)) !== undefined;
}

/** The account of a multisignature of version 1: 32 bytes. Source: go-algorand, `crypto/multisig.go`. */
export function multisigAccount(threshold: number, publicKeys: readonly Uint8Array[]): Uint8Array {
  return sha512_256(concatBytes(MULTISIG_ADDRESS, Uint8Array.of(1, threshold), ...publicKeys));
}

function checksum(publicKey: Uint8Array): Uint8Array {
  return sha512_256(publicKey).subarray(-CHECKSUM_LENGTH);
}
