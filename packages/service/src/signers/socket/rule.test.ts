import { ALGORAND_MAINNET } from "@attestd/proof";
import { ALGORAND_MAINNET_GENESIS_HASH, decodeMsgpackMap, encodeMsgpack } from "@attestd/proof/algorand";
import {
  encodeNote,
  keyEntryBytes,
  keyEntryHash,
  keyRevocationBytes,
  keyRevocationHash,
  receiptSigningInput,
  signingBytes,
} from "@attestd/proof/attestor";
import { concatBytes, fromBase64, fromUtf8, toBase64, toBase64Url, utf8 } from "@attestd/proof/encoding";
import algosdk from "algosdk";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testBatch, testBatchItem } from "../../../../../test/bundles/batches.ts";
import {
  TEST_RECEIPT,
  testAttestor,
  testBaseBlock,
  testBaseTransaction,
  testBlockBundle,
  testBundle,
  testHistory,
  testInclusionBundle,
  testSuccessor,
} from "../../../../../test/bundles/bundles.ts";
import { newProbe } from "../probe.ts";
import type { KeyUse } from "../signer.ts";
import type { Attestor } from "./forms.ts";
import { formOf } from "./rule.ts";

const wallet = algosdk.generateAccount();
const own = { ...testAttestor("own"), algorandAddress: wallet.addr.toString() };
const thief = testAttestor("thief");
const next = testSuccessor(own, "next");
const genesisHash = fromBase64(ALGORAND_MAINNET_GENESIS_HASH);
const attestor: Attestor = {
  pqPublicKey: toBase64(own.publicKey),
  keySha256: own.keySha256,
  kid: own.kid,
  account: wallet.addr.publicKey,
  algorandAddress: own.algorandAddress,
  maxFee: 10_000n,
  genesisHash,
  ledger: ALGORAND_MAINNET,
};
const history = testHistory([
  { attestor: own, fromRound: 1 },
  { attestor: next, fromRound: 200 },
]);
const [firstEntry, nextEntry] = history.keys as [(typeof history.keys)[0], (typeof history.keys)[0]];
const nextRecord = keyEntryBytes(nextEntry);
const revoked = { ...firstEntry, revokedRound: 150 };
const rotating = { ...attestor, endorse: keyEntryHash(nextEntry), revoke: keyRevocationHash(revoked) };

const { batch: head } = testBatch(undefined, { attestor: own });
const { signature: _signature, ...unsignedHead } = head;
const OTHER = `algorand:${"A".repeat(32)}`;

/** What the attestor signs with each key. */
const bundles = [
  testBundle({ attestor: own }),
  testBundle({ attestor: own, chain: "base", txnBytes: testBaseTransaction(1) }),
  testBlockBundle({ attestor: own }),
  testBlockBundle({ attestor: own, block: testBaseBlock(2) }),
  testInclusionBundle({ attestor: own }),
  testInclusionBundle({ attestor: own, block: testBaseBlock(3), index: 1 }),
  head,
];
const note = testBundle({ attestor: own }).attest.note;
const receipt = utf8(receiptSigningInput(TEST_RECEIPT, own.kid));

type Fields = Record<string, unknown>;
const FIELDS: Fields = {
  fee: 1000,
  fv: 57,
  gen: "mainnet-v1.0",
  gh: genesisHash,
  lv: 157,
  lx: new Uint8Array(32).fill(3),
  note: utf8(note),
  rcv: wallet.addr.publicKey,
  snd: wallet.addr.publicKey,
  type: "pay",
};

/** Encodes "TX" and a transaction with other fields, with algosdk; undefined fields are left out. */
function transaction(over: Fields = {}): Uint8Array {
  const fields = Object.fromEntries(Object.entries({ ...FIELDS, ...over }).filter(([, value]) => value !== undefined));
  return concatBytes(utf8("TX"), algosdk.msgpackRawEncode(fields));
}

const sign = (use: KeyUse, message: Uint8Array, options: Attestor = attestor, keyRecord?: Uint8Array) =>
  formOf(use, message, keyRecord ? { keyRecord } : {}, options).form;
const refused = (reason: RegExp) =>
  expect.objectContaining({ name: "Refusal", message: expect.stringMatching(reason) });
const bytesOf = (value: object) => signingBytes(value as never);
const changed = (bundle: object, change: (copy: never) => void) => {
  const copy = structuredClone(bundle);
  change(copy as never);
  return bytesOf(copy);
};

