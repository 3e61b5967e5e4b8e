import type { Finding } from "./chain-format.ts";
import { toHex } from "./encoding.ts";
import { attempt, formatError } from "./errors.ts";
import { canonicalBytes } from "./json/canonical.ts";
import { childPointer } from "./json/parse.ts";
import { encodeNote, parseNote } from "./note.ts";
import { sha256 } from "./sha2.ts";
import { accountOf, type KeyEntry, type KeyHistory, keyEntryHash } from "./trust.ts";

/** A transaction of the ledger that carries a note. */
export type RecordedNote = { txid: string; round: number; sender: string; note: string };

/** Returns the bytes to which a revocation commits: RFC 8785 of the key's entry with `revokedRound`. */
export function keyRevocationBytes(entry: KeyEntry & { revokedRound: number }): Uint8Array<ArrayBuffer> {
  const { endorsement: _endorsement, untilRound: _untilRound, ...withdrawn } = entry;
  return canonicalBytes(withdrawn);
}

/** Returns the `k` of the note that revokes a key: SHA-256 of `keyRevocationBytes`, hex. */
export function keyRevocationHash(entry: KeyEntry & { revokedRound: number }): string {
  return toHex(sha256(keyRevocationBytes(entry)));
}

/** Returns the prefix that only a ledger's key notes have, for an indexer's search. @param ledger CAIP-2 */
export function keyNotePrefix(ledger: string): string {
  return encodeNote({ g: ledger, k: "" }).slice(0, -'"}'.length);
}

/**
 * Checks that a key history only adds to an earlier copy. This finds an altered first entry, a cut end and a withdrawn
 * revocation, which a single history cannot show.
 * @param known the earlier result of `parseKeyHistory`
 * @param fresh the later one
 * @throws ProofError `format` pointing into `fresh`
 */
export function requireContinuation(known: KeyHistory, fresh: KeyHistory): void {
  if (fresh.ledger !== known.ledger) throw formatError("/ledger", `was ${known.ledger} before`);
  known.keys.forEach((before, index) => {
    const pointer = childPointer("/keys", index);
    const now = fresh.keys[index];
    if (now === undefined) throw formatError(pointer, `the key ${before.kid}, known before, is gone`);
    if (now.kid !== before.kid) throw formatError(pointer, `was the key ${before.kid} before`);
    if (keyEntryHash(now) !== keyEntryHash(before)) throw formatError(pointer, "is not the entry known before");
    if (before.revokedRound !== undefined && now.revokedRound !== before.revokedRound)
      throw formatError(`${pointer}/revokedRound`, `the key was revoked from round ${before.revokedRound} on before`);
  });
}

/**
 * Compares a key history with the key notes on its ledger: each key but the first and each revocation needs a note, and
 * each note an entry. This finds a cut end and a missing revocation.
 * @param recorded transactions on the history's ledger whose notes begin with `keyNotePrefix`; those that the
 *   attestor's account did not send are ignored
 */
export function checkKeyNotes(history: KeyHistory, recorded: readonly RecordedNote[]): Finding[] {
  const account = accountOf(history);
  const left = new Map(
    recorded
      .filter(({ sender }) => sender === account)
      // If notes are equal the earliest counts, so the map gets it last.
      .toSorted((a, b) => b.round - a.round)
      .flatMap((one) => {
        const k = keyNoteHash(one.note, history.ledger);
        return k === undefined ? [] : [[k, one] as const];
      }),
  );
  const findings = history.keys.flatMap((entry, index) => {
    const { kid, fromRound, revokedRound } = entry;
    const pointer = childPointer("/keys", index);
    const found: Finding[] = [];
    if (index > 0) {
      const note = take(left, keyEntryHash(entry));
      if (!note) found.push({ pointer, message: `the ledger has no note of the key ${kid}` });
      else if (note.round >= fromRound)
        found.push({
          pointer: `${pointer}/fromRound`,
          message: `the key ${kid} was noted in round ${note.round}, not before its first, ${fromRound}`,
        });
    }
    if (revokedRound !== undefined && !take(left, keyRevocationHash({ ...entry, revokedRound })))
      found.push({
        pointer: `${pointer}/revokedRound`,
        message: `the ledger has no note that revokes the key ${kid} from round ${revokedRound} on`,
      });
    return found;
  });
  const unaccounted = [...left.values()].map(({ txid, round }) => ({
    pointer: "/keys",
    message: `the note ${txid} in round ${round} announces a key or a revocation that the history lacks`,
  }));
  return [...findings, ...unaccounted];
}

/** Returns the `k` of a key note; undefined for any other note, or another ledger's. */
function keyNoteHash(text: string, ledger: string): string | undefined {
  const note = attempt("format", () => parseNote(text));
  return note && "k" in note && note.g === ledger ? note.k : undefined;
}

function take<K, V>(map: Map<K, V>, key: K): V | undefined {
  const value = map.get(key);
  map.delete(key);
  return value;
}
