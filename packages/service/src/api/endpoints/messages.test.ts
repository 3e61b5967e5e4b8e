import type { JsonValue } from "@attestd/proof/json";
import { afterAll, describe, expect, test } from "vitest";
import { testAttestor, testBundle, testHistory } from "../../../../../test/bundles/bundles.ts";
import { createVerificationPool } from "../../verification/worker-pool.ts";
import { type MessageForm, readMessage, readSmallMessage } from "./messages.ts";

const MCP: MessageForm = { protocol: "mcp", verifying: ["verify"], extra: ["chain"] };
const A2A: MessageForm = { protocol: "a2a", verifying: ["verify"], extra: ["skill", "chain"] };

const pool = createVerificationPool(1, () => testHistory([{ attestor: testAttestor(), fromRound: 1 }]));
afterAll(() => pool.close());

/** Reads like a transport: in the calling thread, or in the worker pool when the text is large. */
async function read(text: string, form: MessageForm) {
  const read = await pool.readMessage(Buffer.from(text), form);
  if ("message" in read && read.bundle) return { ...read, bundle: Buffer.from(read.bundle).toString() };
  return read;
}

const bundle = JSON.stringify(testBundle({ attestor: testAttestor() }));
const LARGE = { note: "\u{1f511}".repeat(2 ** 17), nodes: ["A".repeat(2 ** 20)] };

/** MCP's `tools/call`, and A2A's `message/send` with a data part and with a text. */
const tool = (name: string, args: JsonValue, about: JsonValue = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args, _meta: about } });
const skill = (part: object, about: JsonValue = {}, ofParams: JsonValue = {}) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "message/send",
    params: { message: { role: "user", parts: [part], metadata: about }, metadata: ofParams },
  });
const data = (name: string, args: object) => ({ kind: "data", data: { skill: name, ...args } });
const text = (name: string, args: object) => ({ kind: "text", text: JSON.stringify({ skill: name, ...args }) });

describe("a message", () => {
  test.each([
    ["a small bundle", bundle],
    ["a large one", JSON.stringify(LARGE)],
  ])("loses %s, and keeps the other members", async (_, json) => {
    const args = { ...JSON.parse(json), chain: "1" };
    expect(await read(tool("verify", args, { a: 1 }), MCP)).toEqual({
      message: JSON.parse(tool("verify", { chain: "1" }, { a: 1 })),
      bundle: json,
    });
    const left = { message: JSON.parse(skill(data("verify", { chain: "1" }))), bundle: json };
    expect(await read(skill(data("verify", args)), A2A)).toEqual(left);
    expect(await read(skill(text("verify", args)), A2A)).toEqual(left);
  });

  /** A Struct as `google.protobuf.json_format` of a2a-sdk 1.3.0 for Python writes it. */
  test("of A2A may have integers as protobuf's JSON writes them, and the bundle is written canonically", async () => {
    const sent = skill(data("verify", JSON.parse(bundle)), { x402Version: 2 })
      .replace('"version":1', '"version":1.0')
      .replace('"x402Version":2', '"x402Version":2.0');
    expect(await read(sent, A2A)).toEqual({
      message: JSON.parse(skill(data("verify", {}), { x402Version: 2 })),
      bundle,
    });
    const spellings = ["-0.0", "1.00", "1.5e1", "01.0", "1e0"].map((digits) => skill({ kind: "data", data: digits }));
    for (const one of spellings)
      expect(await read(one.replace(/"data":"([^"]*)"/, '"data":$1'), A2A)).toHaveProperty("notJson");
    expect(await read(tool("attest", { height: 1 }).replace('"height":1', '"height":1.0'), MCP)).toHaveProperty(
      "notJson",
    );
  });

  test("of any other call keeps its arguments", async () => {
    for (const [sent, form] of [
      [tool("attest", { txid: "A" }), MCP],
      [skill(data("attest", { txid: "A" })), A2A],
      ['{"method":"tools/list"}', MCP],
      ['[1,{"method":"message/send","params":null}]', A2A],
      ["null", MCP],
    ] as const)
      expect(await read(sent, form)).toEqual({ message: JSON.parse(sent) });
  });

  const kilobytes = (count: number) => ({ large: "x".repeat(count * 1024) });
  const members = (count: number) => ({ many: Array.from({ length: count }, () => 0) });
  test.each<[string, string, MessageForm]>([
    ["2 MB for a tool that is paid", tool("attest", { txid: "x".repeat(2 ** 21) }), MCP],
    ["100 KB for a tool that only reads", tool("readiness", kilobytes(100)), MCP],
    ["100 KB that name no method", JSON.stringify(kilobytes(100)), MCP],
    ["100 KB next to a bundle", tool("verify", { chain: "x".repeat(100_000) }), MCP],
    ["17 KB of _meta", tool("attest", {}, kilobytes(17)), MCP],
    ["17 KB of _meta next to a bundle", tool("verify", LARGE, kilobytes(17)), MCP],
    ["2 MB of tiny members in _meta", tool("verify", {}, members(2 ** 10)), MCP],
    ["a thousand members", tool("attest", members(1024)), MCP],
    ["2 MB for a skill that is paid", skill(data("attest", { txid: "x".repeat(2 ** 21) })), A2A],
    ["100 KB of text", skill({ kind: "text", text: "x".repeat(100_000) }), A2A],
    ["100 KB of text that is no JSON", skill({ kind: "text", text: `{${"x".repeat(100_000)}` }), A2A],
    ["17 KB of a message's metadata", skill(data("attest", {}), kilobytes(17)), A2A],
    ["17 KB of the params' metadata", skill(data("verify", LARGE), {}, kilobytes(17)), A2A],
    ["a thousand members of metadata", skill(data("verify", LARGE), members(1024)), A2A],
  ])("is too large with %s", async (_, sent, form) => {
    expect(await read(sent, form)).toEqual({ tooLarge: expect.stringMatching(/larger than|more than/) });
  });

  test("that is not strict JSON is refused with a pointer to the fault, whatever its size", async () => {
    for (const space of ["", " ".repeat(2 ** 20)])
      expect(await read(`{"a":{"b":1,"b":2}}${space}`, MCP)).toEqual({
        notJson: 'line 1: "b" appears twice',
        pointer: "/a/b",
      });
    expect(await read(`[${"0,".repeat(2 ** 20)}0]`, MCP)).toMatchObject({
      notJson: expect.stringContaining("members"),
    });
  });

  test("of few bytes and many members is read in the worker pool", async () => {
    const many = JSON.stringify({ nodes: Array.from({ length: 4000 }, (_, i) => i) });
    for (const sent of [tool("verify", JSON.parse(many)), skill(text("verify", JSON.parse(many)))]) {
      const form = sent.includes("tools/call") ? MCP : A2A;
      expect(readSmallMessage(Buffer.from(sent), form)).toBeUndefined();
      expect(await read(sent, form)).toMatchObject({ bundle: many });
    }
  });

  test("is read in a worker as in the calling thread", async () => {
    const sent = `${tool("verify", { ...JSON.parse(bundle), chain: "true" })}${" ".repeat(2 ** 20)}`;
    const here = readMessage(Buffer.from(sent), MCP);
    expect(await read(sent, MCP)).toEqual({ ...here, bundle });
  });
});
