import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SealedSource } from "../../src/attestor/attestor.ts";
import type { WholeJournal } from "../../src/journal/journal.ts";
import { aCall, afterCommit, anAttempt, GOOD_COURSE } from "../fakes/calls.ts";
import { type EvidenceDatabase, LATER, proof } from "./evidence.ts";

/** What every journal of sources must do; each implementation runs these tests (ledger/evidence/source-journal.ts). */
export function sourceContract(name: string, create: () => Promise<EvidenceDatabase>): void {
  describe(`${name} journal of sources`, () => {
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

    const transaction = { id: "of a transaction", round: 7, blockHash: "B7", txnId: "T" };
    const block = { id: "of a block", round: 8, blockHash: "B8" };
    const header = { headerBase64: "aGVhZA==" };
    const included = { ...header, transaction: { index: 2, stibBase64: "c3RpYg==", siblings: ["cw=="] } };

    /** Delivers a bundle of these sources. */
    async function delivered(sources: SealedSource[], key = "key"): Promise<void> {
      let call = await journal.insert(aCall({ key, createdAt: 1_000 }));
      for (const event of GOOD_COURSE) {
        const own = { ...event } as { attempt?: object; txid?: string; bundle?: object };
        if (own.attempt) own.attempt = anAttempt(`attestation of ${key}`);
        if (own.txid) own.txid = `attestation of ${key}`;
        if (own.bundle) own.bundle = { id: `S of ${key}`, body: "{}", sources };
        call = afterCommit(call, own as typeof event);
        await journal.update(call);
      }
    }

    test("begins the evidence of each source with the delivery, and once", async () => {
      expect(await journal.dueSourceRound("waiting", LATER)).toBeUndefined();
      await delivered([block, transaction]);
      await delivered([transaction], "another of the same id");
      expect(await journal.source("of a block")).toEqual({ state: "waiting", round: 8 });
      expect(await journal.source("S of key")).toBeUndefined();
      expect(await journal.dueSourceRound("waiting", LATER)).toBe(7);
      expect(await journal.dueSourceRound("included", LATER)).toBeUndefined();
      expect(await journal.dueSourceRound("waiting", 999)).toBeUndefined();
      const { id, blockHash, txnId } = transaction;
      expect(await journal.unfinishedSources("waiting", 7, 9)).toEqual([{ id, blockHash, txnId, since: 1_000 }]);
      expect(await journal.unfinishedSources("waiting", 8, 9)).toEqual([
        { id: block.id, blockHash: "B8", since: 1_000 },
      ]);
      expect(await journal.unfinishedSources("waiting", 8, 0)).toEqual([]);
    });

    test("keeps each step, and takes none twice or out of its order", async () => {
      await delivered([block, transaction]);
      const kept = { ...proof("p", 1), siblings: ["s"] };
      await journal.keepStateProof(proof("p", 1), Uint8Array.of(1));
      const whole = { to: "whole", siblings: ["s"], stateProofSha256: "p" } as const;
      await journal.stepSources([{ id: transaction.id, ...whole }]);
      expect(await journal.source(transaction.id)).toEqual({ state: "waiting", round: 7 });

      await journal.stepSources([
        { id: transaction.id, to: "included", header: included },
        { id: block.id, to: "included", header },
      ]);
      await journal.stepSources([{ id: block.id, to: "included", header: included }]);
      expect(await journal.dueSourceRound("waiting", LATER)).toBeUndefined();
      expect(await journal.unfinishedSources("included", 8, 9)).toEqual([
        { id: block.id, blockHash: "B8", since: 1_000, header },
      ]);

      await journal.stepSources([{ id: block.id, to: "waiting" }]);
      expect(await journal.source(block.id)).toEqual({ state: "waiting", round: 8 });
      await journal.stepSources([{ id: block.id, to: "absent" }]);
      await journal.stepSources([{ id: transaction.id, ...whole }]);
      await journal.stepSources([
        { id: transaction.id, to: "absent" },
        { id: transaction.id, to: "waiting" },
        { id: block.id, to: "included", header },
      ]);
      await journal.close();
      journal = await database.open();
      expect(await journal.source(transaction.id)).toEqual({ state: "whole", round: 7, header: included, stake: kept });
      expect(await journal.source(block.id)).toEqual({ state: "absent", round: 8 });
      for (const state of ["waiting", "included"] as const)
        expect(await journal.dueSourceRound(state, LATER)).toBeUndefined();
    });

    test("keeps what it has of a source that is given up", async () => {
      await delivered([transaction]);
      await journal.stepSources([{ id: transaction.id, to: "included", header: included }]);
      await journal.stepSources([{ id: transaction.id, to: "absent" }]);
      expect(await journal.source(transaction.id)).toEqual({ state: "absent", round: 7, header: included });
    });

    test("gives the lowest round that is due, and a round that was put off when it is due", async () => {
      await delivered([block, transaction]);
      await journal.postponeSources("waiting", 7, 2_000);
      expect(await journal.dueSourceRound("waiting", 1_999)).toBe(8);
      expect(await journal.dueSourceRound("waiting", 2_000)).toBe(7);
      await journal.postponeSources("included", 8, 9_000);
      expect(await journal.dueSourceRound("waiting", 1_999)).toBe(8);
    });
  });
}
