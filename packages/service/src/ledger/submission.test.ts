import { describe, expect, it } from "vitest";
import { classifyRejection } from "./submission.ts";

const ID = "GDPVEIXEDVKJGNE7QNZEBZJXUTS7HM7AGMM6MCX3EZ3ERWDQUOVQ";

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
    [`TransactionPool.checkPendingQueueSize: transaction pool have reached capacity`, "retry"],
    [`TransactionPool.ingest: fee 1000 below threshold 2000 (1 per byte * 2000 bytes)`, "retry"],
    [`transaction ${ID}: At least one signature didn't pass verification`, "rejected"],
    [`TransactionPool.Remember: genesis hash mismatch: A != B`, "rejected"],
    [`transaction note too big: 1025 > 1024`, "rejected"],
    [`should have been authorized by AAA but was actually authorized by BBB`, "rejected"],
  ])("%s", (message, status) => {
    expect(classifyRejection(message)).toMatchObject({ status });
  });
});
