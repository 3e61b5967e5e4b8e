// The note: its check against the bundle, and what is stated of a transaction.
import assert from "node:assert/strict";
import * as algorand from "./algorand.mjs";
import * as base from "./base.mjs";
import { ID, integer } from "./form.mjs";
import { canonical, parse } from "./json.mjs";

const CHAINS = { algorand, base };
const PREFIX = "attestd/v1:j";
const decode = (text) => Buffer.from(text, "base64");
/** What stands behind the prefix, where a byte order mark is no JSON. */
export function readNote(note) {
  assert(note.startsWith(PREFIX) && note[PREFIX.length] !== "\ufeff", "no note");
  return parse(Buffer.from(note.slice(PREFIX.length)));
}

/** Whether a note states what was recomputed, and its other members have their form. */
export function isNote(text, facts, chain) {
  const { LEVELS, CAN_FAIL } = CHAINS[chain];
  const { b, l, n, p, s, u } = readNote(text);
  // A transaction's bundle does not hold its block.
  const ofBlock = "t" in facts ? { b, n, u, ...(CAN_FAIL && { s }) } : {};
  const isStated =
    !("t" in facts) || (ID[chain].test(b) && [n, u].every(integer(0)) && (!CAN_FAIL || [0, 1].includes(s)));
  const isLevel = "r" in facts ? l === undefined : LEVELS.includes(l);
  const isForm = isLevel && /^[\w-]{21}[AQgw]$/.test(p) && !Object.values(facts).includes(undefined);
  return (
    isStated && isForm && text === `${PREFIX}${canonical({ ...facts, ...ofBlock, ...("r" in facts ? {} : { l }), p })}`
  );
}

/** What is stated of a transaction: its block by hash, height and time, and how it ended there. */
export function stating({ attest, statement }) {
  if (statement) return [statement.block.hash, statement.block.height, statement.block.time, statement.outcome];
  const { b, n, s, u } = readNote(attest.note);
  return [b, n, u, s === undefined ? "not_applicable" : OUTCOMES[s]];
}
const OUTCOMES = ["failed", "succeeded"];

/** What became of the transaction, where the bundle has its receipt. */
export function outcome({ source, inclusion: { receipt } }) {
  return receipt && base.receiptStatus(decode(receipt.bytesBase64), decode(source.txnBytesBase64));
}
