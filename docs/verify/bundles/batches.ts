import type { BatchItem } from "@attestd/proof";
import { TEST_ITEMS, type TestItem, testBatchItem, withHead } from "../../../test/bundles/batches.ts";
import { testBaseTransaction, testBundle, testPayment } from "../../../test/bundles/bundles.ts";
import { type Case, fails, is } from "./case.ts";
import { local, now, payment, SANDBOX, third } from "./ingredients.ts";

/* Items of batches: what every verifier takes, and what none does. */

const seven: TestItem[] = Array.from({ length: 7 }, (_, index) =>
  index % 2 === 0
    ? { chain: "algorand", txnBytes: testPayment(`payment ${index}`) }
    : { chain: "base", txnBytes: testBaseTransaction(index) },
);
const item = testBatchItem(now);
const baseItem = testBatchItem({ ...now, index: 1 });
/** The item whose statement the attestor made otherwise, under a root that is of it. */
const stating = (members: Partial<BatchItem["statement"]>, index = 0) =>
  testBatchItem({
    ...now,
    index,
    items: TEST_ITEMS.map((one, place) => (place === index ? { ...one, statement: members } : one)),
  });
const other = testBundle({ txnBytes: testPayment("other") });
const { batch: head, proof, statement } = item;

/** The text of the item without one member. */
function without([of, name]: ["statement" | "source", string]): string {
  return JSON.stringify({ ...item, [of]: { ...item[of], [name]: undefined } });
}

export const OF_BATCHES: readonly Case[] = [
  is("algorand item of a batch", item),
  is("base item of a batch", baseItem),
  ...seven.map((_, index) => is(`item ${index} of a batch of seven`, testBatchItem({ ...now, items: seven, index }))),
  is("item of a batch, other spacing and order", JSON.stringify(item, null, 2)),
  is("item of a sandbox, by its own keys", testBatchItem({ attestor: local, ledger: SANDBOX }), {
    keys: "sandbox",
    warnings: ["sandbox"],
  }),
  is("base item seen as included", stating({ level: "included" }, 1), { warnings: ["included_only"] }),
  is("base item that failed", stating({ outcome: "failed" }, 1), {
    statement: { block: baseItem.statement.block, outcome: "failed" },
    warnings: ["transaction_failed"],
  }),
  is("an item that states another id", stating({ txnId: other.source.txnId }), fails("transactionId")),
  is("an item that states another network", stating({ chain: "eip155:8453" }), fails("transactionId")),
  is("an item that states another hash", stating({ hashSha256: "0".repeat(64) }), fails("hashPreimage")),
  is("an item of another level", stating({ level: "safe" }), fails("schema")),
  is("an item of another outcome", stating({ outcome: "succeeded" }), fails("schema")),
  is("a base item without an outcome", stating({ outcome: "not_applicable" }, 1), fails("schema")),
  is("an item with a block hash of another chain", stating({ block: baseItem.statement.block }), fails("schema")),
  is("an item with a short nonce", stating({ nonce: "AAAA" }), fails("schema")),
  is("an item without a nonce", without(["statement", "nonce"]), fails("schema")),
  is("an item without its chain", without(["source", "chain"]), fails("schema")),
  is("an item with a member more", { ...item, more: 1 } as never, fails("schema")),
  is("an item with an attestation of its own", { ...item, attest: head.attest } as never, fails("schema")),
  is("a head alone", head as never, fails("schema")),
  is(
    "an item with another nonce",
    { ...item, statement: { ...statement, nonce: "AAAAAAAAAAAAAAAAAAAAAA==" } },
    fails("inclusion"),
  ),
  is("an item at another's place", { ...item, proof: baseItem.proof }, fails("inclusion")),
  is("an item beyond its batch", { ...item, proof: { ...proof, index: 2 } }, fails("inclusion")),
  is(
    "an item at the last place that JSON has",
    { ...item, proof: { ...proof, index: 2 ** 53 - 1 } },
    fails("inclusion"),
  ),
  is("an item with a sibling too few", { ...item, proof: { index: 0, siblings: [] } }, fails("inclusion")),
  is(
    "an item with a sibling too many",
    { ...item, proof: { index: 0, siblings: [...proof.siblings, head.root] } },
    fails("inclusion"),
  ),
  is("a head of another size", withHead(item, third, { size: 3 }), fails("inclusion", "note")),
  is("a head of 1,001 items", withHead(item, third, { size: 1001 }), fails("schema")),
  is("a head of one item", withHead(item, third, { size: 1, root: head.root }), fails("schema")),
  is(
    "a head of another root",
    withHead(item, third, { root: proof.siblings[0] as string }),
    fails("inclusion", "note"),
  ),
  is("a head with a transaction's note", withHead(item, third, { attest: payment.attest }), fails("note")),
  is("a transaction with a batch's note", { ...payment, attest: head.attest }, fails("signature", "note")),
  is(
    "a head with another round",
    { ...item, batch: { ...head, attest: { ...head.attest, round: 2501 } } },
    fails("signature"),
  ),
  is(
    "a head of a round before its key's",
    withHead(item, third, { attest: { ...head.attest, round: 1999 } }),
    fails("keyTrust"),
  ),
];
