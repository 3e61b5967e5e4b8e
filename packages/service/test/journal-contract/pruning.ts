import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Call, type CallRequest, payloadOf } from "../../src/calls/call.ts";
import { type CallEvent, reduce } from "../../src/calls/machine.ts";
import type { WholeJournal } from "../../src/journal/journal.ts";
import { serviceError } from "../errors.ts";
import { aCall, aLargeEvidence, goodCourse, take } from "../fakes/calls.ts";
import type { EvidenceDatabase } from "./evidence.ts";

/** A payload whose members are not in the order of RFC 8785, and the SHA-256 of `{"a":[1,"é"],"signature":"s"}` by sha256sum. */
const PAYLOAD = { signature: "s", a: [1, "é"] };
const PAYLOAD_SHA256 = "NdxOPu5DnLsCJM9lz-Tois-11Dr1b_XsfWRsHdir4Z0";

const request = (name: string, createdAt: number, over: Partial<CallRequest> = {}): Call => {
  const payload = { ...payloadOf(aCall()), payload: PAYLOAD };
  return aCall({ key: `key of ${name}`, aliases: [`alias of ${name}`], createdAt, payload, ...over });
};

const VOID: CallEvent = { type: "payment_void", reason: "expired", receipt: "refused" };

/** What is left of a call: all but what this lists. */
function left(call: Call): object {
  const attempts = call.attempts.map((attempt) => ({ ...attempt, raw: new Uint8Array() }));
  return { ...call, payload: undefined, payloadSha256: PAYLOAD_SHA256, evidence: undefined, attempts };
}

/** What every journal must do for pruning; each implementation runs these tests (calls/pruning.ts, `PruningJournal`). */
export function pruningContract(name: string, create: () => Promise<EvidenceDatabase>): void {
  describe(`${name} journal that is pruned`, () => {
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

    const numbers = () => journal.prunable(100).then(({ calls }) => calls);

    test("prunes calls at rest that are old, the oldest first, a few at a time, and each once", async () => {
      const calls = [];
      for (const [i, one] of ["first", "second", "third"].entries())
        calls.push(await take(journal, request(one, i), goodCourse(one)));
      const late = await take(journal, request("late", 100), goodCourse("late"));
      expect(await numbers()).toBe(3);
      expect(await journal.prune(100, 2)).toBe(2);
      expect(await numbers()).toBe(1);
      expect(await journal.find("key of third")).toEqual(calls[2]);
      expect(await journal.prune(100, 2)).toBe(1);
      expect(await journal.prune(100, 2)).toBe(0);
      expect(await numbers()).toBe(0);
      for (const call of calls) expect(await journal.find(call.key)).toEqual(left(call));
      expect(await journal.find(late.key)).toEqual(late);
    });

    test("keeps names, bundle and evidence of the ledger, also when it is opened again, and lets nothing move the call", async () => {
      const call = await take(journal, request("one", 1), goodCourse("one"));
      await journal.prune(100, 10);
      await journal.close();
      journal = await database.open();
      for (const known of [call.key, ...call.aliases]) expect(await journal.find(known)).toEqual(left(call));
      expect(await journal.bodyOf("S of one")).toBe('{"of":"one"}');
      expect(await journal.evidence("record", "S of one")).toMatchObject({ state: "waiting", round: 12 });
      expect(await journal.verifiable("S of one")).toBe('{"of":"one"}');
      expect(await journal.insert(request("one", 200))).toEqual(left(call));
      const moved = { ...call, version: call.version + 1 };
      await expect(journal.update(moved)).rejects.toThrow(serviceError("call_stale"));
      expect(await journal.prune(100, 10)).toBe(0);
    });

    test("prunes what is void or refunded, and nothing for which something is still to be done", async () => {
      const paid = goodCourse("owed").slice(0, 1);
      const blocked: CallEvent = { type: "attestation_blocked", reason: "unfunded" };
      const refunded: CallEvent = { type: "payment_refunded", transaction: "BACK", refund: "refund:BACK" };
      const atRest = [
        await take(journal, request("void", 1), [VOID]),
        await take(journal, request("refunded", 2), [...paid, blocked, refunded]),
      ];
      const open = [
        await take(journal, request("settling", 1), []),
        await take(journal, request("owed", 1), [...paid, blocked]),
        await take(journal, request("watched", 1), goodCourse("watched", false)),
      ];
      expect(await numbers()).toBe(2);
      expect(await journal.prune(100, 10)).toBe(2);
      for (const call of atRest) expect(await journal.find(call.key)).toEqual(left(call));
      for (const call of open) expect(await journal.find(call.key)).toEqual(call);
      expect(await journal.find("refund:BACK")).toEqual(left(atRest[1] as Call));
    });

    test("drops evidence with the last call that has it", async () => {
      const evidence = aLargeEvidence("LARGE");
      await take(journal, request("old", 1, { evidence }), goodCourse("old"));
      const open = await journal.insert(request("open", 1, { evidence }));
      await journal.prune(100, 10);
      expect(await journal.evidenceOf(open.key)).toEqual(evidence);
      await journal.update(reduce(open, VOID));
      await journal.prune(100, 10);
      expect(await database.evidenceKept()).toBe(0);
    });

    test("prunes a call that has been packed, and counts what it took", async () => {
      const call = await take(journal, request("one", 1, { evidence: aLargeEvidence("LARGE") }), goodCourse("one"));
      await expect
        .poll(() => journal.prunable(100))
        .toEqual({ calls: 1, bytes: expect.toSatisfy((bytes) => bytes > 100) });
      expect(await journal.prune(100, 10)).toBe(1);
      expect(await journal.find(call.key)).toEqual(left(call));
      expect(await journal.prunable(100)).toEqual({ calls: 0, bytes: 0 });
    });

    test("prunes each call once when it is asked many times at once", async () => {
      const calls: Call[] = [];
      for (let i = 0; i < 12; i++) calls.push(await take(journal, request(`${i}`, i), goodCourse(`${i}`)));
      await Promise.all(Array.from({ length: 6 }, () => journal.prune(100, 4)));
      while ((await journal.prune(100, 4)) > 0);
      for (const call of calls) expect(await journal.find(call.key)).toEqual(left(call));
      expect(await database.evidenceKept()).toBe(0);
    });
  });
}
