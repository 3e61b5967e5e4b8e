import { describe, expect, it, test } from "vitest";
import { recordedAnswers } from "../../test/algorand-recordings.ts";
import { classifyRejection } from "./submission.ts";

const ID = "GDPVEIXEDVKJGNE7QNZEBZJXUTS7HM7AGMM6MCX3EZ3ERWDQUOVQ";

/** Sentences of go-algorand v5.0.0: data/pools, network/wsNetwork.go, node/follower_node.go, ledger. */
describe("classifyRejection", () => {
  it.each([
    [`TransactionPool.Remember: transaction already in ledger: ${ID}`, "accepted"],
    [`TransactionPool.Remember: txn dead: round 41 outside of 42--142`, "retry"],
    [`TransactionPool.Remember: txn dead: round 143 outside of 42--142`, "expired"],
    [`TransactionPool.Remember: transaction ${ID} using an overlapping lease (AAA)`, "leased"],
    [
      `TransactionPool.Remember: transaction ${ID}: overspend (account AAA, data {...}, tried to spend {1000})`,
      "unfunded",
    ],
    [`TransactionPool.Remember: transaction ${ID}: account AAA balance 99000 below min 100000 (0 assets)`, "unfunded"],
    [`TransactionPool.checkPendingQueueSize: transaction pool has reached capacity`, "retry"],
    [`TransactionPool.checkPendingQueueSize: transaction pool have reached capacity`, "retry"],
    [`TransactionPool.ingest: fee 1000 below threshold 2000 (1 per byte * 2000 bytes)`, "retry"],
    [`transaction pool is shutting down`, "retry"],
    [`broadcast queue full`, "retry"],
    [`WebsocketNetwork shutting down`, "retry"],
    [`caller cancelled broadcast`, "retry"],
    [`TransactionPool.Remember: TransactionPool.ingest: no pending block evaluator`, "retry"],
    [`cannot broadcast txns in follower mode`, "retry"],
    [`transaction ${ID}: At least one signature didn't pass verification`, "rejected"],
    [`TransactionPool.Remember: genesis hash mismatch: A != B`, "rejected"],
    [`transaction note too big: 1025 > 1024`, "rejected"],
    [`should have been authorized by AAA but was actually authorized by BBB`, "rejected"],
  ])("%s", (message, status) => {
    expect(classifyRejection(message)).toMatchObject({ status });
  });

  it("keeps the reason that follows the struct that Go prints, however long that is", () => {
    const dump = `{Sig:[${"0 ".repeat(2_000)}0] Txn:{Type:pay Header:{Note:[${"1 ".repeat(1_000)}1]}}}`;
    const rejection = classifyRejection(`transaction ${dump} invalid : transaction window size excessive (1--3000)`);
    const reason = "transaction {…} invalid : transaction window size excessive (1--3000)";
    expect(rejection).toEqual({ status: "rejected", reason });
  });

  it("keeps the end of a rejection whose braces do not match", () => {
    const rejection = classifyRejection(`transaction {{${"0 ".repeat(500)}} invalid : the reason`);
    expect(rejection).toMatchObject({ reason: expect.stringMatching(/^….{278} invalid : the reason$/) });
  });
});

describe.each(["v41", "v42"] as const)("a real node's rejections under %s", (consensus) => {
  const expected = new Map<string, [status: string, reason: RegExp]>([
    ["POST duplicate in pool", ["accepted", /^$/]],
    ["POST duplicate confirmed", ["accepted", /^$/]],
    ["POST lease conflict confirmed", ["leased", /using an overlapping lease/]],
    ["POST overspend", ["unfunded", /overspend \(account \w{58}, data \{…\}, tried to spend 9000000000A\)$/]],
    ["POST overspend by fee, unfunded account", ["unfunded", /tried to spend 1mA\)$/]],
    ["POST below min balance", ["unfunded", /balance \d+ below min \d+/]],
    ["POST expired", ["expired", /txn dead/]],
    ["POST early", ["retry", /txn dead/]],
    ["POST window >1000", ["rejected", /^transaction \{…\} invalid : transaction window size excessive/]],
    ["POST bad signature", ["rejected", /signature didn't pass/]],
    ["POST wrong genesis hash", ["rejected", /does not match expected/]],
  ]);

  test.each([...expected])("%s", (request, [status, reason]) => {
    const answer = recordedAnswers(consensus).find((one) => one.request === request);
    expect(answer).toMatchObject({ status: 400 });
    const { message } = JSON.parse(answer?.body ?? "");
    const rejection = classifyRejection(message);
    expect(rejection.status).toBe(status);
    if ("reason" in rejection) expect(rejection.reason).toMatch(reason);
  });
});
