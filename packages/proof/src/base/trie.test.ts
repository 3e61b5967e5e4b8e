import { createMerkleProof, createMPT } from "@ethereumjs/mpt";
import { keccak_256 as keccak256 } from "@noble/hashes/sha3.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vectors } from "../../test/vectors.ts";
import { fromHex, toHex } from "../encoding.ts";
import { decodeRlpList, encodeQuantity, encodeRlp, type RlpItem } from "./rlp.ts";
import { baseTxHash } from "./transaction.ts";
import { proveIndex, trieRoot, verifyIndex } from "./trie.ts";

type AccessListJson = { address: string; storageKeys: string[] }[];

function accessListOf(json: { accessList?: unknown }): RlpItem {
  const entries = (json.accessList ?? []) as AccessListJson;
  return entries.map(({ address, storageKeys }) => [bytesOf(address), storageKeys.map(bytesOf)]);
}

const bytesOf = (hex: string) => fromHex(hex.slice(2));

/** Makes different items, some of them so short that a parent embeds them. */
function itemsOf(count: number, maxLength: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => {
    return Uint8Array.of(index >> 8, index, ...new Uint8Array((index * 7919) % maxLength).fill(index));
  });
}

describe("transactions of recorded blocks", () => {
  it("have the header's root, and prove each transaction to it", () => {
    for (const file of ["op-sepolia-holocene-26207960", "op-sepolia-holocene-26207961"]) {
      const { header, transactions } = vectors.json(`replay/base/blocks/${file}.json`);
      const items: Uint8Array[] = transactions.map(({ raw }: { raw: string }) => bytesOf(raw));
      for (const [index, item] of items.entries()) {
        const { root, nodes } = proveIndex(items, index);
        expect(`0x${toHex(root)}`).toBe(header.transactionsRoot);
        expect(verifyIndex(root, index, nodes)).toEqual(item);
      }
    }
  });

  it("made again from the JSON of 62 have their ids, and the header's root", () => {
    const block = vectors.json("base/goerli-pre-shanghai-block.json");
    const items = block.transactions.map((json: Record<string, string>) => {
      const quantity = (name: string) => encodeQuantity(BigInt(json[name] as string));
      const call = [json.to ? bytesOf(json.to) : new Uint8Array(), quantity("value"), bytesOf(json.input as string)];
      const signature = ["v", "r", "s"].map(quantity);
      if (json.type === "0x0") return encodeRlp([...["nonce", "gasPrice", "gas"].map(quantity), ...call, ...signature]);
      const fees = ["chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas", "gas"].map(quantity);
      return Uint8Array.of(2, ...encodeRlp([...fees, ...call, accessListOf(json), ...signature]));
    });
    expect(items).toHaveLength(62);
    expect(items.map((item: Uint8Array) => baseTxHash(item))).toEqual(
      block.transactions.map(({ hash }: { hash: string }) => hash),
    );
    expect(`0x${toHex(trieRoot(items))}`).toBe(block.transactionsRoot);
  });

  it("of one alone, with its receipt, have the header's roots", () => {
    const { block } = vectors.json("base/opstack-canyon-block-274-full.json");
    expect(`0x${toHex(trieRoot([bytesOf(block.transactions[0].raw)]))}`).toBe(block.transactionsRoot);
    const bloom = bytesOf(block.logsBloom);
    // After the four common fields a deposit's receipt has its nonce (0x111) and version (1).
    const fields = [fromHex("01"), fromHex("b76d"), bloom, [], fromHex("0111"), fromHex("01")];
    expect(`0x${toHex(trieRoot([Uint8Array.of(0x7e, ...encodeRlp(fields))]))}`).toBe(block.receiptsRoot);
  });
});

describe.each([0, 1, 2, 16, 17, 127, 128, 129, 300])("a trie of %i items", (count) => {
  it.each([1, 40, 900])("of up to %i bytes proves each of them, and nothing else", (maxLength) => {
    const items = itemsOf(count, maxLength);
    const root = trieRoot(items);
    const step = Math.max(1, Math.floor(count / 10));
    for (let index = 0; index < count; index += step) {
      const proof = proveIndex(items, index);
      expect(toHex(proof.root)).toBe(toHex(root));
      expect(verifyIndex(root, index, proof.nodes)).toEqual(items[index]);
      for (const other of [index + 1, index + 16, index + 256, 0, 127, 128])
        if (other !== index) expect(verifyIndex(root, other, proof.nodes)).toBeUndefined();
    }
  });
});

