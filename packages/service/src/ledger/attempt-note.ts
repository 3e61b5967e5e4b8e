import { ProofError } from "@attestd/proof";
import { decodeMsgpackMap, getBytes, getMap } from "@attestd/proof/algorand";
import { fromUtf8 } from "@attestd/proof/encoding";
import type { Attempt } from "./ledger.ts";

/**
 * The note that an attestation transaction carries, read from the bytes that were signed: whatever has changed since
 * then, this is what the ledger records.
 *
 * @returns the note's UTF-8 as text
 * @throws ProofError `malformed` when the bytes are not a signed transaction with a note
 */
export function noteOf({ txid, raw }: Pick<Attempt, "txid" | "raw">): string {
  const transaction = getMap(decodeMsgpackMap(raw), "txn");
  const note = transaction && getBytes(transaction, "note");
  if (!note) throw new ProofError("malformed", `the attestation ${txid} has no note`);
  return fromUtf8(note);
}
