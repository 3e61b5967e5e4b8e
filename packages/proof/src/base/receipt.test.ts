import { describe, expect, it } from "vitest";
import { recordedAmsterdamBlock, recordedBaseBlock } from "../../test/recorded.ts";
import { vectors } from "../../test/vectors.ts";
import { fromHex, toHex } from "../encoding.ts";
import { encodeBaseHeader } from "./header.ts";
import { readReceiptStatus } from "./receipt.ts";
import { decodeRlpList, encodeRlp, type RlpItem } from "./rlp.ts";
import { baseTxHash } from "./transaction.ts";
import { trieRoot } from "./trie.ts";

const bytesOf = (hex: string) => fromHex(hex.slice(2));
const transactions = recordedBaseBlock.transactions.map(bytesOf);
const receipts = recordedBaseBlock.receipts.map(bytesOf);

describe("a block that anvil made", () => {
  const { block } = recordedBaseBlock;

  it("has its hash, its transactions' and its roots", () => {
    expect(encodeBaseHeader(block).length).toBeGreaterThan(500);
    expect(transactions.map((bytes) => baseTxHash(bytes))).toEqual(block.transactions);
    expect(`0x${toHex(trieRoot(transactions))}`).toBe(block.transactionsRoot);
    expect(`0x${toHex(trieRoot(receipts))}`).toBe(block.receiptsRoot);
  });

  it("says of each transaction whether it succeeded, as the node does", () => {
    const status = receipts.map((receipt, index) => readReceiptStatus(receipt, transactions[index] as Uint8Array));
    expect(status).toEqual(["succeeded", "failed", "succeeded", "failed", "failed"]);
  });
});

describe("a block that go-ethereum made after Amsterdam", () => {
  it("has its transactions' hashes and its roots", () => {
    const { block, transactions, receipts } = recordedAmsterdamBlock;
    expect(transactions.map((hex) => baseTxHash(bytesOf(hex)))).toEqual(block.transactions);
    expect(`0x${toHex(trieRoot(transactions.map(bytesOf)))}`).toBe(block.transactionsRoot);
    expect(`0x${toHex(trieRoot(receipts.map(bytesOf)))}`).toBe(block.receiptsRoot);
    const status = receipts.map((hex, at) => readReceiptStatus(bytesOf(hex), bytesOf(transactions[at] ?? "0x")));
    expect(status).toEqual(["succeeded", "succeeded", "succeeded"]);
  });
});

describe("the receipt of a recorded deposit", () => {
  it("leads to its root, and says that it succeeded", () => {
    const { block, receipts: listed } = vectors.json("base/opstack-canyon-block-274-full.json");
    const [receipt] = listed;
    const quantity = (hex: string) => fromHex(hex.slice(2).length % 2 ? `0${hex.slice(2)}` : hex.slice(2));
    const deposit = [quantity(receipt.depositNonce), quantity(receipt.depositReceiptVersion)];
    // It has no logs, so its Bloom filter is empty.
    const fields = [Uint8Array.of(1), quantity(receipt.cumulativeGasUsed), new Uint8Array(256), [], ...deposit];
    const bytes = Uint8Array.of(0x7e, ...encodeRlp(fields));
    expect(`0x${toHex(trieRoot([bytes]))}`).toBe(block.receiptsRoot);
    expect(readReceiptStatus(bytes, bytesOf(block.transactions[0].raw))).toBe("succeeded");
  });
});

describe("readReceiptStatus", () => {
  const [legacy, dynamic] = transactions as [Uint8Array, Uint8Array];
  const opaque = Uint8Array.of(0x79, 1);
  const deposit = Uint8Array.of(0x7e, 1);
  const none = new Uint8Array();
  const fields = decodeRlpList(receipts[0] as Uint8Array);
  const typed = (type: number, items: RlpItem[]) => Uint8Array.of(...(type ? [type] : []), ...encodeRlp(items));

  it("knows nothing of what became of a type that is opaque", () => {
    expect(readReceiptStatus(Uint8Array.of(0x79, 9, 9), opaque)).toBe("unknown");
  });

  it("takes a deposit's receipt from before Regolith, from before Canyon, and since", () => {
    for (const more of [[], [none], [none, Uint8Array.of(1)]])
      expect(readReceiptStatus(typed(0x7e, [...fields, ...more]), deposit)).toBe("succeeded");
  });

  it.each<[string, Uint8Array, Uint8Array]>([
    ["of another type than its transaction", receipts[0] as Uint8Array, dynamic],
    ["of another opaque type", Uint8Array.of(0x78, 1), opaque],
    ["with a state root in the status' place", typed(0, fields.with(0, new Uint8Array(32).fill(1))), legacy],
    ["of status 2", typed(0, fields.with(0, Uint8Array.of(2))), legacy],
    ["whose status is a byte of 0", typed(0, fields.with(0, Uint8Array.of(0))), legacy],
    ["whose status is a list", typed(0, fields.with(0, [])), legacy],
    ["without logs", typed(0, fields.slice(0, 3)), legacy],
    ["whose logs are bytes", typed(0, fields.with(3, none)), legacy],
    ["with a field too many", typed(0, [...fields, none]), legacy],
    ["with a Bloom filter of 255 bytes", typed(0, fields.with(2, new Uint8Array(255))), legacy],
    ["with gas that begins with zero", typed(0, fields.with(1, Uint8Array.of(0, 1))), legacy],
    ["of a deposit, with three fields more", typed(0x7e, [...fields, none, none, none]), deposit],
    ["of nothing", none, legacy],
    ["of trailing bytes", Uint8Array.of(...(receipts[0] as Uint8Array), 0), legacy],
  ])("refuses one %s", (_, receipt, transaction) => {
    expect(() => readReceiptStatus(receipt, transaction)).toThrow(
      expect.objectContaining({ name: "ProofError", code: "malformed" }),
    );
  });
});
