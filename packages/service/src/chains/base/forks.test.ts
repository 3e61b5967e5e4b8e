import { fromBase64 } from "@attestd/proof/encoding";
import { afterEach, describe, expect, it } from "vitest";
import { recordedAmsterdamBlock } from "../../../../proof/test/recorded.ts";
import { type BlockOfBase, nodeWith } from "../../../test/fakes/base-block.ts";
import { startRpcs } from "../../../test/fakes/base-providers.ts";
import type { Upstream } from "../../../test/fakes/providers.ts";
import type { UnreadHeader } from "../../providers/quorum.ts";
import { BaseSource } from "./source.ts";

const never = new AbortController().signal;
const open: Upstream[] = [];
afterEach(async () => {
  for (const upstream of open.splice(0)) await upstream.close();
});

const { transactions: hashes, ...header } = recordedAmsterdamBlock.block;
const ID = hashes[1] as string;
const block: BlockOfBase = {
  hash: header.hash,
  header,
  transactions: hashes.map((hash, index) => ({ hash, raw: recordedAmsterdamBlock.transactions[index] as string })),
  rawReceipts: recordedAmsterdamBlock.receipts,
};
/**
 * Returns the block as a node of a fork after Amsterdam would show it: its hash covers fields that are unknown here.
 */
const { slotNumber, ...known } = header;
const later: BlockOfBase = {
  ...block,
  header: { ...known, slotOfAFork: slotNumber, rootOfAFork: `0x${"11".repeat(32)}` },
};

async function sourceOf(...blocks: BlockOfBase[]) {
  const { rpcs, upstreams } = await startRpcs(...blocks.map(nodeWith));
  open.push(...upstreams);
  const unread: UnreadHeader[] = [];
  const rules = { onConflict: () => undefined, onUnreadHeader: (of: UnreadHeader) => unread.push(of) };
  return { source: new BaseSource({ nodes: { rpcs, rules } }), unread, names: rpcs.map(({ name }) => name) };
}

describe("a block since Amsterdam", () => {
  it("is attested, and so are its transactions, by the header that go-ethereum gave it", async () => {
    const { source, unread } = await sourceOf(block);
    const { blockHash, header: bytes, find } = await source.block(1, never);
    expect([blockHash, `0x${bytes.toHex()}`]).toEqual([header.hash, recordedAmsterdamBlock.headerRlp]);
    const time = Number(header.timestamp);
    const transaction = await source.transaction(ID, never);
    expect(transaction).toMatchObject({ block: { hash: header.hash, height: 1, time }, succeeded: true });
    const { inclusion } = (await (await find(ID, never))?.prove(never)) ?? {};
    if (inclusion?.kind !== "mpt") throw new Error("no trie's proof");
    const receipt = fromBase64(inclusion.receipt?.bytesBase64 ?? "");
    expect(`0x${receipt.toHex()}`).toBe(recordedAmsterdamBlock.receipts[1]);
    expect(unread).toEqual([]);
  });
});

describe("a header with a field that is not known here", () => {
  it("is refused by the field's name, for a block and for a transaction, and reported", async () => {
    const { source, unread, names } = await sourceOf(later);
    const refused = {
      code: "providers_unavailable",
      message: expect.stringContaining("unknown fields: slotOfAFork, rootOfAFork"),
    };
    await expect(source.block(1, never)).rejects.toMatchObject(refused);
    await expect(source.transaction(ID, never)).rejects.toMatchObject(refused);
    const report = { about: "block 1", provider: names[0], unknownFields: ["slotOfAFork", "rootOfAFork"] };
    expect(unread).toEqual([expect.objectContaining(report), expect.objectContaining(report)]);
  });

  it("of a node that hides it is refused and reported, too", async () => {
    const { source, unread } = await sourceOf({ ...block, header: known });
    await expect(source.block(1, never)).rejects.toMatchObject({ code: "providers_unavailable" });
    expect(unread).toEqual([
      expect.objectContaining({ reason: "header's bytes do not have its hash", unknownFields: [] }),
    ]);
  });

  it("on one node of three stops nothing, and is reported", async () => {
    const { source, unread } = await sourceOf(block, later, block);
    expect(await source.block(1, never)).toMatchObject({ blockHash: header.hash });
    expect(unread).toHaveLength(1);
  });
});
