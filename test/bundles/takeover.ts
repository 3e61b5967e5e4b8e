import type { KeyEntry, KeyHistory, ProofBundle, RecordedNote } from "@attestd/proof";
import { encodeNote, keyEntryBytes, keyEntryHash, keyRevocationHash } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";
import { testAttestor, testBundle, testHistory } from "./bundles.ts";

/** The forgery of a thief who has an attestor's PQ seed, but not its account. */
export type TestTakeover = {
  /** The attestor's own key, revoked, and a successor that it has endorsed: of the thief's key and the thief's account. */
  history: KeyHistory;
  /** The notes of both, as the thief's account has recorded them. */
  notes: RecordedNote[];
  /** By the successor. */
  bundle: ProofBundle;
};

/** A takeover of an attestor whose key began in round 1: revoked from round 900 on, succeeded in round 1000. */
export function testTakeover(attestor = testAttestor()): TestTakeover {
  const thief = testAttestor("thief");
  const { ledger, keys } = testHistory([
    { attestor, fromRound: 1, revokedRound: 900 },
    { attestor: thief, fromRound: 1000 },
  ]);
  const [own, { endorsement: _, ...successor }] = keys as [KeyEntry, KeyEntry];
  const theirs: KeyEntry = { ...successor, algorandAddress: thief.algorandAddress };
  theirs.endorsement = toBase64(attestor.sign(keyEntryBytes(theirs)));
  const noted = (k: string, round: number): RecordedNote => {
    return { txid: `NOTE ${round}`, round, sender: thief.algorandAddress, note: encodeNote({ g: ledger, k }) };
  };
  return {
    history: { version: 1, ledger, keys: [own, theirs] },
    notes: [noted(keyEntryHash(theirs), 980), noted(keyRevocationHash({ ...own, revokedRound: 900 }), 981)],
    bundle: testBundle({ attestor: thief, round: 1500 }),
  };
}
