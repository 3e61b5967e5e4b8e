import { concatBytes, utf8 } from "@attestd/proof/encoding";
import { canonicalize } from "@attestd/proof/json";
import { testInclusionBundle } from "../../../test/bundles/bundles.ts";
import { type Case, fails, is } from "./case.ts";
import { altered, blocks, now, payment, text, withAttest, withNote } from "./ingredients.ts";

/** The round, which is 2500, spelled otherwise; the value, and so what is signed, stays the same. */
const SPELLINGS = ["2500.0", "2500e0", "25E2", "2.5e3", "250000e-2", "2500.00000000000000000001"];
const ofRound = (spelling: string) => text.replace('"round":2500', `"round":${spelling}`);
const first = canonicalize(testInclusionBundle({ ...now, block: blocks.base, index: 0 }));
const withMember = (json: string) => `{"extra":${json},${text.slice(1)}`;
const long = (note: string) => withAttest(payment, { note });

/** How JSON is spelled: what is not spelled the one way fails `schema`, whatever value it has. */
export const OF_JSON: readonly Case[] = [
  is("white space around everything", `\n\t ${JSON.stringify(payment, null, "\t").replaceAll("\n", "\r\n ")} `),
  is("a byte order mark", `\ufeff${text}`),
  is("an escaped slash", text.replace(/\//, "\\/")),
  is("letters escaped that need not be", text.replace("ML-DSA-65", "\\u004dL-DSA-65")),
  ...SPELLINGS.map((spelling) => is(`the round spelled ${spelling}`, ofRound(spelling), fails("schema"))),
  ...["-0", "0.0", "0e0", "-0.0", "1e-400"].map((spelling) =>
    is(`the index spelled ${spelling}`, first.replace('"index":0', `"index":${spelling}`), fails("schema")),
  ),
  is("the version spelled 1.0", text.replace('"version":1', '"version":1.0'), fails("schema")),
  is("a round of 2^53", ofRound("9007199254740992"), fails("schema")),
  is("a round of 2^53 and one, which many readers round", ofRound("9007199254740993"), fails("schema")),
  is("a round beyond every integer", ofRound("1e400"), fails("schema")),
  is("a negative round", withAttest(payment, { round: -1 }), fails("schema")),
  is("a round that is null", withAttest(payment, { round: null }), fails("schema")),
  is("a round that is true", withAttest(payment, { round: true }), fails("schema")),
  is("a member named __proto__", withMember("0").replace("extra", "__proto__"), fails("schema")),
  is("a member named __proto__, escaped", withMember("0").replace("extra", "\\u005f_proto__"), fails("schema")),
  is("half a surrogate pair in a name", withMember("0").replace("extra", "\\ud800"), fails("schema")),
  is("half a surrogate pair in a note", text.replace("attestd/v1", "attestd/v1\\udc00"), fails("schema")),
  is("a pair of surrogates in the wrong order", text.replace("attestd/v1", "\\udc00\\ud800"), fails("schema")),
  is("nesting of 17", withMember(`${"[".repeat(16)}${"]".repeat(16)}`), fails("schema")),
  is("nesting of 100,000", withMember(`${"[".repeat(1e5)}${"]".repeat(1e5)}`), fails("schema")),
  is("4,097 items", withMember(`[${"0,".repeat(4095)}0]`), fails("schema")),
  is("one name 100,000 times", withMember(`{${'"a":0,'.repeat(1e5)}"a":0}`), fails("schema")),
  is("a member twice, deep in an unknown one", withMember('[{"a":[{"b":1,"b":2}]}]'), fails("schema")),
  is("an object with a list's members", text.replace('"source":', '"source":["chain"],"was":'), fails("schema")),
  is("text alone", '"bundle"', fails("schema")),
  is("null", "null", fails("schema")),
  is("a number", "2500", fails("schema")),
  // A note is JSON in a string, and as strict.
  is("a note of 1,024 bytes", long("é".repeat(512)), fails("note")),
  is("a note of 1,025 bytes", long(`a${"é".repeat(512)}`), fails("schema")),
  is("no note", long(""), fails("note")),
  is("a note with a line separator", long(`${payment.attest.note}\u2028`), fails("note")),
  is("a note of control characters and a letter beyond the BMP", long("\u0000\u001f\u007f\b\f\n😀<>&"), fails("note")),
  is("a note with a byte order mark before its JSON", withNote(payment, "{", "\ufeff{"), fails("note")),
  is("a note with a member twice", withNote(payment, '{"a"', '{"a":"","a"'), fails("note")),
  is("a note whose network is null", withNote(payment, /"c":"[^"]*"/, '"c":null'), fails("note")),
  is(
    "a note without what its bytes do not say",
    altered(payment, ({ source, attest }) => {
      Object.assign(source, { txnBytesBase64: "AAAA" });
      attest.note = attest.note.replace(/"c":"[^"]*",/, "").replace(/,"t":"[^"]*"/, "");
    }),
    fails("hashPreimage", "transactionId", "note"),
  ),
];

const [start, end] = [text.slice(0, 20), text.slice(20)].map(utf8) as [Uint8Array, Uint8Array];

/** What is no JSON at all: of these there is nothing to report. A program of this folder says that `schema` fails. */
export const UNREADABLE: readonly { name: string; bytes: Uint8Array<ArrayBuffer> }[] = [
  { name: "nothing", bytes: new Uint8Array() },
  { name: "two byte order marks", bytes: utf8(`\ufeff\ufeff${text}`) },
  { name: "a byte order mark after a blank", bytes: utf8(` \ufeff${text}`) },
  { name: "UTF-16", bytes: new Uint8Array(Buffer.from(text, "utf16le")) },
  { name: "UTF-16 with a byte order mark", bytes: new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le")) },
  { name: "UTF-16 of the other order", bytes: new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le").swap16()) },
  { name: "a byte that is not UTF-8", bytes: concatBytes(start, Uint8Array.of(0xff), end) },
  { name: "half a surrogate pair, as if UTF-8", bytes: concatBytes(start, Uint8Array.of(0xed, 0xa0, 0x80), end) },
  { name: "a letter longer than need be", bytes: concatBytes(start, Uint8Array.of(0xc1, 0xa1), end) },
  { name: "more than 2 MiB", bytes: utf8(text + " ".repeat(2 ** 21)) },
  { name: "more than 2 MiB with its byte order mark", bytes: utf8(`\ufeff${text.padEnd(2 ** 21 - 2)}`) },
  ...[
    text.slice(0, -1),
    `${text}{}`,
    text.replace('"version":1', '"version":NaN'),
    text.replace('"version":1', '"version":01'),
    text.replace('"version":1', '"version":+1'),
    text.replace('"version":1', "'version':1"),
    text.replace('"version":1', '"version":1,'),
    `${text}\u00a0`,
    text.replace("ML-DSA-65", "ML-DSA-65\t"),
    `/* a comment */${text}`,
  ].map((wrong, index) => ({ name: `no JSON, ${index + 1}`, bytes: utf8(wrong) })),
];
