import { ProofError } from "@attestd/proof";
import { decodeMsgpackMap, encodeAddress, getBytes, getInteger, getMap, getString } from "@attestd/proof/algorand";
import { fromUtf8, toBase64 } from "@attestd/proof/encoding";
import type { AlgorandSource, LedgerTransaction } from "../chains/algorand/source.ts";
import { isSourceError, isUndecided } from "../chains/chain.ts";
import { unavailable } from "../providers/provider.ts";
import type { Attempt } from "./ledger.ts";

/** An attestation transaction on the ledger, for the check `chainAttest`. */
export type RecordedAttestation = {
  txid: string;
  round: number;
  sender: string;
  /** The note's bytes. */
  note: Uint8Array;
  /** The moved amount in microAlgos. */
  amount: bigint;
  type: string;
  closesOrRekeys: boolean;
  /** Base64, 32 bytes. */
  genesisHash: string;
  /** The time in its block's header, in seconds since 1970; absent if no node keeps the block. */
  time?: number;
};

/**
 * Reads an attestation transaction from the ledger.
 * @param ledger as a source
 * @returns undefined when enough caught-up indexers know no such transaction
 * @throws ProviderError
 */
export async function readRecorded(
  ledger: Pick<AlgorandSource, "find">,
  id: string,
  signal: AbortSignal,
): Promise<RecordedAttestation | undefined> {
  const found = await unlessAbsent(ledger.find(id, signal));
  return found && readAttestation(found);
}

/**
 * @returns the result of a look-up; undefined when there is no such transaction. @throws ProviderError when that is
 *   undecided
 */
export function unlessAbsent<T>(found: Promise<T>): Promise<T | undefined> {
  return found.catch((error: unknown) => {
    if (!isSourceError(error)) throw error;
    if (isUndecided(error)) throw unavailable(error.message, error);
    return undefined;
  });
}

function readAttestation({ txnId, bytes, height, time }: LedgerTransaction): RecordedAttestation {
  const transaction = decodeMsgpackMap(bytes);
  const sender = getBytes(transaction, "snd", 32);
  const genesisHash = getBytes(transaction, "gh", 32);
  return {
    txid: txnId,
    round: height,
    sender: sender ? encodeAddress(sender) : "",
    note: getBytes(transaction, "note") ?? new Uint8Array(),
    amount: getInteger(transaction, "amt"),
    type: getString(transaction, "type") ?? "",
    closesOrRekeys: transaction.has("close") || transaction.has("rekey"),
    genesisHash: genesisHash ? toBase64(genesisHash) : "",
    ...(time !== undefined && { time }),
  };
}

/**
 * Reads an attestation transaction's note from the signed bytes, because the ledger records those.
 * @returns the note's UTF-8 as text
 * @throws ProofError `malformed` when the bytes are not a signed transaction with a note
 */
export function noteOf({ txid, raw }: Pick<Attempt, "txid" | "raw">): string {
  const transaction = getMap(decodeMsgpackMap(raw), "txn");
  const note = transaction && getBytes(transaction, "note");
  if (!note) throw new ProofError("malformed", `the attestation ${txid} has no note`);
  return fromUtf8(note);
}
