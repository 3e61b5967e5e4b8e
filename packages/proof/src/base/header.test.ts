import { describe, expect, it } from "vitest";
import { recordedAmsterdamBlock } from "../../test/recorded.ts";
import { vectors } from "../../test/vectors.ts";
import { fromHex, toHex } from "../encoding.ts";
import { baseHeaderHash, decodeBaseHeader, encodeBaseHeader, unknownHeaderFields } from "./header.ts";
import { decodeRlpList, encodeRlp } from "./rlp.ts";

describe("headers of OP Stack blocks and of Ethereum", () => {
  const holocene = vectors.json("replay/base/blocks/op-sepolia-holocene-26207961.json");
  const block = { ...holocene.header, hash: holocene.hash };
  const canyon = vectors.json("base/opstack-canyon-block-274-full.json").block;
  const goerli = vectors.json("base/goerli-pre-shanghai-block.json");

  it("are encoded to the recorded bytes", () => {
    const bytes = encodeBaseHeader(block);
    expect(toHex(bytes)).toBe(holocene.headerRlp.slice(2));
    expect(baseHeaderHash(bytes)).toBe(holocene.hash);
  });

  it.each([
    ["20 fields", block, 20],
    ["17 fields", canyon, 17],
    ["16 fields", goerli, 16],
  ])("of %s have their own hash, and come back", (_what, json, count) => {
    const bytes = encodeBaseHeader(json);
    const header = decodeBaseHeader(bytes);
    expect(header.fields.size).toBe(count);
    expect(header.number).toBe(Number(json.number));
    expect(`0x${toHex(header.transactionsRoot)}`).toBe(json.transactionsRoot);
    expect(`0x${toHex(header.receiptsRoot)}`).toBe(json.receiptsRoot);
    for (const [name, value] of header.fields)
      expect(BigInt(`0x0${toHex(value)}`)).toBe(BigInt(json[name] === "0x" ? 0 : json[name]));
  });

  it.each<[string, Record<string, unknown>]>([
    ["another hash", { ...block, hash: canyon.hash }],
    ["a field changed", { ...block, gasUsed: "0x1" }],
    ["a field missing between", { ...block, withdrawalsRoot: undefined }],
    ["a field null between", { ...block, baseFeePerGas: null }],
    ["the last field missing", { ...block, parentBeaconBlockRoot: undefined }],
    ["a mandatory field missing", { ...goerli, nonce: undefined, baseFeePerGas: undefined }],
    ["a field that is a number", { ...block, number: 5 }],
    ["a field that is no hex", { ...block, number: "0xzz" }],
    ["a field of another length", { ...block, parentHash: "0x00" }],
    ["half a byte", { ...block, extraData: "0x0" }],
  ])("are refused with %s", (_what, json) => {
    expect(() => encodeBaseHeader(json)).toThrow(expect.objectContaining({ name: "ProofError", code: "malformed" }));
  });
});

describe("a header since Amsterdam", () => {
  const { block, headerRlp, otherHeaders } = recordedAmsterdamBlock;

  it.each<[string, Record<string, unknown>, string, number]>([
    ["in slot 0", block, headerRlp, 23],
    ["without a slot", otherHeaders[0]?.header ?? {}, otherHeaders[0]?.rlp ?? "", 22],
    ["in slot 15028224", otherHeaders[1]?.header ?? {}, otherHeaders[1]?.rlp ?? "", 23],
  ])("%s has go-ethereum's bytes and hash, and comes back", (_what, json, rlp, count) => {
    const bytes = encodeBaseHeader(json);
    expect(`0x${toHex(bytes)}`).toBe(rlp);
    expect(baseHeaderHash(bytes)).toBe(json.hash);
    const { fields } = decodeBaseHeader(bytes);
    expect(fields.size).toBe(count);
    expect(`0x${toHex(fields.get("blockAccessListHash") ?? new Uint8Array())}`).toBe(json.blockAccessListHash);
  });

  it.each<[string, Record<string, unknown>]>([
    ["an access list's hash of 31 bytes", { ...block, blockAccessListHash: `0x${"11".repeat(31)}` }],
    ["another slot", { ...block, slotNumber: "0x1" }],
    ["no slot", { ...block, slotNumber: undefined }],
    ["a slot and no access list", { ...block, blockAccessListHash: null }],
  ])("is refused with %s", (_what, json) => {
    expect(() => encodeBaseHeader(json)).toThrow(expect.objectContaining({ name: "ProofError", code: "malformed" }));
  });
});

describe("a header with a field that is not known here", () => {
  const { slotNumber, ...block } = recordedAmsterdamBlock.block;

  it("is refused by the names that the node gives it", () => {
    const json = { ...block, slotOfAFork: slotNumber, rootOfAFork: "0x00" };
    expect(() => encodeBaseHeader(json)).toThrow("unknown fields: slotOfAFork, rootOfAFork");
  });

  it("is not seen in members that are in no header, of any client", () => {
    const strangers = {
      ...{ totalDifficulty: "0x0", timestampMs: "0x0", l1BlockNumber: "0x1", sendCount: "0x1", sendRoot: "0x00" },
      ...{ milliTimestamp: "0x0", author: "0x00", sealFields: [], absent: null },
    };
    expect(unknownHeaderFields({ ...recordedAmsterdamBlock.block, ...strangers })).toEqual([]);
  });

  it("does not let a node fill an error with names", () => {
    const names = [...Array(1_000)].map((_, index) => [`field${index}`, "0x0"]);
    const json = { ...block, ...Object.fromEntries(names), [`a${"b".repeat(1e6)}`]: "0x", "new\nline": "0x" };
    expect(unknownHeaderFields(json)).toEqual(["field0", "field1", "field2", "field3", "field4"]);
  });
});

describe("decodeBaseHeader", () => {
  const lengths = [32, 32, 20, 32, 32, 32, 256, 0, 1, 1, 1, 1, 5, 32, 8];
  const fields = lengths.map((length) => new Uint8Array(length).fill(1));

  it("takes 15 fields and more, also more than it knows", () => {
    expect(decodeBaseHeader(encodeRlp(fields)).fields.size).toBe(15);
    const future = [...fields, ...[1, 32, 1, 1, 32, 32, 32, 1, 7].map((length) => new Uint8Array(length).fill(1))];
    expect(decodeBaseHeader(encodeRlp(future)).fields.size).toBe(23);
    expect(decodeRlpList(encodeRlp(future))).toHaveLength(24);
  });

  it.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["a string", fromHex("80")],
    ["too few fields", encodeRlp(fields.slice(1))],
    ["a list for a field", encodeRlp([...fields.slice(0, 12), [], ...fields.slice(13)])],
    ["a hash of 31 bytes", encodeRlp(fields.with(0, new Uint8Array(31)))],
    ["an integer that begins with zero", encodeRlp(fields.with(8, Uint8Array.of(0)))],
    ["a number beyond 2^53", encodeRlp(fields.with(8, new Uint8Array(7).fill(255)))],
  ])("refuses %s", (_what, bytes) => {
    expect(() => decodeBaseHeader(bytes)).toThrow(expect.objectContaining({ name: "ProofError", code: "malformed" }));
  });
});
