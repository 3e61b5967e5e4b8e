import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vectors } from "../../test/vectors.ts";
import { fromBase64, fromHex, toHex, utf8 } from "../encoding.ts";
import {
  decodeMsgpack,
  decodeMsgpackMap,
  encodeMsgpack,
  getBytes,
  getInteger,
  getMap,
  getString,
  isCanonicalMsgpack,
  type MsgpackKey,
  type MsgpackValue,
  RawString,
  structMap,
} from "./msgpack.ts";

const integer = fc.oneof(
  fc.maxSafeNat(),
  fc.bigInt(2n ** 53n, 2n ** 64n - 1n),
  fc.constantFrom(0, 127, 128, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32),
);
const rawString = fc.uint8Array({ maxLength: 40 }).map((bytes) => {
  return new RawString(Uint8Array.of(0xff, ...bytes));
});
const text = fc.string({ unit: "grapheme", maxLength: 40 });
const key: fc.Arbitrary<MsgpackKey> = fc.oneof(text, integer);
const { value } = fc.letrec<{ value: MsgpackValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text,
    rawString,
    fc.uint8Array({ maxLength: 300 }),
    integer,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 20 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 20 }).map((entries) => new Map(entries)),
  ),
}));

describe("encodeMsgpack and decodeMsgpack", () => {
  it("give back every value", () => {
    fc.assert(
      fc.property(value, (original) => {
        expect(decodeMsgpack(encodeMsgpack(original))).toEqual(original);
      }),
    );
  });

  it("do not depend on the order in which a map was filled", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value)), (entries) => {
        const unique = [...new Map(entries)];
        expect(encodeMsgpack(new Map(unique.toReversed()))).toEqual(encodeMsgpack(new Map(unique)));
      }),
    );
  });

  it("agree that an encoding is canonical", () => {
    fc.assert(
      fc.property(value, (original) => {
        expect(isCanonicalMsgpack(encodeMsgpack(original))).toBe(true);
      }),
    );
  });

  it.each<[MsgpackValue, string]>([
    [127, "7f"],
    [128, "cc80"],
    [256, "cd0100"],
    [65536, "ce00010000"],
    [2 ** 32, "cf0000000100000000"],
    [2n ** 64n - 1n, "cfffffffffffffffff"],
    ["a".repeat(31), `bf${"61".repeat(31)}`],
    ["a".repeat(32), `d920${"61".repeat(32)}`],
    [new Uint8Array(2), "c4020000"],
    [Array(16).fill(true), `dc0010${"c3".repeat(16)}`],
  ])("write the shortest form of %s", (original, hex) => {
    expect(toHex(encodeMsgpack(original))).toBe(hex);
  });

  it("sort keys by their bytes, not by UTF-16 units nor by length", () => {
    const keys: MsgpackKey[] = ["😀", "\uffff", "b", "aa", new RawString(Uint8Array.of(0xff)), 10, 9];
    const sorted = [9, 10, "aa", "b", "\uffff", "😀", new RawString(Uint8Array.of(0xff))];
    const encoded = encodeMsgpack(new Map(keys.map((each) => [each, 1])));
    expect([...decodeMsgpackMap(encoded).keys()]).toEqual(sorted);
  });

  it("refuse to encode what msgpack cannot carry", () => {
    for (const bad of [0.5, 2 ** 53, 2n ** 64n, -1, -1n, -(2n ** 63n), "\ud800", "\ud800".repeat(40), undefined])
      expect(() => encodeMsgpack(bad as MsgpackValue)).toThrow(TypeError);
  });
});

