import { describe, expect, it } from "vitest";
import { TEST_ITEMS, testBatch, testBatchItem, withHead } from "../../../test/bundles/batches.ts";
import { testAttestor, testBundle, testHistory, testPayment } from "../../../test/bundles/bundles.ts";
import { nativeCrypto } from "../test/native-crypto.ts";
import type { BatchItem } from "./batch.ts";
import { batchStatementLeaf } from "./batch.ts";
import { itemBundles, parseBatch } from "./batch-answer.ts";
import { toHex } from "./encoding.ts";
import { canonicalize } from "./json/canonical.ts";
import { verify, withChain } from "./verify.ts";

const attestor = testAttestor();
const trust = testHistory([{ attestor, fromRound: 500 }]);
const payments = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ chain: "algorand", txnBytes: testPayment(`payment ${index}`) }));
const item = testBatchItem({ attestor });
const baseItem = testBatchItem({ attestor, index: 1 });

/** Returns `check pointer` for each failure. */
function failed(input: unknown): string[] {
  const { failures } = verify(input, { trust, crypto: nativeCrypto });
  return failures.map(({ check, pointer }) => `${check} ${pointer}`);
}

/** Returns an item with a changed statement under a head that was signed over it, as if the attestor had made it so. */
function stating(members: Partial<BatchItem["statement"]>, at: 0 | 1 = 0): BatchItem {
  const items = TEST_ITEMS.map((one, index) => (index === at ? { ...one, statement: members } : one));
  return testBatchItem({ attestor, items, index: at });
}

describe("an item of a batch that the attestor made", () => {
  const [id, otherId] = [item.source.txnId, testBundle({ txnBytes: testPayment("other") }).source.txnId];

  it.each<[string, BatchItem, string[]]>([
    ["another id in the statement", stating({ txnId: otherId }), ["transactionId /statement/txnId"]],
    ["an id of another chain", stating({ txnId: baseItem.source.txnId }), ["schema /statement/txnId"]],
    ["another hash", stating({ hashSha256: "0".repeat(64) }), ["hashPreimage /statement/hashSha256"]],
    ["another chain", stating({ chain: "eip155:8453" }), ["transactionId /statement/chain"]],
    ["a block hash of another chain", stating({ block: baseItem.statement.block }), ["schema /statement/block/hash"]],
    ["a level that the chain has not", stating({ level: "safe" }), ["schema /statement/level"]],
    ["an outcome where none is", stating({ outcome: "failed" }), ["schema /statement/outcome"]],
    ["no outcome where one is", stating({ outcome: "not_applicable" }, 1), ["schema /statement/outcome"]],
    [
      "another transaction as its source",
      { ...item, source: baseItem.source, statement: baseItem.statement },
      ["inclusion /batch/root"],
    ],
    ["the other one's statement", { ...item, statement: baseItem.statement }, ["schema /statement/txnId"]],
    ["the other one's place", { ...item, proof: baseItem.proof }, ["inclusion /batch/root"]],
    ["a place beyond the batch", { ...item, proof: { ...item.proof, index: 2 } }, ["inclusion /proof/index"]],
    ["a sibling too few", { ...item, proof: { index: 0, siblings: [] } }, ["inclusion /proof/siblings"]],
    [
      "a sibling too many",
      { ...item, proof: { index: 0, siblings: [...item.proof.siblings, item.batch.root] } },
      ["inclusion /proof/siblings"],
    ],
    [
      "a head of another size",
      withHead(item, attestor, { size: 3 }),
      ["inclusion /proof/siblings", "note /batch/attest/note/z"],
    ],
    ["a size beyond the largest", withHead(item, attestor, { size: 1001 }), ["schema /batch/size"]],
    ["a batch of one", withHead(item, attestor, { size: 1 }), ["schema /batch/size"]],
    [
      "a head of another root",
      withHead(item, attestor, { root: item.proof.siblings[0] as string }),
      ["inclusion /batch/root", "note /batch/attest/note/r"],
    ],
    [
      "the note of a transaction",
      withHead(item, attestor, { attest: testBundle({ attestor }).attest }),
      ["note /batch/attest/note"],
    ],
    [
      "a head that was changed after signing",
      { ...item, batch: { ...item.batch, attest: { ...item.batch.attest, round: 1001 } } },
      ["signature /batch/signature/sigBase64"],
    ],
    [
      "a round before the key's",
      withHead(item, attestor, { attest: { ...item.batch.attest, round: 499 } }),
      ["keyTrust /batch/attest/round"],
    ],
    [
      "the id in another case",
      { ...item, source: { ...item.source, txnId: id.toLowerCase() } },
      ["schema /source/txnId"],
    ],
  ])("with %s fails", (_name, changed, expected) => {
    expect(failed(changed).sort()).toEqual(expected.sort());
  });

  it("a transaction's bundle with the note of a batch fails", () => {
    const bundle = testBundle({ attestor });
    const { failures } = verify({ ...bundle, attest: item.batch.attest }, { trust, crypto: nativeCrypto });
    expect(failures.map(({ check }) => check)).toContain("note");
  });

  it("warns of what its statement says", () => {
    const warned = (one: BatchItem) => verify(one, { trust, crypto: nativeCrypto });
    expect(warned(stating({ level: "included", outcome: "failed" }, 1))).toMatchObject({
      verified: true,
      warnings: ["included_only", "transaction_failed"],
      statement: { outcome: "failed", block: baseItem.statement.block },
    });
  });

  it("by a revoked key is verified once the ledger shows it", () => {
    const revoked = testHistory([{ attestor, fromRound: 500, revokedRound: 2000 }]);
    const report = verify(item, { trust: revoked, crypto: nativeCrypto });
    expect(report).toMatchObject({ verified: false, attestor: { status: "revoked" } });
    expect(withChain(report, { chainAttest: "pass" }).verified).toBe(true);
  });

  it("is at most 1,024 bytes larger than a bundle of the same transaction, in the largest batch", () => {
    const last = testBatchItem({
      attestor,
      items: [...payments(999), TEST_ITEMS[1] as (typeof TEST_ITEMS)[number]],
      index: 999,
    });
    const first = testBatchItem({ attestor, items: [TEST_ITEMS[1] as (typeof TEST_ITEMS)[number], ...payments(999)] });
    const { txnBytes } = TEST_ITEMS[1] as (typeof TEST_ITEMS)[number];
    const alone = JSON.stringify(testBundle({ attestor, chain: "base", txnBytes })).length;
    for (const one of [last, first]) expect(JSON.stringify(one).length - alone).toBeLessThanOrEqual(1024);
  });
});