describe("the signer signs", () => {
  test("for a Falcon account a fee of ten times its three minimum fees, and no more", () => {
    const falcon = { ...attestor, maxFee: 30_000n };
    expect(sign("account", transaction({ fee: 30_000 }), falcon)).toBe("note");
    expect(() => sign("account", transaction({ fee: 30_001 }), falcon)).toThrow(refused(/fee of 30001 is over 30000/));
  });

  test.each(bundles.map((bundle) => [("type" in bundle && bundle.type) || "transaction", bundle] as const))(
    "a bundle: %s",
    (_, bundle) => expect(sign("pq", signingBytes(bundle))).toBe("bundle"),
  );

  test("receipts, probes and attestations", () => {
    expect(sign("pq", receipt)).toBe("receipt");
    for (const use of ["pq", "account"] as const) expect(sign(use, utf8(newProbe()))).toBe("probe");
    expect(sign("account", transaction())).toBe("note");
    for (const { attest } of bundles) expect(sign("account", transaction({ note: utf8(attest.note) }))).toBe("note");
  });

  test("a rotation and a revocation, of the records that it was started for alone", () => {
    const announcing = (k: string) => transaction({ note: utf8(encodeNote({ g: ALGORAND_MAINNET, k })) });
    const announced = announcing(keyEntryHash(nextEntry));
    const withdrawn = announcing(keyRevocationHash(revoked));
    const withdrawal = keyRevocationBytes(revoked);
    expect(sign("pq", nextRecord, rotating)).toBe("endorsement");
    expect(sign("account", announced, rotating, nextRecord)).toBe("key-note");
    expect(sign("account", withdrawn, rotating, withdrawal)).toBe("key-note");

    expect(() => sign("pq", nextRecord)).toThrow(refused(/not started with --endorse/));
    expect(() => sign("account", announced, attestor, nextRecord)).toThrow(refused(/not started with --endorse/));
    expect(() => sign("account", withdrawn, attestor, withdrawal)).toThrow(refused(/not started with --revoke/));
    expect(() => sign("account", announced, rotating)).toThrow(refused(/needs the record/));
    expect(() => sign("account", announced, rotating, withdrawal)).toThrow(refused(/needs the record/));
    expect(() => sign("account", transaction(), rotating, nextRecord)).toThrow(refused(/only with a key note/));
    const [, ofThief] = testHistory([
      { attestor: own, fromRound: 1 },
      { attestor: thief, fromRound: 200 },
    ]).keys as typeof history.keys;
    const stolen = keyEntryBytes(ofThief as typeof nextEntry);
    expect(() => sign("pq", stolen, rotating)).toThrow(refused(/not started with --endorse/));
    expect(() => sign("account", announcing(keyEntryHash(ofThief as typeof nextEntry)), rotating, stolen)).toThrow(
      refused(/not started with --endorse/),
    );
    // Endorsed by our key, for another's account.
    const elsewhere = keyEntryBytes({ ...nextEntry, algorandAddress: thief.algorandAddress });
    expect(() => sign("pq", elsewhere, rotating)).toThrow(refused(/another account/));
    expect(() => sign("pq", concatBytes(nextRecord, utf8(" ")), rotating)).toThrow(
      refused(/not in the form that is endorsed/),
    );
    // For a key that begins in round 200.
    const late = transaction({
      note: utf8(encodeNote({ g: ALGORAND_MAINNET, k: keyEntryHash(nextEntry) })),
      lv: 200,
      fv: 150,
    });
    expect(() => sign("account", late, rotating, nextRecord)).toThrow(refused(/recorded after its first round/));
  });

  test("of one key no other entry and no other revocation than the one that it was started for", () => {
    const announcing = (k: string) => transaction({ note: utf8(encodeNote({ g: ALGORAND_MAINNET, k })) });
    for (const entry of [
      { ...nextEntry, origin: "https://elsewhere.example" },
      { ...nextEntry, origin: "http://attestd.example" },
      { ...nextEntry, fromRound: 201 },
      { ...nextEntry, fromRound: 199 },
    ]) {
      const record = keyEntryBytes(entry);
      expect(() => sign("pq", record, rotating)).toThrow(refused(/not started with --endorse/));
      const announced = announcing(keyEntryHash(entry));
      expect(() => sign("account", announced, rotating, record)).toThrow(refused(/not started with --endorse/));
    }
    for (const entry of [
      ...[0, 1, 149, 151, 1_000_000].map((revokedRound) => ({ ...firstEntry, revokedRound })),
      { ...revoked, origin: "https://elsewhere.example" },
      { ...revoked, fromRound: 2 },
      { ...nextEntry, revokedRound: 150 },
    ]) {
      const withdrawn = announcing(keyRevocationHash(entry));
      expect(() => sign("account", withdrawn, rotating, keyRevocationBytes(entry))).toThrow(
        refused(/not started with --revoke/),
      );
    }
    // An interrupted command asks for the same again, in a new transaction.
    for (const fv of [57, 60, 90])
      expect(
        sign(
          "account",
          transaction({
            note: utf8(encodeNote({ g: ALGORAND_MAINNET, k: keyEntryHash(nextEntry) })),
            fv,
            lv: fv + 100,
          }),
          rotating,
          nextRecord,
        ),
      ).toBe("key-note");
  });
});

