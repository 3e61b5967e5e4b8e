import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "../encoding.ts";
import { decodeQuantity, decodeRlp, decodeRlpList, encodeQuantity, encodeRlp, type RlpItem } from "./rlp.ts";

const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof({ depthSize: "small" }, fc.uint8Array({ maxLength: 300 }), fc.array(tie("item"), { maxLength: 70 })),
}));

describe("encodeRlp and decodeRlp", () => {
  it("give back every item", () => {
    fc.assert(
      fc.property(item, (original) => {
        expect(decodeRlp(encodeRlp(original))).toEqual(original);
      }),
    );
  });

  it.each<[RlpItem, string]>([
    [utf8("dog"), "83646f67"],
    [[utf8("cat"), utf8("dog")], "c88363617483646f67"],
    [new Uint8Array(), "80"],
    [[], "c0"],
    [Uint8Array.of(0), "00"],
    [Uint8Array.of(0x0f), "0f"],
    [Uint8Array.of(0x80), "8180"],
    [[[], [[]], [[], [[]]]], "c7c0c1c0c3c0c1c0"],
    [new Uint8Array(56), `b838${"00".repeat(56)}`],
    [new Uint8Array(1024), `b90400${"00".repeat(1024)}`],
  ])("spell %j", (original, hex) => {
    expect(toHex(encodeRlp(original))).toBe(hex);
  });

  it("accept one encoding of an item alone, and throw nothing but ProofError", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        let decoded: RlpItem;
        try {
          decoded = decodeRlp(bytes);
        } catch (error) {
          expect(error).toMatchObject({ name: "ProofError", code: "malformed" });
          return;
        }
        expect(toHex(encodeRlp(decoded))).toBe(toHex(bytes));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    ["nothing", ""],
    ["trailing bytes", "0000"],
    ["a truncated string", "8261"],
    ["a truncated list", "c281"],
    ["an item beyond its list", "c18161"],
    ["a single byte with a prefix", "8101"],
    ["a length that fits the prefix", `b837${"00".repeat(55)}`],
    ["a length that begins with zero", `b90038${"00".repeat(56)}`],
    ["a length beyond all memory", "bfffffffffffffffff"],
    ["too deep a nesting", toHex(encodeRlp(Array.from({ length: 33 }).reduce<RlpItem>((inner) => [inner], [])))],
  ])("refuse %s", (_what, hex) => {
    expect(() => decodeRlp(fromHex(hex))).toThrow(expect.objectContaining({ name: "ProofError", code: "malformed" }));
  });

  it("know a list from a string", () => {
    expect(() => decodeRlpList(fromHex("80"))).toThrow(
      expect.objectContaining({ name: "ProofError", code: "malformed" }),
    );
  });
});

it("a quantity has no leading zero, and zero has no bytes", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 256n - 1n), (value) => {
      expect(decodeQuantity(encodeQuantity(value))).toBe(value);
    }),
  );
  expect(encodeQuantity(0)).toEqual(new Uint8Array());
  expect(() => decodeQuantity(Uint8Array.of(0))).toThrow(
    expect.objectContaining({ name: "ProofError", code: "malformed" }),
  );
});
