import { describe, expect, it } from "vitest";
import { ALGORAND_MAINNET } from "./algorand/network.ts";
import { BASE_MAINNET } from "./base/network.ts";
import { encodeNote, type Note, parseNote, paymentCommitment } from "./note.ts";

const A = `${"a".repeat(42)}A`;
const H = "0".repeat(64);
const P = `${"p".repeat(21)}Q`;
const T = "X6KXJ7I6C4IX7P6QOPAJ555BNZNXM4YFJ62EWFMIXYSBFXT4T3QA";
const subject = { a: A, c: BASE_MAINNET, g: ALGORAND_MAINNET, h: H, l: "finalized", p: P } as const;
const notes: Record<string, Note> = {
  transaction: { ...subject, b: T, n: 7, t: T, u: 1_780_000_000 },
  "transaction with an outcome": { ...subject, b: `0x${H}`, n: 7, s: 0, t: T, u: 0 },
  block: { ...subject, b: `0x${H}`, n: 7 },
  key: { g: ALGORAND_MAINNET, k: H },
};

describe.each(Object.entries(notes))("the note of a %s", (_kind, note) => {
  const text = encodeNote(note);

  it("is ARC-2 with sorted members", () => {
    expect(text).toBe(`attestd/v1:j${JSON.stringify(Object.fromEntries(Object.entries(note).sort()))}`);
    expect(text.length).toBeLessThanOrEqual(1024);
    expect(parseNote(text)).toEqual(note);
  });

  it.each<[string, string]>([
    ["white space", text.replace(":j{", ":j{ ")],
    ["trailing space", `${text} `],
    ["another prefix", text.replace("v1", "v2")],
    ["another format", text.replace(":j", ":m")],
    ["an escaped letter", text.replace('"g"', '"\\u0067"')],
    ["an unknown member", text.replace("}", ',"z":1}')],
    ["a member twice", text.replace(":j{", ':j{"g":"x",')],
    ["members out of order", text.replace(/(j\{)("g":"[^"]*"),/, '$1"_":0,').replace("}", ',"g":"x"}')],
    ["no JSON", text.slice(0, -1)],
    ["an array", "attestd/v1:j[]"],
    ["more than 1024 bytes", text + " ".repeat(1025)],
  ])("is refused with %s", (_what, bad) => {
    expect(() => parseNote(bad)).toThrow(expect.objectContaining({ name: "ProofError", code: "format" }));
  });

  it.each(Object.keys(note))("is refused without %s, or with another type of it", (member) => {
    const { [member as keyof typeof note]: value, ...rest } = note;
    // A bundle's check knows which chains need an outcome.
    if (member !== "s")
      expect(() => parseNote(encodeNote(rest as Note))).toThrow(
        expect.objectContaining({ name: "ProofError", code: "format" }),
      );
    const other = typeof value === "string" ? 1 : String(value);
    expect(() => parseNote(encodeNote({ ...note, [member]: other } as Note))).toThrow(
      expect.objectContaining({ name: "ProofError", code: "format" }),
    );
  });
});

it.each<[string, Partial<Record<string, unknown>>]>([
  ["/a", { a: `${"a".repeat(42)}B` }],
  ["/c", { c: "base" }],
  ["/g", { g: "algorand" }],
  ["/h", { h: H.toUpperCase().replace("0", "A") }],
  ["/l", { l: "latest" }],
  ["/p", { p: P.slice(1) }],
  ["/p", { p: `${"p".repeat(21)}R` }],
  ["/t", { t: "" }],
  ["/b", { b: "" }],
  ["/n", { n: -1 }],
  ["/s", { s: 2 }],
  ["/u", { u: -1 }],
])("a malformed member is named: %s", (pointer, change) => {
  const text = encodeNote({ ...notes.transaction, ...change } as Note);
  expect(() => parseNote(text)).toThrow(expect.objectContaining({ pointer }));
});

it("the commitment to a payment is 16 bytes of its key's SHA-256", () => {
  // printf '' | sha256sum: e3b0c44298fc1c149afbf4c8996fb924…
  expect(paymentCommitment("")).toBe("47DEQpj8HBSa-_TImW-5JA");
});