describe("decodeMsgpack", () => {
  it.each([
    ["nothing", ""],
    ["trailing bytes", "0101"],
    ["a truncated string", "a561"],
    ["a length beyond the end", "dfffffffff"],
    ["a duplicate key", "82a16101a16102"],
    ["a duplicate key of raw bytes", "82a1ff01a1ff02"],
    ["a duplicate key in two encodings", "820101cc0102"],
    ["a key that is a map", "818001"],
    ["a key that is nil", "81c001"],
    ["a key that is true", "81c301"],
    ["a key that is bytes", "81c4016101"],
    ["a key that is an array", "819001"],
    ["-1", "ff"],
    ["-33", "d0df"],
    ["1, as a signed integer", "d001"],
    ["-129", "d1ff7f"],
    ["-(2^31)", "d280000000"],
    ["-(2^63)", "d38000000000000000"],
    ["a float", "cb3ff0000000000000"],
    ["an extension", "d40100"],
    ["the unused type", "c1"],
    ["too deep a nesting", `${"91".repeat(65)}c0`],
  ])("refuses %s", (_what, hex) => {
    expect(() => decodeMsgpack(fromHex(hex))).toThrow(
      expect.objectContaining({ name: "ProofError", code: "malformed" }),
    );
  });

  it("decodes or throws ProofError, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          decodeMsgpack(bytes);
        } catch (error) {
          expect(error).toMatchObject({ name: "ProofError", code: "malformed" });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("tells encodings that are longer than needed", () => {
    for (const hex of ["cc01", "cd0001", "d90161", "c5000100", "dc000101", "de0001a16101", "82a16201a16101"]) {
      decodeMsgpack(fromHex(hex));
      expect(isCanonicalMsgpack(fromHex(hex))).toBe(false);
    }
  });
});

describe("members", () => {
  const map = structMap({ s: "x", b: utf8("y"), i: 5, m: new Map([["k", 1]]), none: undefined, zero: 0, empty: "" });

  it("are left out where Go's omitempty leaves them out", () => {
    expect([...map.keys()]).toEqual(["s", "b", "i", "m"]);
  });

  it("are read by type", () => {
    expect([getString(map, "s"), getBytes(map, "b", 1), getInteger(map, "i")]).toEqual(["x", utf8("y"), 5n]);
    expect(getMap(map, "m")).toEqual(new Map([["k", 1]]));
    expect([getString(map, "?"), getBytes(map, "?"), getInteger(map, "?")]).toEqual([undefined, undefined, 0n]);
    for (const read of [getString, getMap, getInteger])
      expect(() => read(map, "b")).toThrow(expect.objectContaining({ name: "ProofError", code: "malformed" }));
    expect(() => getBytes(map, "b", 2)).toThrow(expect.objectContaining({ name: "ProofError", code: "malformed" }));
  });
});

describe("msgpack of real nodes", () => {
  const transactions = [
    ..."app_call_1 app_call_2 app_call_3 app_call_box_create app_call_inner app_clear app_close app_delete".split(" "),
    ..."app_foreign app_foreign_assets app_nonascii app_optin app_update asset_config asset_freeze".split(" "),
    ..."asset_transfer heartbeat keyreg multisig payment rekey resource_sharing_1 resource_sharing_2".split(" "),
    ..."state_proof state_proof_with_index txnaccess_multiple".split(" "),
  ];

  it.each(transactions)("%s comes back byte for byte", (name) => {
    const bytes = vectors.bytes(`algorand/indexer-txn/${name}.txn`);
    expect(toHex(encodeMsgpack(decodeMsgpack(bytes)))).toBe(toHex(bytes));
  });

  it.each(["GetBlock_header", "GetBlock_heartbeat", "GetBlock_transaction"])("%s comes back byte for byte", (name) => {
    const bytes = fromBase64(vectors.text(`algorand/sandnet/v2_algod_${name}.base64`).replace(/\s/g, ""));
    expect(toHex(encodeMsgpack(decodeMsgpack(bytes)))).toBe(toHex(bytes));
  });

  it("every truncation of a block is refused", () => {
    const bytes = vectors.bytes("algorand/sandnet/stpf_block.block");
    for (let length = 0; length < bytes.length; length += 7)
      expect(() => decodeMsgpack(bytes.subarray(0, length))).toThrow(
        expect.objectContaining({ name: "ProofError", code: "malformed" }),
      );
  });
});
