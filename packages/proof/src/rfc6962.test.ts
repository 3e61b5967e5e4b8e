import { describe, expect, it } from "vitest";
import { vectors } from "../test/vectors.ts";
import { fromHex, toHex } from "./encoding.ts";
import { leafHash, merkleTree, rootByPath } from "./rfc6962.ts";

describe("a tree of RFC 6962", () => {
  const { leafInputsHex, rootHexBySize } = vectors.json("rfc6962-roots.json");
  const leaves: Uint8Array[] = leafInputsHex.map((hex: string) => leafHash(fromHex(hex)));

  it("has the roots of transparency-dev/merkle, to which every path leads, and from no other place", () => {
    for (const [size, root] of rootHexBySize.entries()) {
      const first = leaves.slice(0, size);
      const tree = merkleTree(first);
      expect(toHex(tree.root)).toBe(root);
      for (const [index, leaf] of first.entries()) {
        const path = tree.path(index);
        const rootOf = (...[at, of, by]: [number, number, Uint8Array[]]) => {
          const found = rootByPath(leaf, at, of, by);
          return found && toHex(found);
        };
        expect(rootOf(index, size, path)).toBe(root);
        expect(rootOf(index, size, [...path, leaf])).toBeUndefined();
        if (path.length > 0) expect(rootOf(index, size, path.slice(1))).not.toBe(root);
        for (let other = 0; other < size; other++)
          if (other !== index) expect(rootOf(other, size, path)).not.toBe(root);
      }
    }
  });
});
