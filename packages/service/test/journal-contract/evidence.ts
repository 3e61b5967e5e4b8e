import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SealedBundle } from "../../src/attestor/attestor.ts";
import type { WholeJournal } from "../../src/journal/journal.ts";
import type { EvidenceKind, KeptStateProof, Shown, Stake } from "../../src/ledger/evidence/journal.ts";
import { aCall, after, anAttempt, GOOD_COURSE, take } from "../fakes/calls.ts";
import type { SharedDatabase, TestDatabase } from "./calls.ts";

export type EvidenceDatabase = Omit<TestDatabase, "open"> & { open(): Promise<WholeJournal> };

const LATER = 2_000_000_000_000;
const inclusion = (name: string) => ({ index: 1, stibBase64: name, siblings: ["cw=="] });
const CHECKPOINT = { genesisHash: "g", round: 16, votersCommitment: "v", lnProvenWeight: 7 };
const proof = (sha256: string, first: number): KeptStateProof => ({
  sha256,
  checkpoint: CHECKPOINT,
  message: {
    ...{ blockHeadersCommitment: "b", votersCommitment: "v", lnProvenWeight: 8 },
    ...{ firstAttestedRound: first, lastAttestedRound: first + 15 },
  },
});
const SIBLINGS = ["s", "t"];
const restingOn = ({ sha256: stateProofSha256 }: KeptStateProof): Stake => ({ siblings: SIBLINGS, stateProofSha256 });
const HEADER = "aGVhZA==";