describe("a leaf", () => {
  it("differs by its nonce alone", () => {
    const { statement } = item;
    const other = { ...statement, nonce: "AAAAAAAAAAAAAAAAAAAAAA==" };
    expect(toHex(batchStatementLeaf(statement))).not.toBe(toHex(batchStatementLeaf(other)));
  });
});

describe("the answer of a batch", () => {
  const answer = testBatch(TEST_ITEMS, { attestor });

  it("is read from text, from bytes and from a value, and gives items that stand alone", () => {
    const text = JSON.stringify(answer);
    for (const input of [text, new TextEncoder().encode(text), answer]) {
      const read = parseBatch(input);
      expect(read).toEqual(answer);
      for (const one of itemBundles(read))
        expect(verify(JSON.stringify(one), { trust, crypto: nativeCrypto })).toMatchObject({
          verified: true,
          type: "batch-item",
        });
    }
  });

  it("of the most items is within its limits", () => {
    const many = testBatch(payments(1000), { attestor });
    const text = canonicalize(many as never);
    expect(parseBatch(text).items).toHaveLength(1000);
  });

  it.each<[string, unknown, string]>([
    ["an item too few", { ...answer, items: answer.items.slice(1) }, "/items"],
    ["an item twice", { ...answer, items: [answer.items[0], answer.items[0]] }, "/items/1/proof/index"],
    ["the items in another order", { ...answer, items: answer.items.toReversed() }, "/items/0/proof/index"],
    ["an item with a head of its own", { ...answer, items: [item, answer.items[1]] }, "/items/0/batch"],
    ["no head", { items: answer.items }, "/batch"],
    ["another member", { ...answer, extra: 1 }, "/extra"],
    [
      "an item of another form",
      { ...answer, items: [answer.items[0], { ...answer.items[1], version: 2 }] },
      "/items/1/version",
    ],
    [
      "an item of an unknown chain",
      { ...answer, items: [answer.items[0], { ...answer.items[1], source: { ...baseItem.source, chain: "solana" } }] },
      "/items/1/source/chain",
    ],
  ])("with %s is refused", (_name, value, pointer) => {
    expect(() => parseBatch(JSON.stringify(value))).toThrow(expect.objectContaining({ code: "format", pointer }));
  });

  it("larger than 16 MiB is refused unread", () => {
    expect(() => parseBatch(" ".repeat(2 ** 24 + 1))).toThrow(
      expect.objectContaining({ code: "json", fault: "too_large" }),
    );
  });
});

it("is not another attestor's", () => {
  expect(failed(testBatchItem({ attestor: testAttestor("stranger") }))).toEqual([
    "keyTrust /batch/attestor/pqPublicKey",
  ]);
});