describe("the account's key does not sign", () => {
  const other = algosdk.generateAccount().addr.publicKey;
  test.each<[string, Fields, RegExp]>([
    ["a rekey", { rekey: other }, /has rekey/],
    ["a close-out", { close: other }, /has close/],
    ["an amount", { amt: 1 }, /has amt/],
    ["a payment to another", { rcv: other }, /to another account/],
    ["a payment of another", { snd: other }, /another account.s/],
    ["a transfer of an asset", { type: "axfer" }, /not a payment/],
    ["a call of an application", { type: "appl", apid: 1 }, /has apid/],
    ["keys to vote with", { type: "keyreg" }, /not a payment/],
    ["a member of a group", { grp: new Uint8Array(32).fill(1) }, /has grp/],
    ["another network", { gh: new Uint8Array(32).fill(1) }, /another network/],
    ["no network", { gh: undefined }, /another network/],
    ["no lease", { lx: undefined }, /no lease/],
    ["a high fee", { fee: 10_001 }, /fee of 10001/],
    ["a long life", { lv: 158 }, /valid for 101/],
    ["a life that ends before it begins", { lv: 56 }, /valid for -1/],
    ["a note of another form", { note: utf8("attestd/v2:j{}") }, /does not begin/],
    ["a note of another application", { note: utf8("hello") }, /does not begin/],
    ["no note", { note: undefined }, /does not begin/],
    ["a note of another key", { note: utf8(testBundle({ attestor: thief }).attest.note) }, /another key/],
    [
      "a note on another ledger",
      { note: utf8(testBundle({ attestor: own, ledger: `algorand:${"A".repeat(32)}` }).attest.note) },
      /another ledger/,
    ],
    ["a note that is not canonical", { note: utf8(note.replace("{", "{ ")) }, /not canonical/],
    ["a note with a member twice", { note: utf8(note.replace('{"a"', '{"a":"x","a"')) }, /./],
    ["a note with a member more", { note: utf8(note.replace(/}$/, ',"z":1}')) }, /./],
    ["a note with bytes behind it", { note: utf8(`${note} `) }, /./],
    ["a note that is no text", { note: Uint8Array.of(0xff) }, /./],
    ["a member that is 0", { amt: 0 }, /canonical/],
    ["a fee that is 0 and stands there", { fee: 0 }, /canonical/],
    ["a long genesis id", { gen: "x".repeat(65) }, /genesis id/],
  ])("%s", (_, over, reason) => {
    expect(() => sign("account", transaction(over))).toThrow(refused(reason));
  });

  test("other spellings of the same transaction, and bytes around it", () => {
    const bytes = transaction();
    const map = [...decodeMsgpackMap(bytes.subarray(2))].reverse();
    // A fixmap with its members in another order.
    const reversed = concatBytes(
      utf8("TX"),
      Uint8Array.of(0x80 + map.length),
      ...map.flatMap(([key, value]) => [encodeMsgpack(key as string), encodeMsgpack(value)]),
    );
    expect(reversed).toHaveLength(bytes.length);
    for (const spelled of [
      reversed,
      concatBytes(bytes, Uint8Array.of(0)),
      bytes.subarray(0, -1),
      concatBytes(bytes, bytes),
    ])
      expect(() => sign("account", spelled)).toThrow(refused(/./));
    expect(() => sign("account", bytes.subarray(2))).toThrow(refused(/neither a transaction/));
    expect(() => sign("account", concatBytes(utf8("MX"), bytes.subarray(2)))).toThrow(refused(/neither/));
    expect(() => sign("account", concatBytes(utf8("Program"), bytes))).toThrow(refused(/neither/));
    expect(() => sign("account", new Uint8Array())).toThrow(refused(/neither/));
  });

  test("what the other key signs, and the other key nothing of this one's", () => {
    for (const message of [...bundles.map(signingBytes), receipt, nextRecord])
      expect(() => sign("account", message, rotating)).toThrow(refused(/neither a transaction/));
    expect(() => sign("pq", transaction())).toThrow(refused(/neither a bundle/));
    expect(() => sign("pq", nextRecord, rotating, nextRecord)).toThrow(refused(/only with a transaction/));
  });
});

