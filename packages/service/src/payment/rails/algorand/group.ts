import {
  decodeCanonicalMap,
  encodeMsgpack,
  getMap,
  groupDigest,
  isCanonicalTransaction,
  type MsgpackMap,
} from "@attestd/proof/algorand";
import { equalBytes, fromBase64 } from "@attestd/proof/encoding";
import { paymentRefused } from "../rail.ts";

/** One element of a payment group, as sent. */
export type GroupMember = {
  transaction: MsgpackMap;
  /** Canonical msgpack of the unsigned transaction, without the prefix with which it is hashed and signed. */
  bytes: Uint8Array;
  /** The signed transaction's other members (`sig`, `msig`, `lsig`, `sgnr`); absent when it is unsigned. */
  envelope?: MsgpackMap;
};

/** The stock scheme sends the fee payer's transaction and the payer's. */
const MAX_MEMBERS = 2;

/**
 * Reads `{paymentGroup, paymentIndex}` of scheme `exact` on Algorand.
 * @param payload base64 of canonical msgpack of up to two transactions, signed or not, and the index of the payment
 * @throws payment_refused when it has another shape or is not canonical
 */
export function readGroup(payload: Record<string, unknown>): { members: GroupMember[]; index: number } {
  const { paymentGroup, paymentIndex: index } = payload;
  if (!Array.isArray(paymentGroup) || paymentGroup.length === 0 || paymentGroup.length > MAX_MEMBERS)
    throw paymentRefused("payload.paymentGroup is not a list of one or two transactions");
  if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= paymentGroup.length)
    throw paymentRefused("payload.paymentIndex is not an index of payload.paymentGroup");
  return { members: paymentGroup.map(readMember), index };
}

function readMember(text: unknown, i: number): GroupMember {
  const where = `payload.paymentGroup[${i}]`;
  try {
    const encoded = fromBase64(text as string);
    const outer = decodeCanonicalMap(encoded);
    const inner = getMap(outer, "txn");
    const transaction = inner ?? outer;
    const bytes = inner ? encodeMsgpack(inner) : encoded;
    if (!isCanonicalTransaction(bytes)) throw new Error("not canonical");
    if (!inner) return { transaction, bytes };
    const envelope = new Map(outer);
    envelope.delete("txn");
    return { transaction, bytes, envelope };
  } catch {
    throw paymentRefused(`${where} is not base64 of canonical msgpack of a transaction`);
  }
}

/**
 * Checks that `grp` of every member is this group's id.
 * @throws payment_refused
 */
export function checkGroupId(members: readonly GroupMember[]): void {
  const { digest: id } = groupDigest(members.map(({ transaction }) => transaction));
  const grouped = members.map(({ transaction }) => transaction.get("grp"));
  const alone = members.length === 1 && grouped[0] === undefined;
  if (!alone && !grouped.every((grp) => grp instanceof Uint8Array && equalBytes(grp, id)))
    throw paymentRefused("the group id is not the id of payload.paymentGroup");
}

/**
 * Refuses every field that is not allowed: an unknown field may move money or control.
 *
 * @throws payment_refused naming the first such field
 */
export function allowOnly(transaction: MsgpackMap, allowed: ReadonlySet<string>, what: string): void {
  for (const field of transaction.keys()) {
    if (typeof field !== "string" || !allowed.has(field))
      throw paymentRefused(`the ${what} has the field ${String(field)}, which a payment may not have`);
  }
}
