import type { AlgorandInclusionItem } from "@attestd/proof/evidence";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../../src/calls/call.ts";
import type { WholeJournal } from "../../src/journal/journal.ts";
import type { KeptStateProof, Stake } from "../../src/ledger/evidence/journal.ts";
import { aCall, after, afterCommit, anAttempt, GOOD_COURSE } from "../fakes/calls.ts";
import type { SharedDatabase, TestDatabase } from "./calls.ts";

export type EvidenceDatabase = Omit<TestDatabase, "open"> & { open(): Promise<WholeJournal> };

export const LATER = 2_000_000_000_000;
const inclusion = (name: string) =>
  ({ type: "algorand-inclusion/1", index: 1, headerBase64: name }) as AlgorandInclusionItem;
const CHECKPOINT = { genesisHash: "g", round: 16, votersCommitment: "v", lnProvenWeight: 7 };
export const proof = (sha256: string, first: number): KeptStateProof => ({
  sha256,
  checkpoint: CHECKPOINT,
  message: {
    ...{ blockHeadersCommitment: "b", votersCommitment: "v", lnProvenWeight: 8 },
    ...{ firstAttestedRound: first, lastAttestedRound: first + 15 },
  },
});
const SIBLINGS = ["s", "t"];
const restingOn = ({ sha256: stateProofSha256 }: KeptStateProof): Stake => ({ siblings: SIBLINGS, stateProofSha256 });

