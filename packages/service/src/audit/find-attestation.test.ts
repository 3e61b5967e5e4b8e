import { encodeNote, paymentCommitment } from "@attestd/proof/attestor";
import { expect, test } from "vitest";
import { ATTEMPT_ROUNDS, type Attempt } from "../ledger/ledger.ts";
import type { LedgerNote } from "../ledger/search.ts";
import { unavailable } from "../providers/provider.ts";
import { type AttestationSearchOptions, searchAttestations } from "./find-attestation.ts";

const ATTESTOR = "ATTESTOR";
const LEDGER = "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe";

function attestation(key: string, round: number, sender = ATTESTOR): LedgerNote & { attempt: Attempt } {
  const txid = `OF ${key} IN ${round}`;
  const source = { t: "SOURCE", b: "BLOCK", n: 7, u: 1_780_000_000, h: "0".repeat(64), l: "finalized" } as const;
  const note = encodeNote({ a: "A".repeat(43), c: LEDGER, g: LEDGER, p: paymentCommitment(key), ...source });
  const attempt = { txid, raw: new Uint8Array(), firstValid: round, lastValid: round + ATTEMPT_ROUNDS };
  return { txid, round, sender, note, movesNothing: true, attempt };
}

/** Makes a ledger whose rounds pass as soon as they are awaited, and records what was read. */
function ledgerWith(notes: (LedgerNote & { attempt: Attempt })[], { behind = 0, failures = 0 } = {}) {
  let round = 500;
  const read: string[] = [];
  const waits: number[] = [];
  const options: AttestationSearchOptions = {
    reader: { heads: async () => ({ latest: round, final: round }), heightAt: async () => 400 },
    since: 0,
    async *notes({ from, to }) {
      if (failures-- > 0) throw unavailable("no indexer answers");
      read.push(`${from} to ${to}`);
      yield* notes.filter((note) => from <= note.round && note.round <= to);
    },
    attestor: { algorandAddress: ATTESTOR },
    rounds: { latest: () => round, isCurrent: () => round >= 500 + behind, next: async () => ++round },
    signal: AbortSignal.timeout(10_000),
    onWait: (last) => waits.push(last),
  };
  return { options, read, waits };
}

test("finds attestations of the attestor's by the payments, and reads the ledger twice for all of them", async () => {
  const [early, late] = [attestation("early", 450), attestation("late", 599)];
  const { options, read, waits } = ledgerWith([early, late, attestation("none", 460, "STRANGER")]);
  const find = searchAttestations(["early", "late", "none"], options);
  expect((await find("early"))?.attempt).toEqual(early.attempt);
  expect([read, waits]).toEqual([["400 to 500"], []]);
  const found = await Promise.all(["late", "none", "early", "another"].map(find));
  expect(found.map((one) => one?.attempt.txid)).toEqual([late.txid, undefined, early.txid, undefined]);
  expect([read, waits]).toEqual([["400 to 500", "500 to 600"], [600]]);
});

test("waits for what another process may have signed in a round that was not seen here at first", async () => {
  const { options, waits } = ledgerWith([], { behind: 40 });
  expect(await searchAttestations(["one"], options)("one")).toBeUndefined();
  expect(waits).toEqual([540 + ATTEMPT_ROUNDS]);
});

test("reads again after a failure, and takes none of several", async () => {
  const { options, read } = ledgerWith([attestation("one", 450), attestation("one", 451)], { failures: 1 });
  const find = searchAttestations(["one"], options);
  await expect(find("one")).rejects.toMatchObject({ code: "providers_unavailable" });
  await expect(find("one")).rejects.toThrow("more than one attestation of this payment: OF one IN 450, OF one IN 451");
  expect(read).toEqual(["400 to 500"]);
});
