import { createPublicKey, verify as verifyEd25519 } from "node:crypto";
import { describe, expect, it } from "vitest";
import { vectors } from "../../test/vectors.ts";
import { concatBytes, fromBase64, utf8 } from "../encoding.ts";
import { decodeMsgpackMap, encodeMsgpack, getBytes, type MsgpackValue } from "./msgpack.ts";
import {
  ALGORAND_ID,
  decodeAddress,
  encodeAddress,
  isAlgorandAddress,
  isCanonicalTransaction,
  restoreTransaction,
  txid,
} from "./transaction.ts";

const ADDRESS = "HG2JL36OPPITBA7RNIPW4GUQS74AF3SEBO6DAJSLJC33C34I2DQ42F5MU4";

describe("transactions of MainNet", () => {
  type Signed = { txid: string; sender: string; txnMsgpackBase64: string; sigBase64?: string; sig?: string };
  const signed: Signed[] = [
    ...vectors.json("algorand/mainnet/signed-transactions.json"),
    vectors.json("algorand/mainnet/keyreg.json"),
  ];

  it.each(signed)("$txid is the id of its bytes", ({ txid: id, txnMsgpackBase64 }) => {
    const bytes = fromBase64(txnMsgpackBase64);
    expect(txid(bytes)).toBe(id);
    expect(ALGORAND_ID.pattern.test(id)).toBe(true);
    expect(isCanonicalTransaction(bytes)).toBe(true);
  });

  it.each(signed)("$txid was signed by its sender as these bytes", ({ sender, txnMsgpackBase64, sigBase64, sig }) => {
    const bytes = fromBase64(txnMsgpackBase64);
    const key = decodeAddress(sender);
    expect(getBytes(decodeMsgpackMap(bytes), "snd", 32)).toEqual(key);
    const publicKey = createPublicKey({ key, format: "raw-public", asymmetricKeyType: "ed25519" });
    const signature = fromBase64(sigBase64 ?? sig ?? "");
    expect(verifyEd25519(null, concatBytes(utf8("TX"), bytes), publicKey, signature)).toBe(true);
  });
});

describe("isCanonicalTransaction", () => {
  const canonical = encodeMsgpack(
    new Map<string, MsgpackValue>([
      ["type", "pay"],
      ["fee", 1000],
    ]),
  );

  it("takes the bytes that a node would hash", () => {
    expect(isCanonicalTransaction(canonical)).toBe(true);
  });

  it.each<[string, Uint8Array]>([
    ["no msgpack", utf8("?")],
    ["no map", encodeMsgpack(["pay"])],
    ["no type", encodeMsgpack(new Map([["fee", 1]]))],
    ["trailing bytes", concatBytes(canonical, Uint8Array.of(0))],
    ["keys out of order", Uint8Array.of(0x82, 0xa4, ...utf8("type"), 0xa3, ...utf8("pay"), 0xa3, ...utf8("fee"), 1)],
    ["a long integer", Uint8Array.of(0x82, 0xa3, ...utf8("fee"), 0xcc, 1, 0xa4, ...utf8("type"), 0xa3, ...utf8("pay"))],
    [
      "a zero",
      encodeMsgpack(
        new Map<string, MsgpackValue>([
          ["type", "pay"],
          ["amt", 0],
        ]),
      ),
    ],
    [
      "an empty map within",
      encodeMsgpack(
        new Map<string, MsgpackValue>([
          ["type", "acfg"],
          ["apar", new Map([["t", ""]])],
        ]),
      ),
    ],
  ])("refuses %s", (_what, bytes) => {
    expect(isCanonicalTransaction(bytes)).toBe(false);
  });
});

describe("restoreTransaction", () => {
  const gh = new Uint8Array(32).fill(7);
  const header = new Map<string, MsgpackValue>([
    ["gen", "net-v1"],
    ["gh", gh],
  ]);
  const txn = new Map<string, MsgpackValue>([["type", "pay"]]);

  it("adds the genesis hash always, and the genesis id where the entry says that it was there", () => {
    expect(restoreTransaction(new Map([["txn", txn]]), header)).toEqual(new Map([...txn, ["gh", gh]]));
    const flagged = new Map<string, MsgpackValue>([
      ["txn", txn],
      ["hgi", true],
    ]);
    expect(restoreTransaction(flagged, header)).toEqual(new Map([...txn, ["gen", "net-v1"], ["gh", gh]]));
    expect(txn.size).toBe(1);
  });

  it("refuses an entry without a transaction, or with what its header says already", () => {
    expect(() => restoreTransaction(new Map(), header)).toThrow(
      expect.objectContaining({ name: "ProofError", code: "malformed" }),
    );
    const repeated = new Map([["txn", new Map([["gh", gh]])]]);
    expect(() => restoreTransaction(repeated, header)).toThrow(
      expect.objectContaining({ name: "ProofError", code: "malformed" }),
    );
  });
});

describe("addresses and ids", () => {
  it("carry a checksum", () => {
    expect(encodeAddress(decodeAddress(ADDRESS))).toBe(ADDRESS);
    for (const bad of ["", ADDRESS.slice(1), `${ADDRESS}A`, `A${ADDRESS.slice(1)}`, ADDRESS.toLowerCase()])
      expect(isAlgorandAddress(bad)).toBe(false);
    expect(() => decodeAddress(`A${ADDRESS.slice(1)}`)).toThrow(
      expect.objectContaining({ name: "ProofError", code: "malformed" }),
    );
    expect(() => encodeAddress(new Uint8Array(31))).toThrow(TypeError);
  });

  it("have one spelling", () => {
    const id = "X6KXJ7I6C4IX7P6QOPAJ555BNZNXM4YFJ62EWFMIXYSBFXT4T3QA";
    expect(ALGORAND_ID.pattern.test(id)).toBe(true);
    for (const bad of [id.slice(1), `${id}A`, id.toLowerCase(), `${id.slice(0, 51)}B`, `1${id.slice(1)}`, `${id}\n`])
      expect(ALGORAND_ID.pattern.test(bad)).toBe(false);
  });
});