describe("the ML-DSA-65 key does not sign", () => {
  const [bundle] = bundles as [(typeof bundles)[0]];
  type B = { attest: Fields; attestor: Fields; source: Fields; network: string };
  test.each<[string, Uint8Array, RegExp]>([
    ["a bundle of another key", signingBytes(testBundle({ attestor: thief })), /keyTrust/],
    [
      "a bundle of another account",
      changed(bundle, (b: B) => {
        b.attestor.algorandAddress = thief.algorandAddress;
      }),
      /account/,
    ],
    [
      "a bundle whose note is of another key",
      changed(bundle, (b: B) => {
        b.attest.note = testBundle({ attestor: thief }).attest.note;
      }),
      /note/,
    ],
    [
      "a bundle on another ledger",
      signingBytes(testBundle({ attestor: own, ledger: `algorand:${"A".repeat(32)}` })),
      /note/,
    ],
    [
      "a bundle whose bytes are not of its id",
      changed(bundle, (b: B) => {
        b.source.txnId = "A".repeat(52);
      }),
      /transactionId|note/,
    ],
    [
      "a bundle whose hash is wrong",
      changed(bundle, (b: B) => {
        b.source.hashSha256 = "0".repeat(64);
      }),
      /hashPreimage/,
    ],
    [
      "a bundle with a member more",
      changed(bundle, (b: B) => {
        b.attest.more = 1;
      }),
      /schema/,
    ],
    [
      "a bundle of another network's name",
      changed(bundle, (b: B) => {
        b.network = "algorand-testnet";
      }),
      /schema/,
    ],
    ["a batch of another key", signingBytes(testBatch(undefined, { attestor: thief }).batch), /the batch.s note/],
    [
      "a batch on another ledger",
      signingBytes(testBatch(undefined, { attestor: own, ledger: OTHER }).batch),
      /batch.s note/,
    ],
    ["a batch of another size than its note's", bytesOf({ ...unsignedHead, size: 3 }), /the batch.s note/],
    [
      "a batch of another root than its note's",
      bytesOf({ ...unsignedHead, root: toBase64(genesisHash) }),
      /batch.s note/,
    ],
    [
      "a batch with a transaction's note",
      bytesOf({ ...unsignedHead, attest: { ...head.attest, note } }),
      /batch.s note/,
    ],
    ["a batch larger than any", bytesOf({ ...unsignedHead, size: 1001 }), /size/],
    ["a batch with a member more", bytesOf({ ...unsignedHead, more: 1 }), /more/],
    ["an item of a batch", bytesOf(testBatchItem({ attestor: own })), /schema/],
    [
      "a batch of another account",
      bytesOf({ ...unsignedHead, attestor: { ...head.attestor, algorandAddress: thief.algorandAddress } }),
      /account/,
    ],
    ["a bundle with a signature", utf8(JSON.stringify(bundle)), /no signature yet/],
    ["a bundle that is not in RFC 8785", utf8(JSON.stringify({ ...bundle, signature: undefined })), /RFC 8785/],
    [
      "a bundle with a member twice",
      utf8(fromUtf8(signingBytes(bundle)).replace('"round":1000', '"round":1000,"round":1000')),
      /twice|duplicate/i,
    ],
    ["a bundle with bytes behind it", concatBytes(signingBytes(bundle), utf8("\n")), /RFC 8785/],
    ["JSON of any kind", utf8('{"a":1}'), /schema/],
    ["an array", utf8("[]"), /neither/],
    ["a receipt of another key", utf8(receiptSigningInput(TEST_RECEIPT, thief.kid)), /no key/],
    ["a JWS of another kind", utf8(`${toBase64Url(utf8('{"alg":"ML-DSA-65","kid":"x"}'))}.e30`), /./],
    ["a receipt with its signature", concatBytes(receipt, utf8(".AAAA")), /./],
    [
      "a receipt in another spelling",
      utf8(
        [{ kid: own.kid, alg: "ML-DSA-65" }, TEST_RECEIPT]
          .map((part) => toBase64Url(utf8(JSON.stringify(part))))
          .join("."),
      ),
      /spelling/,
    ],
    ["a probe with bytes behind it", utf8(`${newProbe()}0`), /neither/],
    ["another text", utf8("attestd/probe/v2/00"), /neither/],
    ["nothing", new Uint8Array(), /neither/],
  ])("%s", (_, message, reason) => {
    expect(() => sign("pq", message)).toThrow(refused(reason));
  });
});