/** Delivers a bundle whose attestation stands in a round. */
export async function deliverIn(
  journal: WholeJournal,
  txid: string,
  round: number,
  { createdAt = round, ...bundle }: Partial<SealedBundle> & { createdAt?: number } = {},
): Promise<void> {
  const sealed = { id: `S of ${txid}`, body: `{"of":"${txid}"}`, ...bundle };
  const course = GOOD_COURSE.map((event) => {
    if (event.type === "attestation_signed") return { ...event, attempt: anAttempt(txid) };
    if (event.type === "attestation_confirmed") return { ...event, txid, round };
    return event.type === "bundle_sealed" ? { ...event, bundle: sealed } : event;
  });
  await take(journal, aCall({ key: `key of ${txid}`, createdAt }), course);
}

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

    const include = (kind: EvidenceKind, round: number, ids: string[], headerBase64 = HEADER) => {
      const shown = ids.map((id): Shown => ({ id, inclusion: inclusion(id) }));
      return journal.include(kind, { round, headerBase64, due: 5_000 }, shown);
    };
    const idsWaiting = async (kind: EvidenceKind, round: number) =>
      (await journal.waiting(kind, round, "", 9)).map(({ id }) => id);

    test("begins the evidence of every delivered record, and of no other call", async () => {
      const unpaid = await journal.insert(aCall({ key: "unpaid" }));
      await journal.update(after(unpaid, { type: "settlement_begun" }));
      expect(await journal.oldestUnfinished()).toBeUndefined();
      await deliverIn(journal, "B", 12);
      await deliverIn(journal, "A", 9);
      expect(await journal.waiting("record", 12, "", 9)).toEqual([{ id: "S of B", txnId: "B" }]);
      const waiting = { id: "S of A", state: "waiting", round: 9 };
      expect(await journal.evidence("record", "S of A")).toEqual(waiting);
      expect(await journal.evidence("source", "S of A")).toBeUndefined();
      expect(await journal.evidence("record", "S of C")).toBeUndefined();
      expect(await journal.oldestUnfinished()).toEqual({ round: 9, since: 9 });
    });

    test("begins the evidence of each source with the delivery, and once", async () => {
      const transaction = { id: "of a transaction", round: 7, blockHash: "B7", txnId: "T" };
      const block = { id: "of a block", round: 8, blockHash: "B8" };
      await deliverIn(journal, "A", 12, { sources: [block, transaction] });
      await deliverIn(journal, "B", 12, { sources: [transaction] });
      expect(await journal.waiting("source", 7, "", 9)).toEqual([{ id: transaction.id, blockHash: "B7", txnId: "T" }]);
      expect(await journal.waiting("source", 8, "", 9)).toEqual([{ id: block.id, blockHash: "B8" }]);
      expect(await journal.dueRound("source", LATER)).toBe(7);
      expect(await journal.evidence("source", block.id)).toEqual({ id: block.id, state: "waiting", round: 8 });
      await journal.include("source", { round: 8, headerBase64: HEADER, due: 1 }, [{ id: block.id }]);
      const kept = { id: block.id, state: "included", round: 8, block: { state: "open", headerBase64: HEADER } };
      expect(await journal.evidence("source", block.id)).toEqual(kept);
    });

    test("returns the record of a batch by the id of its head and of each item, and what verifies of it", async () => {
      const items = [0, 1].map((n) => ({ id: `item ${n}`, text: `{"index":${n}}` }));
      await deliverIn(journal, "A", 12, { id: "head", body: '{"size":2}', items });
      const found = { id: "head", state: "waiting", round: 12 };
      for (const id of ["head", "item 0", "item 1"]) expect(await journal.evidence("record", id)).toEqual(found);
      expect(await journal.evidence("record", "item 2")).toBeUndefined();
      expect(await journal.verifiable("head")).toBe('{"batch":{"size":2},"index":0}');
      const long = `{"of":"${"long".repeat(50_000)}"}`;
      await deliverIn(journal, "B", 12, { body: long });
      expect(await journal.verifiable("S of B")).toBe(long);
      expect(await journal.verifiable("S of C")).toBeUndefined();
    });

    test("gives what waits in a round page by page", async () => {
      for (const txid of ["A", "B", "C"]) await deliverIn(journal, txid, 12);
      const page = async (from: string) => (await journal.waiting("record", 12, from, 2)).map(({ id }) => id);
      expect([await page(""), await page("S of B"), await page("S of C")]).toEqual([
        ["S of A", "S of B"],
        ["S of C"],
        [],
      ]);
    });

    test("keeps the header of a round once, and includes nothing by another one", async () => {
      for (const txid of ["A", "B", "C"]) await deliverIn(journal, txid, 17, { createdAt: 1_000 });
      expect(await include("record", 17, ["S of A"])).toBe(true);
      expect(await include("record", 17, ["S of A", "S of B"])).toBe(true);
      expect(await include("record", 17, ["S of C"], "another")).toBe(false);
      expect(await idsWaiting("record", 17)).toEqual(["S of C"]);
      expect(await journal.openBlock(17)).toBe(HEADER);
      // Nor by one that stands elsewhere.
      expect(await include("record", 18, ["S of C"])).toBe(true);
      expect(await idsWaiting("record", 17)).toEqual(["S of C"]);
    });

    test("keeps each step of a block, and takes none out of its order", async () => {
      await deliverIn(journal, "A", 17, { sources: [{ id: "item", round: 17, blockHash: "B", txnId: "T" }] });
      const [first, second] = [proof("p", 17), proof("q", 33)];
      await journal.keepStateProof(first, Uint8Array.of(1, 2));
      await journal.keepStateProof(second, Uint8Array.of(3));
      await journal.stepBlock({ round: 17, to: "whole", ...restingOn(first) });
      await journal.stepBlock({ round: 17, to: "impossible" });
      expect(await journal.evidence("record", "S of A")).toEqual({ id: "S of A", state: "waiting", round: 17 });

      await include("record", 17, ["S of A"]);
      await include("source", 17, ["item"]);
      await journal.stepBlock({ round: 17, to: "waiting" });
      expect(await journal.openBlock(17)).toBeUndefined();
      expect([await idsWaiting("record", 17), await idsWaiting("source", 17)]).toEqual([["S of A"], ["item"]]);

      await include("record", 17, ["S of A"], "right");
      await journal.stepBlock({ round: 17, to: "impossible" });
      expect(await journal.oldestUnfinished()).toBeUndefined();
      expect(await journal.unfinishedRounds()).toEqual([]);
      await journal.stepBlock({ round: 17, to: "whole", ...restingOn(first) });
      await journal.stepBlock({ round: 17, to: "whole", ...restingOn(second) });
      await journal.stepBlock({ round: 17, to: "waiting" });
      await journal.stepBlock({ round: 17, to: "impossible" });
      // What comes later into a block that is whole is whole.
      await include("source", 17, ["item"], "right");
      await journal.close();
      journal = await database.open();
      const block = { state: "whole", headerBase64: "right", stake: { ...first, siblings: SIBLINGS } };
      for (const [kind, id] of [
        ["record", "S of A"],
        ["source", "item"],
      ] as const)
        expect(await journal.evidence(kind, id)).toEqual({
          ...{ id, state: "included", round: 17, block, inclusion: inclusion(id) },
        });
    });

    test("gives the round that has been due for longest, and a round that was put off when it is due", async () => {
      await deliverIn(journal, "A", 17, { createdAt: 1_000 });
      await deliverIn(journal, "B", 18, { createdAt: 2_000 });
      await deliverIn(journal, "C", 18, { createdAt: 2_001 });
      expect(await journal.dueRound("record", 999)).toBeUndefined();
      expect(await journal.dueRound("record", LATER)).toBe(17);
      expect(await journal.postpone("record", 17, 3_000, LATER)).toEqual({ left: 1, given: 0 });
      expect(await journal.dueRound("record", LATER)).toBe(18);
      await include("record", 18, ["S of B", "S of C"]);
      expect(await journal.dueRound("record", 2_999)).toBeUndefined();
      expect(await journal.dueRound("record", 3_000)).toBe(17);
      expect(await journal.dueRound("block", 4_999)).toBeUndefined();
      expect(await journal.dueRound("block", 5_000)).toBe(18);
      expect(await journal.postpone("block", 18, 6_000, LATER)).toEqual({ left: 1, given: 0 });
      expect(await journal.dueRound("block", 5_000)).toBeUndefined();
      expect(await journal.unfinishedRounds()).toEqual([17, 18]);
      expect(await journal.oldestUnfinished()).toEqual({ round: 17, since: 1_000 });
      await include("record", 17, ["S of A"]);
      expect(await journal.oldestUnfinished()).toEqual({ round: 17, since: 1_000 });
      // Of blocks the lowest, however late it was included.
      await journal.postpone("block", 17, 5_500, 0);
      await journal.postpone("block", 18, 4_000, 0);
      expect(await journal.dueRound("block", 5_000)).toBe(18);
      expect(await journal.dueRound("block", 6_000)).toBe(17);
      expect(await journal.postpone("record", 17, 3_000, LATER)).toEqual({ left: 0, given: 0 });
    });

    test("gives up old sources alone, and a block in which nothing else stands", async () => {
      const source = (id: string, round: number) => ({ id, round, blockHash: "B", txnId: id });
      await deliverIn(journal, "old", 30, {
        createdAt: 1_000,
        sources: [source("a", 20), source("c", 21), source("d", 22)],
      });
      await deliverIn(journal, "new", 22, { createdAt: 2_000, sources: [source("b", 20)] });
      expect(await journal.postpone("source", 20, 9_000, 1_500)).toEqual({ left: 1, given: 1 });
      expect(await journal.evidence("source", "a")).toEqual({ id: "a", state: "absent", round: 20 });
      expect(await idsWaiting("source", 20)).toEqual(["b"]);

      await include("source", 21, ["c"]);
      await include("source", 22, ["d"]);
      await include("record", 22, ["S of new"]);
      expect(await journal.postpone("block", 21, 9_000, 500)).toEqual({ left: 1, given: 0 });
      expect(await journal.postpone("block", 21, 9_000, 1_500)).toEqual({ left: 0, given: 1 });
      expect(await journal.postpone("block", 22, 9_000, LATER)).toEqual({ left: 1, given: 0 });
      const block = { state: "impossible", headerBase64: HEADER };
      expect(await journal.evidence("source", "c")).toMatchObject({
        state: "included",
        block,
        inclusion: inclusion("c"),
      });
      // For what comes later it is tried again.
      await deliverIn(journal, "late", 31, { sources: [source("e", 21)] });
      await include("source", 21, ["e"]);
      expect(await journal.openBlock(21)).toBe(HEADER);
      expect(await journal.dueRound("block", 5_000)).toBe(21);
      await include("source", 20, ["a"]);
      expect(await journal.evidence("source", "a")).toEqual({ id: "a", state: "absent", round: 20 });
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
