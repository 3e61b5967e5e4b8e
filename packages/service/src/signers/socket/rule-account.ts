import { createHash } from "node:crypto";
import { parseNote } from "@attestd/proof";
import {
  decodeMsgpackMap,
  encodeAddress,
  getBytes,
  getInteger,
  getString,
  isCanonicalMsgpack,
  isEmpty,
  type MsgpackMap,
  txid,
} from "@attestd/proof/algorand";
import { keyEntryBytes, keyRevocationBytes, parseKeyEntry } from "@attestd/proof/attestor";
import { equalBytes, fromUtf8, utf8 } from "@attestd/proof/encoding";
import type { SignedContext } from "../signer.ts";
import { type Attestor, type Form, Refusal, requireRecord } from "./forms.ts";

/** The number of rounds from a transaction's first to its last valid one. */
export const MAX_LIFETIME = 100n;
/** The limit of a genesis id, in characters; only the genesis hash matters. */
const MAX_GENESIS_ID = 64;

const TX = utf8("TX");
/** All members of the attestor's transactions: no amount, no close-out, no rekey, no group. */
const MEMBERS = ["fee", "fv", "gen", "gh", "lv", "lx", "note", "rcv", "snd", "type"];
/** All members of the transaction that rekeys the account. */
const REKEYING = ["fee", "fv", "gen", "gh", "lv", "rcv", "rekey", "snd", "type"];

/** @param message "TX" and a transaction of 0 from the account to itself, with the attestor's note */
export function accountForm(message: Uint8Array, context: SignedContext, attestor: Attestor): Form {
  if (!equalBytes(message.subarray(0, TX.length), TX)) throw new Refusal("neither a transaction nor a probe");
  const bytes = message.subarray(TX.length);
  const transaction = decodeMsgpackMap(bytes);
  if (!isCanonicalMsgpack(bytes) || [...transaction.values()].some(isEmpty))
    throw new Refusal("the transaction is not canonical msgpack");
  const { rekey } = attestor;
  if (rekey !== undefined && transaction.has("rekey")) {
    checkMembers(transaction, attestor, REKEYING);
    const to = getBytes(transaction, "rekey", 32);
    if (to === undefined || encodeAddress(to) !== rekey)
      throw new Refusal(`this signer was not started with --rekey ${to && encodeAddress(to)}`);
    return { form: "rekeying", about: rekey };
  }
  checkMembers(transaction, attestor, MEMBERS);
  if (getBytes(transaction, "lx", 32) === undefined) throw new Refusal("the transaction has no lease");
  const note = parseNote(fromUtf8(getBytes(transaction, "note") ?? new Uint8Array()));
  if (note.g !== attestor.ledger) throw new Refusal("the note names another ledger");
  if ("k" in note) return keyNote(note.k, context.keyRecord, getInteger(transaction, "lv"), attestor);
  if (context.keyRecord) throw new Refusal("a key record is allowed only with a key note");
  if (note.a !== attestor.keySha256) throw new Refusal("the note names another key");
  return { form: "note", about: txid(new Uint8Array(bytes)) };
}

function checkMembers(transaction: MsgpackMap, attestor: Attestor, members: readonly string[]): void {
  const { account, genesisHash, maxFee } = attestor;
  const unknown = [...transaction.keys()].find((key) => !members.includes(String(key)));
  if (unknown !== undefined) throw new Refusal(`the transaction has ${String(unknown).slice(0, 20)}`);
  if (getString(transaction, "type") !== "pay") throw new Refusal("the transaction is not a payment");
  const isOwn = (member: string) => equalBytes(getBytes(transaction, member, 32) ?? new Uint8Array(), account);
  if (!isOwn("snd")) throw new Refusal("the transaction is another account's");
  if (!isOwn("rcv")) throw new Refusal("the payment is to another account");
  if (!equalBytes(getBytes(transaction, "gh", 32) ?? new Uint8Array(), genesisHash))
    throw new Refusal("the transaction is for another network");
  if ((getString(transaction, "gen") ?? "").length > MAX_GENESIS_ID) throw new Refusal("the genesis id is too long");
  const fee = getInteger(transaction, "fee");
  if (fee > maxFee) throw new Refusal(`the fee of ${fee} is over ${maxFee}`);
  const lifetime = getInteger(transaction, "lv") - getInteger(transaction, "fv");
  if (lifetime < 0n || lifetime > MAX_LIFETIME)
    throw new Refusal(`the transaction is valid for ${lifetime} rounds, not for 0 to ${MAX_LIFETIME}`);
}

/**
 * @param k SHA-256 in hex of the record that the note announces, and that must accompany it
 * @param lastValid the last round in which the note can be recorded
 */
function keyNote(k: string, record: Uint8Array | undefined, lastValid: bigint, attestor: Attestor): Form {
  if (!record || createHash("sha256").update(record).digest("hex") !== k)
    throw new Refusal("a key note needs the record that it announces");
  const entry = parseKeyEntry(fromUtf8(record));
  if (entry.algorandAddress !== attestor.algorandAddress) throw new Refusal("the key record names another account");
  const { revokedRound } = entry;
  const bytes = revokedRound === undefined ? keyEntryBytes(entry) : keyRevocationBytes({ ...entry, revokedRound });
  if (!equalBytes(bytes, record)) throw new Refusal("the key record is not the noted one");
  if (revokedRound === undefined) requireRecord(k, attestor.endorse, "--endorse");
  else requireRecord(k, attestor.revoke, "--revoke");
  if (revokedRound === undefined && lastValid >= entry.fromRound)
    throw new Refusal("the note of a key could be recorded after its first round");
  return { form: "key-note", about: k };
}
