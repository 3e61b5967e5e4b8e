import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "../encoding.ts";
import { isProofError, type JsonFault, type ProofError } from "../errors.ts";
import { parseJson } from "./parse.ts";

function refusal(input: string | Uint8Array, limits = {}): ProofError {
  try {
    parseJson(input, limits);
  } catch (error) {
    if (isProofError(error, "json")) return error;
    throw error;
  }
  throw new Error(`taken: ${input}`);
}

describe("parseJson", () => {
  it("reads what JSON.parse reads, however it is spaced", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, stringUnit: "grapheme" }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const isSafe = JSON.stringify(value, (_, v) => (typeof v === "number" && Math.abs(v) > 2 ** 53 - 1 ? 0 : v));
        if (isSafe !== JSON.stringify(value) || text.includes('"__proto__"')) return;
        expect(parseJson(text, { allowFractions: true })).toEqual(JSON.parse(text));
        expect(parseJson(utf8(text), { allowFractions: true })).toEqual(JSON.parse(text));
      }),
    );
  });

  it("takes no text that JSON.parse refuses", () => {
    const characters = fc.constantFrom(...'{}[]",:\\u0eE+-.19tfnrualse \n\t\u0001\u00a0\ufeff');
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 12 }), (text) => {
        let value: unknown;
        try {
          value = parseJson(text);
        } catch (error) {
          expect(error).toMatchObject({ name: "ProofError", code: "json" });
          return;
        }
        expect(value).toEqual(JSON.parse(text));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    "",
    " ",
    "{",
    "[1,]",
    '{"a":1,}',
    "01",
    "+1",
    "1.",
    ".5",
    "nul",
    '"a',
    '"\\x"',
    '"\n"',
    "1 2",
    "\ufeff1",
    "'a'",
  ])("refuses %j as no JSON", (text) => {
    expect(refusal(text)).toMatchObject({ fault: "syntax", isAmbiguous: false });
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  it.each<[JsonFault, string, string]>([
    ["duplicate_member", '{"a":{"b":1,"b":2}}', "/a/b"],
    ["duplicate_member", '{"a":1,"\\u0061":2}', "/a"],
    ["duplicate_member", '{"":1,"":2}', "/"],
    ["forbidden_member", '[{"__proto__":{}}]', "/0/__proto__"],
    ["forbidden_member", '{"\\u005f_proto__":1}', "/__proto__"],
    ["lone_surrogate", '{"a":"\\ud800"}', "/a"],
    ["lone_surrogate", '{"\\udc00":1}', ""],
    ["lone_surrogate", '["\ud83d"]', "/0"],
    ["unsafe_integer", '{"a":[0,9007199254740992]}', "/a/1"],
    ["unsafe_integer", "-9007199254740992", ""],
    ["unsafe_integer", "1e400", ""],
    ...[
      "-0",
      "1.0",
      "1e0",
      "1E3",
      "2.5e3",
      "1.50",
      "0.0",
      "-0.0",
      "1.00000000000000000001",
      "1e-400",
      "1.5",
      "1e-7",
      "-0.5",
    ].map((digits): [JsonFault, string, string] => ["number_spelling", `{"a":${digits}}`, "/a"]),
    ["too_deep", `${"[".repeat(17)}${"]".repeat(17)}`, "/0".repeat(16)],
    ["too_deep", `{"a/b~c":${"[".repeat(16)}`, `/a~1b~0c${"/0".repeat(15)}`],
  ])("refuses as %s: %j", (code, text, pointer) => {
    expect(refusal(text)).toMatchObject({ fault: code, pointer, line: 1, isAmbiguous: true });
  });

  it("allows what lies just within the limits", () => {
    expect(parseJson(`${"[".repeat(16)}${"]".repeat(16)}`)).toBeDefined();
    expect(parseJson("[9007199254740991,-9007199254740991]")).toEqual([2 ** 53 - 1, 1 - 2 ** 53]);
    expect(parseJson("[1.5,1e-7]", { allowFractions: true })).toEqual([1.5, 1e-7]);
    expect(refusal("[1.50]", { allowFractions: true }).fault).toBe("number_spelling");
    expect(parseJson('"12345678"', { maxSize: 10 })).toBe("12345678");
    expect(refusal('"123456789"', { maxSize: 10 }).fault).toBe("too_large");
    expect(refusal("[[1]]", { maxDepth: 1 }).fault).toBe("too_deep");
  });

  it("counts the members of all objects and the items of all arrays", () => {
    expect(parseJson('{"a":[1,{"b":2}],"c":3}', { maxMembers: 5 })).toEqual({ a: [1, { b: 2 }], c: 3 });
    expect(refusal('{"a":[1,{"b":2}],"c":3}', { maxMembers: 4 })).toMatchObject({ fault: "too_many", pointer: "" });
    expect(refusal('{"a":[1,{"b":2}],"c":3}', { maxMembers: 2 })).toMatchObject({ fault: "too_many", pointer: "/a" });
    expect(parseJson(`[${"1,".repeat(4095)}1]`)).toHaveLength(4096);
    expect(refusal(`[${"1,".repeat(4096)}1]`)).toMatchObject({ fault: "too_many", isAmbiguous: true });
    expect(refusal(`{${Array.from({ length: 2 ** 17 }, (_, i) => `"${i}":{}`)}}`).fault).toBe("too_many");
  });

  it.each([
    ["a name that stands twice", (long: string) => `{"${long}":1,"${long}":2}`],
    ["the names on the way to a fault", (long: string) => `{"${long}":{"${long}/~":[?]}}`],
    ["a number that is too large", (long: string) => `[${"9".repeat(long.length)}]`],
  ])("repeats no more than an excerpt of %s", (_, text) => {
    for (const letter of ["a", "\u{1f511}"]) {
      const { message, pointer } = refusal(text(letter.repeat(2 ** 17)));
      expect(`${message}${pointer}`.length).toBeLessThan(600);
      expect(`${message}${pointer}`.isWellFormed()).toBe(true);
    }
  });

  it("skips one byte order mark of bytes, and none of a text", () => {
    expect(parseJson(utf8('\ufeff{"a":1}'))).toEqual({ a: 1 });
    expect(refusal(utf8("\ufeff\ufeff1")).fault).toBe("syntax");
    expect(refusal("\ufeff1").fault).toBe("syntax");
    expect(refusal(utf8("\ufeff12345678"), { maxSize: 10 }).fault).toBe("too_large");
    expect(refusal(new Uint8Array(Buffer.from("{}", "utf16le")))).toMatchObject({
      fault: "encoding",
      isAmbiguous: false,
    });
  });

  it("leaves an array to whoever takes it, by its path, and reads on behind it", () => {
    const paths: string[] = [];
    const takeArray = (text: string, offset: number, path: readonly (string | number)[]) => {
      paths.push(path.join("/"));
      if (path.join("/") !== "a/0/b") return undefined;
      const end = text.indexOf("]", offset) + 1;
      return { value: text.slice(offset, end), end };
    };
    expect(parseJson('{"a":[{"b":[no JSON],"c":[1]}]}', { takeArray })).toEqual({ a: [{ b: "[no JSON]", c: [1] }] });
    expect(paths).toEqual(["a", "a/0/b", "a/0/c"]);
  });

  it("refuses bytes that are not UTF-8", () => {
    expect(refusal(Uint8Array.of(0x22, 0xff, 0x22)).fault).toBe("encoding");
  });

  it("says how a number is spelled instead", () => {
    expect(refusal("[1.0]").message).toBe("line 1: 1.0 must be spelled 1");
    expect(refusal("-0").message).toBe("line 1: -0 must be spelled 0");
    expect(refusal("[1.5]").message).toBe("line 1: 1.5 is not an integer");
  });

  it("names the line, counted from 1", () => {
    expect(refusal('{\n  "a": 1,\n  "a": 2\n}')).toMatchObject({ line: 3, message: 'line 3: "a" appears twice' });
    expect(refusal("{\n\n]").message).toBe('line 3: "]" is out of place');
    expect(refusal("[").message).toBe("line 1: the text ends too early");
  });

  it("gives objects that carry nothing but their own members", () => {
    const value = parseJson('{"constructor":1,"toString":2,"hasOwnProperty":3}');
    expect(Object.keys(value as object)).toEqual(["constructor", "toString", "hasOwnProperty"]);
  });

  it("refuses a megabyte of brackets, and of escapes, in linear time", () => {
    expect(refusal("[".repeat(2 ** 20)).fault).toBe("too_deep");
    expect(refusal(`"${"\\".repeat(2 ** 20 + 1)}"`).fault).toBe("syntax");
    expect(refusal(`"${'\\"'.repeat(2 ** 19)}`).fault).toBe("syntax");
  });
});
