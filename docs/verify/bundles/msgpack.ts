import { decodeMsgpackMap, encodeMsgpack } from "@attestd/proof/algorand";
import { concatBytes, fromHex, utf8 } from "@attestd/proof/encoding";
import { type Case, fails, is } from "./case.ts";
import { altered, blocks, ofBytes, ofHeader } from "./ingredients.ts";

/** Text of at most 31 bytes, in msgpack and hex. */
const t = (text: string) => (0xa0 + text.length).toString(16) + Buffer.from(text).toString("hex");
/** A map of fewer than 16 members, which are written as they are given: keys and values in hex. */
const map = (...members: string[]) => (0x80 + members.length / 2).toString(16) + members.join("");
const TYPE = [t("type"), t("pay")] as const;
const transaction = (...members: string[]) => ofBytes(fromHex(map(...members)));
const [LONG, LONGER] = ["b".repeat(31), "a".repeat(32)].map((text) => Buffer.from(text).toString("hex"));

const TAKEN: [name: string, ...members: string[]][] = [
  ["no more than a type", ...TYPE],
  ["text that is not UTF-8", ...TYPE, "a5ffff747970", "a2fffe"],
  ["a type that is not UTF-8", t("type"), "a2fffe"],
  ["integer keys, whose values may be empty", t("m"), map("00", "00", "7f", "a0", "cc80", "c0"), ...TYPE],
  ["an integer key before text", t("m"), map("05", "01", t("a"), "01"), ...TYPE],
  [
    "keys of 31 and 32 bytes, in the order of their text",
    t("m"),
    map(`d920${LONGER}`, "01", `bf${LONG}`, "01"),
    ...TYPE,
  ],
  ["a list whose items are empty", t("l"), "95c000a0c40080", ...TYPE],
  ["64 lists within each other", t("l"), `${"91".repeat(63)}90`, ...TYPE],
  ["a digest of zeros", t("lx"), `c420${"00".repeat(32)}`, ...TYPE],
];
const REFUSED: [name: string, ...members: string[]][] = [
  ["no type", t("fee"), "01"],
  ["a type of bytes", t("type"), "c403706179"],
  ["a type that is a number", t("type"), "01"],
  ["a genesis hash of 31 bytes", t("gh"), `c41f${"01".repeat(31)}`, ...TYPE],
  ["a genesis hash of text", t("gh"), `d920${"61".repeat(32)}`, ...TYPE],
  ["-1", t("fee"), "ff", ...TYPE],
  ["-33", t("fee"), "d0df", ...TYPE],
  ["1 as a signed integer", t("fee"), "d001", ...TYPE],
  ["-2^63", t("fee"), "d38000000000000000", ...TYPE],
  ["a float", t("fee"), "ca3f800000", ...TYPE],
  ["a float of 64 bits", t("fee"), "cb3ff0000000000000", ...TYPE],
  ["an extension", t("fee"), "d40100", ...TYPE],
  ["the type that msgpack never uses", t("fee"), "c1", ...TYPE],
  ["an integer longer than need be", t("fee"), "cc01", ...TYPE],
  ["a length longer than need be", t("note"), "c5000101", ...TYPE],
  ["a list's length longer than need be", t("l"), "dc000101", ...TYPE],
  ["text longer than need be", t("gen"), "d90161", ...TYPE],
  ["a key longer than need be", "d9026665", "01", ...TYPE],
  ["a key that is nil", "c0", "01", ...TYPE],
  ["a key that is true", "c3", "01", ...TYPE],
  ["a key of bytes", "c4036c656e", "01", ...TYPE],
  ["a key that is a list", "90", "01", ...TYPE],
  ["a key that is a map", "80", "01", ...TYPE],
  ["a key that is negative", t("m"), map("ff", "01"), ...TYPE],
  ["an integer key behind text", t("m"), map(t("a"), "01", "05", "01"), ...TYPE],
  ["integer keys out of order", t("m"), map("cc80", "01", "05", "01"), ...TYPE],
  ["a member twice", t("fee"), "01", t("fee"), "01", ...TYPE],
  ["a member twice in a map within", t("m"), map(t("a"), "01", t("a"), "01"), ...TYPE],
  ["keys by their lengths' bytes", t("m"), map(`bf${LONG}`, "01", `d920${LONGER}`, "01"), ...TYPE],
  ["a member that is 0", t("fee"), "00", ...TYPE],
  ["a member that is false", t("fee"), "c2", ...TYPE],
  ["a member that is nil", t("fee"), "c0", ...TYPE],
  ["a member without bytes", t("note"), "c400", ...TYPE],
  ["a member within that is empty", t("m"), map(t("a"), "a0"), ...TYPE],
  ["a member under an integer that is empty", t("m"), map("00", map(t("a"), "80")), ...TYPE],
  ["65 lists within each other", t("l"), `${"91".repeat(64)}90`, ...TYPE],
];

const withMember = (name: string, value: Uint8Array | number | string | null) =>
  encodeMsgpack(new Map(decodeMsgpackMap(blocks.algorand.header)).set(name, value));
/** A header in which the round is written in another way. */
const withRound = (digits: string) => {
  const [before, after] = Buffer.from(blocks.algorand.header).toString("hex").split("a3726e64cd0100") as [
    string,
    string,
  ];
  return fromHex(`${before}a3726e64${digits}${after}`);
};

/** Algorand's bytes as only an attestor would sign them, since no node writes them: one rule for each. */
export const OF_MSGPACK: readonly Case[] = [
  ...TAKEN.map(([name, ...members]) => is(`msgpack: ${name}`, transaction(...members))),
  ...REFUSED.map(([name, ...members]) =>
    is(`msgpack: ${name}`, transaction(...members), fails("transactionId", "note")),
  ),
  is("msgpack: trailing bytes", ofBytes(concatBytes(fromHex(map(...TYPE)), utf8("x"))), fails("transactionId", "note")),
  is("msgpack: a list for a transaction", ofBytes(fromHex("9101")), fails("transactionId", "note")),
  // In headers what is empty is not looked for: no node writes it, so that no block has such a hash.
  is("a header with a member that is empty", ofHeader(withMember("zero", 0))),
  is(
    "a header whose genesis hash is too short",
    ofHeader(withMember("gh", new Uint8Array(31))),
    fails("blockHash", "note"),
  ),
  is("a header whose round is text", ofHeader(withRound(t("256"))), fails("blockHash", "note")),
  is("a header whose round is nil", ofHeader(withRound("c0")), fails("blockHash", "note")),
  is("a header whose round is negative", ofHeader(withRound("ff")), fails("blockHash", "note")),
  is("a header of round 2^53", ofHeader(withRound("cf0020000000000000")), fails("blockHash", "note")),
  is(
    "a header of round 0",
    altered(ofHeader(withRound("00")), ({ block, attest }) => {
      attest.note = attest.note.replace('"n":256', '"n":0');
      block.height = 0;
    }),
  ),
];