describe.each([0, 1, 2, 16, 17, 127, 128, 129, 1000])("a block of %i transactions of up to 5,000 bytes", (count) => {
  it("has the root and the proofs that @ethereumjs/mpt makes, byte for byte", async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: count, maxLength: count, size: "max" });
    const property = fc.asyncProperty(lengths, fc.nat(Math.max(0, count - 1)), async (sizes, index) => {
      const items = sizes.map((size, place) => new Uint8Array(size).fill(place * 31 + size));
      const reference = await createMPT();
      for (const [place, item] of items.entries()) await reference.put(encodeRlp(encodeQuantity(place)), item);
      expect(toHex(trieRoot(items))).toBe(toHex(reference.root()));
      if (count === 0) return;
      const nodes = await createMerkleProof(reference, encodeRlp(encodeQuantity(index)));
      expect(proveIndex(items, index).nodes.map(toHex)).toEqual(nodes.map(toHex));
    });
    await fc.assert(property, { numRuns: count < 100 ? 10 : 1 });
  });
});

it("an empty trie has the root that every client gives it", () => {
  expect(toHex(trieRoot([]))).toBe("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");
});

it("only what there is can be proven", () => {
  for (const index of [-1, 3, 0.5, Number.NaN]) expect(() => proveIndex(itemsOf(3, 9), index)).toThrow(RangeError);
});

describe("verifyIndex", () => {
  const items = itemsOf(40, 60);
  const { root, nodes } = proveIndex(items, 20);
  const small = itemsOf(3, 2);
  const smallProof = proveIndex(small, 1);

  it("refuses a proof in which any bit of a node or of the root differs", () => {
    const parts = [root, ...nodes];
    fc.assert(
      fc.property(fc.nat(parts.length - 1), fc.nat(), (part, at) => {
        const [otherRoot, ...otherNodes] = parts.map((bytes, index) => {
          if (index !== part) return bytes;
          const bit = at % (bytes.length * 8);
          return bytes.with(bit >> 3, (bytes[bit >> 3] as number) ^ (1 << (bit & 7)));
        }) as [Uint8Array, ...Uint8Array[]];
        expect(verifyIndex(otherRoot, 20, otherNodes)).toBeUndefined();
      }),
    );
  });

  it.each<[string, Uint8Array[]]>([
    ["no nodes", []],
    ["a node too few", nodes.slice(0, -1)],
    ["a node too many", [...nodes, nodes.at(-1) as Uint8Array]],
    ["nodes out of order", nodes.toReversed()],
    ["another item's nodes", proveIndex(items, 21).nodes],
    ["a node that is no RLP", [Uint8Array.of(0xff)]],
  ])("refuses %s", (_what, tried) => {
    expect(verifyIndex(root, 20, tried)).toBeUndefined();
  });

  it("wants the nodes that a parent holds whole, too", () => {
    expect(verifyIndex(smallProof.root, 1, smallProof.nodes)).toEqual(small[1]);
    const apart = smallProof.nodes.filter((node, index) => index === 0 || node.length >= 32);
    expect(apart.length).toBeLessThan(smallProof.nodes.length);
    expect(verifyIndex(smallProof.root, 1, apart)).toBeUndefined();
  });

  it("refuses nodes of another shape, though their hashes are right", () => {
    const [leaf = new Uint8Array()] = proveIndex([new Uint8Array(40)], 0).nodes;
    const [path, item] = decodeRlpList(leaf) as [Uint8Array, Uint8Array];
    expect(verifyIndex(keccak256(leaf), 0, [leaf])).toEqual(item);
    const shapes = [
      [path],
      [path, item, item],
      [[path], item],
      [path, [item]],
      [new Uint8Array(), item],
      [Uint8Array.of(0x40, 0x80), item],
      [Uint8Array.of(0x2f, 0x80), item],
      [Uint8Array.of(0x20), item],
      [Uint8Array.of(0x00), item],
      [Uint8Array.of(0x20, 0x81), item],
      [Uint8Array.of(0x00, 0x80), item],
    ].map((node) => encodeRlp(node));
    for (const node of shapes) expect(verifyIndex(keccak256(node), 0, [node])).toBeUndefined();
  });

  it("refuses nodes that no trie has, though each is the one that its parent names", () => {
    const [leaf = new Uint8Array()] = proveIndex([new Uint8Array(40)], 0).nodes;
    const extension = encodeRlp([Uint8Array.of(0x00), keccak256(leaf)]);
    expect(verifyIndex(keccak256(extension), 0, [extension, leaf])).toBeUndefined();
    // rlp(0) is 0x80: eighth slot of a branch, then a leaf under the nibble 0 that is too long to be embedded.
    const held: RlpItem[] = [Uint8Array.of(0x30), new Uint8Array(40)];
    const branch = encodeRlp(Array.from({ length: 17 }, (_, slot) => (slot === 8 ? held : new Uint8Array())));
    expect(verifyIndex(keccak256(branch), 0, [branch, encodeRlp(held)])).toBeUndefined();
  });

  it("is undefined for what is no index", () => {
    for (const index of [-1, 0.5, Number.NaN, 2 ** 53]) expect(verifyIndex(root, index, nodes)).toBeUndefined();
  });
});