/** Changes of bytes: some are replaced, removed, doubled or inserted. */
const mutation = fc.record({
  at: fc.nat(),
  cut: fc.nat({ max: 4 }),
  put: fc.uint8Array({ maxLength: 4 }),
  end: fc.boolean(),
});
function mutate(
  message: Uint8Array,
  { at, cut, put, end }: { at: number; cut: number; put: Uint8Array; end: boolean },
) {
  const from = at % (message.length + 1);
  return concatBytes(message.subarray(0, from), put, end ? new Uint8Array() : message.subarray(from + cut));
}
/** Puts the attestor's own words elsewhere: members of one message into another. */
const swapped = fc.tuple(
  fc.constantFrom(...Object.keys(FIELDS), "amt", "rekey", "close", "grp", "x"),
  fc.oneof(
    fc.nat(),
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ maxLength: 9 }),
    fc.constantFrom(...Object.values(FIELDS)),
  ),
);

function accepted(use: KeyUse, message: Uint8Array): boolean {
  try {
    sign(use, message);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ name: "Refusal" });
    return false;
  }
}

describe("of thousands of changed requests", () => {
  test("what the account's key signs is for algosdk a payment of 0 to itself, without anything more", () => {
    let signed = 0;
    const check = (message: Uint8Array) => {
      if (!accepted("account", message)) return;
      signed += 1;
      const text = fromUtf8(message.subarray(0, 2));
      expect(text).toBe("TX");
      const txn = algosdk.decodeUnsignedTransaction(message.subarray(2));
      const { payment } = txn;
      expect([txn.type, payment?.amount, payment?.closeRemainderTo, txn.rekeyTo, txn.group]).toEqual([
        "pay",
        0n,
        undefined,
        undefined,
        undefined,
      ]);
      expect([txn.sender.toString(), payment?.receiver.toString()]).toEqual([own.algorandAddress, own.algorandAddress]);
      expect(txn.genesisHash).toEqual(genesisHash);
      expect(txn.fee <= 10_000n && txn.lastValid - txn.firstValid <= 100n).toBe(true);
      const stated = JSON.parse(fromUtf8(txn.note).slice("attestd/v1:j".length));
      expect([stated.a, stated.g]).toEqual([own.keySha256, ALGORAND_MAINNET]);
      // The signed bytes are the ones that the ledger hashes.
      expect(concatBytes(utf8("TX"), algosdk.encodeUnsignedTransaction(txn))).toEqual(message);
    };
    fc.assert(
      fc.property(mutation, (change) => check(mutate(transaction(), change))),
      { numRuns: 700 },
    );
    fc.assert(
      fc.property(swapped, ([member, value]) => check(transaction({ [member]: value }))),
      { numRuns: 700 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => !accepted("account", concatBytes(utf8("TX"), bytes))),
      { numRuns: 150 },
    );
    // Otherwise nothing was examined.
    expect(signed).toBeGreaterThan(20);
  });

  test("what the ML-DSA-65 key signs names this attestor, its key and its ledger, and has one spelling", () => {
    const texts = [...bundles.slice(0, 3).map(signingBytes), receipt];
    let signed = 0;
    const check = (message: Uint8Array) => {
      if (!accepted("pq", message)) return;
      signed += 1;
      const text = fromUtf8(message);
      if (text.startsWith("e")) {
        expect(JSON.parse(Buffer.from(text.split(".")[0] as string, "base64url").toString()).kid).toBe(own.kid);
        return;
      }
      const { attestor: named, attest, signature } = JSON.parse(text);
      expect([named.algorandAddress, named.pqPublicKey, signature]).toEqual([
        own.algorandAddress,
        toBase64(own.publicKey),
        undefined,
      ]);
      expect(JSON.parse(attest.note.slice("attestd/v1:j".length))).toMatchObject({
        a: own.keySha256,
        g: ALGORAND_MAINNET,
      });
    };
    const changes = fc.tuple(fc.constantFrom(...texts), mutation);
    fc.assert(
      fc.property(changes, ([message, change]) => check(mutate(message, change))),
      { numRuns: 800 },
    );
    fc.assert(
      fc.property(fc.json(), (text) => !accepted("pq", utf8(text))),
      { numRuns: 150 },
    );
    expect(signed).toBeGreaterThan(5);
  });
});