/** What every journal of evidence must do; each implementation runs these tests (ledger/evidence/journal.ts). */
export function evidenceContract(name: string, create: () => Promise<EvidenceDatabase>): void {
  describe(`${name} journal of evidence`, () => {
    let database: EvidenceDatabase;
    let journal: WholeJournal;
    beforeEach(async () => {
      database = await create();
      journal = await database.open();
    });
    afterEach(async () => {
      await journal.close();
      await database.remove();
    });

    /** Delivers an attestation that stands in a round. */
    async function delivered(txid: string, round: number, createdAt = round): Promise<Call> {
      let call = await journal.insert(aCall({ key: `key of ${txid}`, createdAt }));
      for (const event of GOOD_COURSE) {
        const own = { ...event } as { attempt?: object; txid?: string; round?: number; bundle?: object };
        if (own.attempt) own.attempt = anAttempt(txid);
        if (own.txid) Object.assign(own, { txid, round });
        if (own.bundle) own.bundle = { id: `S of ${txid}`, body: `{"of":"${txid}"}` };
        call = afterCommit(call, own as typeof event);
        await journal.update(call);
      }
      return call;
    }

    test("begins the evidence of every delivered attestation, and of no other", async () => {
      const unpaid = await journal.insert(aCall({ key: "unpaid" }));
      await journal.update(after(unpaid, { type: "settlement_begun" }));
      expect(await journal.oldestUnfinished()).toBeUndefined();
      await delivered("B", 12);
      await delivered("A", 9);
      expect(await journal.waiting(12, 9)).toEqual([{ txnId: "B", bundle: '{"of":"B"}' }]);
      expect(await journal.evidence("S of A")).toEqual({ bundleId: "S of A", state: "waiting", round: 9 });
      expect(await journal.evidence("S of C")).toBeUndefined();
      expect(await journal.oldestUnfinished()).toEqual({ round: 9, since: 9 });
    });

    test("returns the evidence of a batch by the id of its head and of each item", async () => {
      const items = [0, 1].map((n) => ({ id: `item ${n}`, text: `{"index":${n}}` }));
      let call = await journal.insert(aCall());
      for (const event of GOOD_COURSE) {
        call = afterCommit(
          call,
          event.type === "bundle_sealed" ? { ...event, bundle: { id: "head", body: '{"size":2}', items } } : event,
        );
        await journal.update(call);
      }
      const found = { bundleId: "head", state: "waiting", round: 12 };
      for (const id of ["head", "item 0", "item 1"]) expect(await journal.evidence(id)).toEqual(found);
      expect(await journal.evidence("item 2")).toBeUndefined();
      const bundle = '{"batch":{"size":2},"index":0}';
      expect(await journal.waiting(12, 9)).toEqual([{ txnId: "ATTEST", bundle }]);
    });

    test("keeps each step, and takes none twice or out of its order", async () => {
      await delivered("A", 17);
      const [first, second] = [proof("p", 17), proof("q", 33)];
      await journal.keepStateProof(first, Uint8Array.of(1, 2));
      await journal.keepStateProof(second, Uint8Array.of(3));
      await journal.step([{ txnId: "A", to: "whole", ...restingOn(first) }]);
      await journal.step([{ txnId: "A", to: "impossible" }]);
      expect(await journal.evidence("S of A")).toEqual({ bundleId: "S of A", state: "waiting", round: 17 });

      await journal.step([{ txnId: "A", to: "included", inclusion: inclusion("a") }]);
      await journal.step([{ txnId: "A", to: "included", inclusion: inclusion("another") }]);
      const included = { txnId: "A", inclusion: inclusion("a") };
      expect(await journal.included(17, 9)).toEqual([included]);
      expect(await journal.waiting(17, 9)).toEqual([]);

      await journal.step([{ txnId: "A", to: "waiting" }]);
      expect(await journal.evidence("S of A")).toEqual({ bundleId: "S of A", state: "waiting", round: 17 });
      await journal.step([{ txnId: "A", to: "included", inclusion: inclusion("a") }]);
      await journal.step([{ txnId: "A", to: "impossible" }]);
      expect(await journal.oldestUnfinished()).toBeUndefined();
      await journal.step([{ txnId: "A", to: "whole", ...restingOn(first) }]);
      await journal.step([{ txnId: "A", to: "whole", ...restingOn(second) }]);
      await journal.step([{ txnId: "A", to: "waiting" }]);
      await journal.close();
      journal = await database.open();
      const whole = {
        bundleId: "S of A",
        state: "whole",
        round: 17,
        inclusion: inclusion("a"),
        stake: { ...first, siblings: SIBLINGS },
      };
      expect(await journal.evidence("S of A")).toEqual(whole);
    });

    test("gives the round that has been due for longest, and a round that was put off when it is due", async () => {
      await delivered("A", 17, 1_000);
      await delivered("B", 18, 2_000);
      await delivered("C", 18, 2_001);
      expect(await journal.dueRound("waiting", 999)).toBeUndefined();
      expect(await journal.dueRound("waiting", LATER)).toBe(17);
      await journal.postpone("waiting", 17, 3_000);
      expect(await journal.dueRound("waiting", LATER)).toBe(18);
      expect((await journal.waiting(18, 9)).map(({ txnId }) => txnId).sort()).toEqual(["B", "C"]);
      expect(await journal.waiting(18, 1)).toHaveLength(1);
      await journal.step(["B", "C"].map((txnId) => ({ txnId, to: "included", inclusion: inclusion(txnId) })));
      expect(await journal.dueRound("waiting", 2_999)).toBeUndefined();
      expect(await journal.dueRound("waiting", 3_000)).toBe(17);
      expect(await journal.dueRound("included", LATER)).toBe(18);
      await journal.step([{ txnId: "A", to: "included", inclusion: inclusion("A") }]);
      expect(await journal.unfinishedRounds("included", 17, 18)).toEqual([17, 18]);
      expect(await journal.unfinishedRounds("included", 18, 99)).toEqual([18]);
    });

    test("keeps a state proof once, by its hash, and finds it by its rounds", async () => {
      await journal.keepStateProof(proof("p", 17), Uint8Array.of(1, 2));
      await journal.keepStateProof(proof("p", 17), Uint8Array.of(1, 2));
      await journal.keepStateProof(proof("q", 49), Uint8Array.of(3));
      expect(await journal.stateProof("p").then((bytes) => bytes && [...bytes])).toEqual([1, 2]);
      expect(await journal.stateProof("r")).toBeUndefined();
      expect(await journal.stateProofOf(32)).toEqual(proof("p", 17));
      expect(await journal.stateProofOf(49)).toEqual(proof("q", 49));
      for (const round of [16, 33, 48, 65]) expect(await journal.stateProofOf(round)).toBeUndefined();
    });
  });
}

type SharedEvidenceDatabase = Omit<SharedDatabase, "open"> & { open(): Promise<WholeJournal> };

/** What a journal must do that several replicas may have open at once. */
export function collectorContract(name: string, create: () => Promise<SharedEvidenceDatabase>): void {
  test(`${name} journal of evidence: of replicas one collects, and another once it is gone`, async () => {
    const database = await create();
    const replicas = await Promise.all([database.open(), database.open()]);
    const collecting = () => Promise.all(replicas.map((replica) => replica.collects()));
    const first = await collecting();
    expect(first.filter(Boolean)).toHaveLength(1);
    expect(await collecting()).toEqual(first);
    const [one, other] = first[0] ? replicas : replicas.toReversed();
    await database.outlive();
    await other?.renew();
    expect(await other?.collects()).toBe(true);
    await one?.renew();
    expect(await one?.collects()).toBe(false);
    await other?.release();
    expect(await one?.collects()).toBe(true);
    await Promise.all(replicas.map((replica) => replica.close()));
    await database.remove();
  });
}
