import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testBatchItem } from "../../../test/bundles/batches.ts";
import {
  signBundle,
  testAlgorandBlock,
  testAttestor,
  testBaseBlock,
  testBaseTransaction,
  testBlockBundle,
  testBundle,
  testHistory,
  testInclusionBundle,
  testLightHeader,
  testPayment,
} from "../../../test/bundles/bundles.ts";
import { nativeCrypto } from "../test/native-crypto.ts";
import { vectors } from "../test/vectors.ts";
import { encodeMsgpack } from "./algorand/msgpack.ts";
import { ALGORAND_MAINNET } from "./algorand/network.ts";
import { baseTxHash } from "./base/transaction.ts";
import type { Bundle, InclusionBundle, ProofBundle, SignedBundle } from "./bundle.ts";
import { fromBase64, fromHex, toBase64 } from "./encoding.ts";
import { HISTORY_OLD_AFTER, mayAskChain, type VerifyOptions, verify, withChain } from "./verify.ts";

const SANDBOX = `algorand:${"s".repeat(32)}`;
const attestor = testAttestor();
const stranger = testAttestor("stranger");
const trust = testHistory([{ attestor, fromRound: 500 }]);

// The same attestor signs everything here unless a test says otherwise.
const bundleOf: typeof testBundle = (options) => testBundle({ attestor, ...options });
const blockBundleOf: typeof testBlockBundle = (options) => testBlockBundle({ attestor, ...options });
const inclusionBundleOf: typeof testInclusionBundle = (options) => testInclusionBundle({ attestor, ...options });

const itemOf: typeof testBatchItem = (options) => testBatchItem({ attestor, ...options });

const bundles: Record<string, Bundle> = {
  "an Algorand transaction": bundleOf(),
  "a Base transaction": bundleOf({ chain: "base", txnBytes: testBaseTransaction(1), level: "safe" }),
  "an Algorand block": blockBundleOf(),
  "a Base block": blockBundleOf({ block: testBaseBlock(2) }),
  "an Algorand inclusion": inclusionBundleOf({ block: testAlgorandBlock(5), index: 4 }),
  "an Algorand inclusion of an old round": inclusionBundleOf({ block: testAlgorandBlock(3, "txn"), index: 2 }),
  "a Base inclusion": inclusionBundleOf({ block: testBaseBlock(18), index: 17 }),
  "an Algorand item of a batch": itemOf(),
  "a Base item of a batch": itemOf({ index: 1 }),
};

function check(input: unknown, options: VerifyOptions = {}) {
  return verify(input, { trust, crypto: nativeCrypto, ...options });
}

/** Returns `check pointer` for each failure. */
function failed(input: unknown, options: VerifyOptions = {}): string[] {
  const { verified, failures, checks } = check(input, options);
  expect(verified).toBe(failures.length === 0);
  const failing = Object.entries(checks).flatMap(([name, result]) => (result === "fail" ? [name] : []));
  expect([...new Set(failures.map((failure) => failure.check))]).toEqual(failing);
  return failures.map(({ check: name, pointer }) => `${name} ${pointer}`);
}

type Path = (string | number)[];

/** The pointers to every member and item, with their values. */
function members(value: unknown, path: Path = []): { path: Path; value: unknown }[] {
  if (typeof value !== "object" || value === null) return [];
  const keys: Path = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => {
    const child = (value as Record<string | number, unknown>)[key];
    return [{ path: [...path, key], value: child }, ...members(child, [...path, key])];
  });
}

const pointerOf = (path: Path) => path.map((key) => `/${key}`).join("");

/** Returns a deep copy with the value at the path replaced, or dropped if replaced by undefined. */
function replaced<T>(value: T, [key, ...rest]: Path, by: unknown): T {
  if (key === undefined) return by as T;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  const child = replaced(copy[key], rest, by);
  if (child === undefined) delete copy[key];
  else copy[key] = child;
  return copy as T;
}

function resigned<B extends SignedBundle>(bundle: B, path: Path, by: unknown): B {
  const { signature: _, ...unsigned } = replaced(bundle, path, by);
  return signBundle(attestor, unsigned) as unknown as B;
}

describe.each(Object.entries(bundles))("%s", (_name, bundle) => {
  const all = members(bundle);
  const signedAt = "batch" in bundle ? "/batch" : "";
  const leaves = all.filter(({ value }) => typeof value !== "object");
  const objects = [{ path: [] as Path, value: bundle as unknown }, ...all].filter(
    ({ value }) => typeof value === "object" && !Array.isArray(value),
  );
  const optional = /^\/(source\/chain|inclusion\/(receipt|lightHeader))$/;

  it("verifies as text, as bytes and as a value", () => {
    for (const input of [JSON.stringify(bundle), new TextEncoder().encode(JSON.stringify(bundle, null, 2)), bundle]) {
      const report = check(input);
      expect(report.verified).toBe(true);
      expect(
        Object.values(report.checks)
          .slice(0, -2)
          .every((result) => result === "pass"),
      ).toBe(true);
      expect(report.checks).toMatchObject({ chainSource: "not_checked", chainAttest: "not_checked" });
      const { kid, algorandAddress } = attestor;
      expect(report).toMatchObject({
        attestor: { kid, algorandAddress, status: "current" },
        warnings: [],
        failures: [],
      });
    }
  });

  it("verifies with noble as it does with Node's crypto", () => {
    expect(verify(bundle, { trust })).toEqual(check(bundle));
  });

  it("fails schema without any of its members", () => {
    for (const { path } of all) {
      if (typeof path.at(-1) === "number" || optional.test(pointerOf(path)) || path[0] === "type") continue;
      expect(failed(replaced(bundle, path, undefined))).toEqual([`schema ${pointerOf(path)}`]);
    }
  });

  it("fails schema without its type, as a bundle of another kind", () => {
    if (!("type" in bundle)) return;
    const [foreign] = Object.keys(bundle).filter((name) => ["block", "statement"].includes(name));
    expect(failed(replaced(bundle, ["type"], undefined))).toEqual([`schema /${foreign}`]);
    expect(failed({ ...bundle, type: "attestor-key" })).toEqual(["schema /type"]);
  });

  it("fails schema with a member of another type", () => {
    for (const { path, value } of all) {
      for (const other of [null, true, typeof value === "number" ? String(value) : 1, [value], { value }])
        expect(failed(replaced(bundle, path, other))).toEqual([expect.stringMatching(`^schema ${pointerOf(path)}`)]);
    }
  });

  it("fails schema with a member that is not of the format", () => {
    for (const { path } of objects)
      expect(failed(replaced(bundle, [...path, "extra"], 1))).toEqual([`schema ${pointerOf([...path, "extra"])}`]);
  });

  it("fails schema with any member twice", () => {
    const text = JSON.stringify(bundle);
    for (const { path } of all) {
      const name = path.at(-1);
      if (typeof name !== "string") continue;
      const marked = JSON.stringify(replaced(bundle, [...path.slice(0, -1), "\u0001"], 0));
      const twice = marked.replace('"\\u0001":0', `"${name}":0`);
      expect(twice).not.toBe(text);
      expect(failed(twice)).toEqual([`schema ${pointerOf(path)}`]);
    }
  });

  it("fails schema with text in another spelling", () => {
    for (const { path, value } of leaves) {
      if (typeof value !== "string" || pointerOf(path).endsWith("/attest/note")) continue;
      const spellings = [` ${value}`, `${value}\n`, value.toLowerCase(), value.toUpperCase(), value.replace(/=+$/, "")];
      for (const other of spellings.filter((spelling) => spelling !== value)) {
        const found = failed(replaced(bundle, path, other));
        // Base64 in another case encodes other bytes: well formed, and found by a comparison.
        expect(found.length, `${pointerOf(path)} ${other.slice(0, 20)}`).toBeGreaterThan(0);
      }
    }
  });

  it("is never verified after any one character of its text has changed", () => {
    const text = JSON.stringify(bundle);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom(...'0aA+/="{}[],: \\9'), (at, character) => {
        if (text[at] === character) return;
        try {
          expect(check(text.slice(0, at) + character + text.slice(at + 1)).verified).toBe(false);
        } catch (error) {
          expect(error).toMatchObject({ name: "ProofError", code: "json" });
        }
      }),
      { numRuns: 300 },
    );
  });

  it("is of one type alone", () => {
    const { type } = check(bundle);
    expect(check(bundle, { type }).verified).toBe(true);
    for (const other of ["transaction-attestation", "block-attestation", "tx-inclusion", "batch-item"] as const)
      if (other !== type)
        expect(check(bundle, { type: other })).toMatchObject({
          type: other,
          checks: { schema: "fail", signature: "not_checked" },
          failures: [{ check: "schema", pointer: "/type" }],
        });
  });

  it("by a stranger fails keyTrust, and nothing else where the stranger is careful", () => {
    expect(failed(bundle, { trust: testHistory([{ attestor: stranger, fromRound: 1 }]) })).toEqual([
      `keyTrust ${signedAt}/attestor/pqPublicKey`,
    ]);
  });

  it("of an unknown signer is not verified, though nothing fails", () => {
    const report = check(bundle, { trust: undefined });
    expect(report).toMatchObject({ verified: false, attestor: { status: "unknown", kid: attestor.kid }, failures: [] });
    expect(report.checks.keyTrust).toBe("not_checked");
  });

  it("is verified by its pinned key, on the ledger that is expected", () => {
    expect(failed(bundle, { trust: { kids: [attestor.kid] } })).toEqual([]);
    expect(failed(bundle, { trust: { kids: [stranger.kid] } })).toEqual([`keyTrust ${signedAt}/attestor/pqPublicKey`]);
    expect(failed(bundle, { trust: { kids: [attestor.kid], ledger: SANDBOX } })).toContain(
      `note ${signedAt}/attest/note/g`,
    );
  });
});

describe("the statement of a report", () => {
  const time = 1_780_000_000;
  const ofBase = { hash: `0x${"b10c".repeat(16)}`, height: 46_000_000, time };
  const failing = bundleOf({ chain: "base", txnBytes: testBaseTransaction(1), statement: { s: 0 } });

  it("is what the note of a transaction states, and a failure is warned of", () => {
    const ofAlgorand = { hash: `${"BLOCK".repeat(10)}AA`, height: 46_580_000, time };
    expect(check(bundles["an Algorand transaction"]).statement).toEqual({
      block: ofAlgorand,
      outcome: "not_applicable",
    });
    expect(check(bundles["a Base transaction"]).statement).toEqual({ block: ofBase, outcome: "succeeded" });
    const report = check(failing);
    expect(report.statement).toEqual({ block: ofBase, outcome: "failed" });
    expect([report.verified, report.warnings]).toEqual([true, ["transaction_failed"]]);
  });

  it("is not there of blocks and inclusions, of notes of another form, and where the form is wrong", () => {
    const { note } = failing.attest;
    for (const bundle of [
      bundles["a Base block"],
      bundles["a Base inclusion"],
      resigned(failing, ["attest", "note"], note.replace('"s":0,', "")),
      resigned(failing, ["attest", "note"], note.replace("b10c", "B10C")),
      resigned(failing, ["attest", "note"], "hello"),
      resigned(failing, ["version"], 2),
    ])
      expect(check(bundle).statement).toBeUndefined();
  });
});

describe("a change that the attestor itself has signed", () => {
  const transaction = bundles["an Algorand transaction"] as ProofBundle;
  const base = bundles["a Base transaction"] as ProofBundle;
  const inclusion = bundles["an Algorand inclusion"] as InclusionBundle;
  const baseInclusion = bundles["a Base inclusion"] as InclusionBundle;
  const other = bundleOf({ txnBytes: testPayment("other") });
  const note = transaction.attest.note;
  const blockNote = inclusion.attest.note;

  it.each<[string, SignedBundle, Path, unknown, string[]]>([
    ["source.chain dropped", transaction, ["source", "chain"], undefined, []],
    ["another id", transaction, ["source", "txnId"], other.source.txnId, ["transactionId /source/txnId"]],
    ["an id of another chain", transaction, ["source", "txnId"], base.source.txnId, ["schema /source/txnId"]],
    ["another chain", transaction, ["source", "chain"], "base", ["schema /source/txnId"]],
    ["an unknown chain", transaction, ["source", "chain"], "solana", ["schema /source/chain"]],
    ["another hash", transaction, ["source", "hashSha256"], "0".repeat(64), ["hashPreimage /source/hashSha256"]],
    [
      "other bytes",
      transaction,
      ["source", "txnBytesBase64"],
      other.source.txnBytesBase64,
      ["hashPreimage /source/hashSha256", "transactionId /source/txnId", "note /attest/note/h", "note /attest/note/t"],
    ],
    [
      "bytes that are no transaction",
      transaction,
      ["source", "txnBytesBase64"],
      "AAAA",
      [
        "hashPreimage /source/hashSha256",
        "transactionId /source/txnId",
        "note /attest/note/c",
        "note /attest/note/h",
        "note /attest/note/t",
      ],
    ],
    ["the attestation's id", transaction, ["attest", "txnId"], other.attest.txnId, []],
    ["a round before the key", transaction, ["attest", "round"], 499, ["keyTrust /attest/round"]],
    ["round 0", transaction, ["attest", "round"], 0, ["schema /attest/round"]],
    ["half a round", transaction, ["attest", "round"], 1000.5, ["schema /attest/round"]],
    ["a note too long", transaction, ["attest", "note"], "x".repeat(1025), ["schema /attest/note"]],
    ["a note with white space", transaction, ["attest", "note"], note.replace(",", ", "), ["note /attest/note"]],
    ["a note of no dapp", transaction, ["attest", "note"], "hello", ["note /attest/note"]],
    ["a note without p", transaction, ["attest", "note"], note.replace(/"p":"[^"]*",/, ""), ["note /attest/note/p"]],
    [
      "a note of another key",
      transaction,
      ["attest", "note"],
      note.replace(attestor.keySha256, stranger.keySha256),
      ["note /attest/note/a"],
    ],
    [
      "a note of another chain",
      transaction,
      ["attest", "note"],
      note.replace(ALGORAND_MAINNET, "eip155:8453"),
      ["note /attest/note/c"],
    ],
    [
      "a note on another ledger",
      transaction,
      ["attest", "note"],
      note.replace(/"g":"[^"]*"/, `"g":"${SANDBOX}"`),
      ["note /attest/note/g"],
    ],
    [
      "a note of another hash",
      transaction,
      ["attest", "note"],
      note.replace(/"h":"../, '"h":"00'),
      ["note /attest/note/h"],
    ],
    [
      "a note of another level",
      transaction,
      ["attest", "note"],
      note.replace("finalized", "safe"),
      ["note /attest/note/l"],
    ],
    [
      "a note of no level",
      transaction,
      ["attest", "note"],
      note.replace("finalized", "latest"),
      ["note /attest/note/l"],
    ],
    [
      "a note of another transaction",
      transaction,
      ["attest", "note"],
      note.replace(transaction.source.txnId, other.source.txnId),
      ["note /attest/note/t"],
    ],
    [
      "a note without its block",
      transaction,
      ["attest", "note"],
      note.replace(/"b":"[^"]*",/, ""),
      ["note /attest/note/b"],
    ],
    [
      "a note of a block of another chain",
      transaction,
      ["attest", "note"],
      note.replace(/"b":"[^"]*"/, `"b":"0x${"b1".repeat(32)}"`),
      ["note /attest/note/b"],
    ],
    ["a note without a height", transaction, ["attest", "note"], note.replace(/"n":\d+,/, ""), ["note /attest/note/n"]],
    ["a note without a time", transaction, ["attest", "note"], note.replace(/,"u":\d+/, ""), ["note /attest/note/u"]],
    [
      "a note of Algorand with an outcome",
      transaction,
      ["attest", "note"],
      note.replace(',"t":', ',"s":1,"t":'),
      ["note /attest/note/s"],
    ],
    [
      "a note of Base without one",
      base,
      ["attest", "note"],
      base.attest.note.replace('"s":1,', ""),
      ["note /attest/note/s"],
    ],
    // Nothing in the bundle contradicts these: only the chain can.
    ["another block", base, ["attest", "note"], base.attest.note.replace("b10c", "b10d"), []],
    ["another time", transaction, ["attest", "note"], note.replace(/"u":\d+/, '"u":0'), []],
    ["the note of a block", transaction, ["attest", "note"], blockNote, ["note /attest/note"]],
    [
      "a key's note",
      transaction,
      ["attest", "note"],
      `attestd/v1:j{"g":"${ALGORAND_MAINNET}","k":"${"0".repeat(64)}"}`,
      ["note /attest/note"],
    ],
    [
      "another account",
      transaction,
      ["attestor", "algorandAddress"],
      stranger.algorandAddress,
      ["keyTrust /attestor/algorandAddress"],
    ],
    ["another network", transaction, ["network"], "algorand-testnet", ["schema /network"]],
    ["another version", transaction, ["version"], 2, ["schema /version"]],
    ["another algorithm", transaction, ["signature", "alg"], "ML-DSA-87", []],
    ["a Base level of Base", base, ["attest", "note"], base.attest.note.replace("safe", "included"), []],
    ["a height", inclusion, ["block", "height"], 255, ["blockHash /block/height"]],
    ["a block hash", inclusion, ["block", "blockHash"], other.source.txnId, ["blockHash /block/blockHash"]],
    ["a block's own SHA-256", inclusion, ["block", "hashSha256"], "0".repeat(64), ["hashPreimage /block/hashSha256"]],
    ["another index", inclusion, ["inclusion", "index"], 3, ["inclusion /inclusion"]],
    ["an index beyond the tree", inclusion, ["inclusion", "index"], 12, ["inclusion /inclusion"]],
    ["the older tree", inclusion, ["inclusion", "tree"], "txn", ["inclusion /inclusion/tree"]],
    [
      "a sibling less",
      inclusion,
      ["inclusion", "siblings"],
      inclusion.inclusion.kind === "mpt" ? [] : inclusion.inclusion.siblings.slice(1),
      ["inclusion /inclusion"],
    ],
    ["another in-block map", inclusion, ["inclusion", "stibBase64"], "gA==", ["inclusion /inclusion"]],
    ["the inclusion of another chain", inclusion, ["inclusion"], baseInclusion.inclusion, ["schema /inclusion/nodes"]],
    ["a source of another chain", inclusion, ["source"], baseInclusion.source, ["schema /source"]],
    [
      "a note's height",
      inclusion,
      ["attest", "note"],
      blockNote.replace('"n":256', '"n":257'),
      ["note /attest/note/n"],
    ],
    [
      "a note's block",
      inclusion,
      ["attest", "note"],
      blockNote.replace(inclusion.block.blockHash, other.source.txnId),
      ["note /attest/note/b"],
    ],
    ["the note of a transaction", inclusion, ["attest", "note"], note, ["note /attest/note"]],
    [
      "another index on Base",
      baseInclusion,
      ["inclusion", "index"],
      1,
      ["inclusion /inclusion/nodes", "inclusion /inclusion/receipt"],
    ],
    ["no receipt", baseInclusion, ["inclusion", "receipt"], undefined, []],
    [
      "another receipt",
      baseInclusion,
      ["inclusion", "receipt", "bytesBase64"],
      "AAAA",
      ["inclusion /inclusion/receipt"],
    ],
    ["no nodes", baseInclusion, ["inclusion", "nodes"], [], ["inclusion /inclusion/nodes"]],
    [
      "a header that is none",
      baseInclusion,
      ["block", "headerBase64"],
      "AAAA",
      [
        "hashPreimage /block/hashSha256",
        "blockHash /block/blockHash",
        "blockHash /block/height",
        "inclusion /block/headerBase64",
        "note /attest/note/b",
        "note /attest/note/c",
        "note /attest/note/h",
        "note /attest/note/n",
      ],
    ],
  ])("%s", (_what, bundle, path, by, expected) => {
    expect(failed(resigned(bundle, path, by))).toEqual(expected);
    // Unsigned, the same change also fails the signature, unless the bundle cannot even be read.
    const unsigned = failed(replaced(bundle, path, by));
    if (expected[0]?.startsWith("schema") || path[0] === "signature") expect(unsigned[0]).toMatch(/^schema/);
    else expect(unsigned).toContain("signature /signature/sigBase64");
  });
});

describe("warnings", () => {
  it("tell a sandbox, from the note", () => {
    const bundle = bundleOf({ ledger: SANDBOX });
    const sandboxTrust = testHistory([{ attestor, fromRound: 1 }], SANDBOX);
    expect(check(bundle, { trust: sandboxTrust })).toMatchObject({ verified: true, warnings: ["sandbox"] });
    expect(check(bundle)).toMatchObject({ verified: false, warnings: ["sandbox"], checks: { note: "fail" } });
  });

  it("tell what was only included", () => {
    const bundle = bundleOf({ chain: "base", txnBytes: testBaseTransaction(1), level: "included" });
    expect(check(bundle)).toMatchObject({ verified: true, warnings: ["included_only"] });
  });

  it("tell an old history", () => {
    const bundle = bundleOf();
    expect(check(bundle, { historyAge: HISTORY_OLD_AFTER }).warnings).toEqual([]);
    expect(check(bundle, { historyAge: HISTORY_OLD_AFTER + 1 }).warnings).toEqual(["history_old"]);
  });
});

describe("withChain", () => {
  const revoked = testHistory([{ attestor, fromRound: 500, revokedRound: 2000 }]);
  const found = { chainSource: "pass", chainAttest: "pass" } as const;

  it("adds what was found", () => {
    const report = check(bundleOf());
    expect(mayAskChain(report)).toBe(true);
    expect(withChain(report, found)).toMatchObject({
      verified: true,
      checks: { chainSource: "pass", chainAttest: "pass" },
    });
    const finding = { pointer: "/attest/round", stated: "1000", computed: "1001" };
    const denied = withChain(report, { chainSource: "pass", chainAttest: [finding] });
    expect(denied).toMatchObject({ verified: false, checks: { chainSource: "pass", chainAttest: "fail" } });
    expect(denied.failures).toEqual([{ check: "chainAttest", ...finding }]);
    expect(report).toMatchObject({ verified: true, checks: { chainAttest: "not_checked" }, failures: [] });
  });

  it("believes a revoked key where the ledger shows the record before the revocation", () => {
    const report = check(bundleOf({ round: 1999 }), { trust: revoked });
    expect(report).toMatchObject({ verified: false, attestor: { status: "revoked" }, checks: { keyTrust: "fail" } });
    expect(mayAskChain(report)).toBe(true);
    expect(withChain(report, found)).toMatchObject({ verified: true, attestor: { status: "revoked" }, failures: [] });
    expect(withChain(report, { ...found, chainAttest: [{}] }).verified).toBe(false);
    expect(withChain(report, { chainSource: "pass" }).checks.keyTrust).toBe("fail");
  });

  it("does not believe a revoked key from the revocation on, nor with another account", () => {
    const late = check(bundleOf({ round: 2000 }), { trust: revoked });
    const elsewhere = check(resigned(bundleOf(), ["attestor", "algorandAddress"], stranger.algorandAddress), {
      trust: revoked,
    });
    for (const report of [late, elsewhere]) {
      expect(mayAskChain(report)).toBe(false);
      expect(withChain(report, found)).toMatchObject({ verified: false, checks: { keyTrust: "fail" } });
    }
  });

  it("is not asked for what has failed already", () => {
    expect(mayAskChain(check(replaced(bundleOf(), ["attest", "round"], 1001)))).toBe(false);
    const forged = check(replaced(bundleOf(), ["attest", "round"], 1001), { trust: revoked });
    expect(mayAskChain(forged)).toBe(false);
  });
});

describe("a light header", () => {
  it("does not pass beside a transaction that is not in the block, though its commitment is trusted", () => {
    const elsewhere = resigned(bundle, ["inclusion", "index"], 1);
    const report = check(elsewhere, { commitments: [lightHeader.commitment] });
    expect(report).toMatchObject({ checks: { inclusion: "fail" }, lightHeader: "not_checked" });
  });

  const block = testAlgorandBlock(3);
  const lightHeader = testLightHeader(block.header);
  const bundle = resigned(inclusionBundleOf({ block }), ["inclusion", "lightHeader"], lightHeader);

  it("is not checked unless its commitment is trusted, and decides nothing", () => {
    expect(check(bundle)).toMatchObject({ verified: true, lightHeader: "not_checked" });
    const commitments = [lightHeader.commitment];
    expect(check(bundle, { commitments })).toMatchObject({ verified: true, lightHeader: "pass" });
    expect(check(inclusionBundleOf({ block }))).not.toHaveProperty("lightHeader");
  });

  it.each<[string, unknown]>([
    ["index", 254],
    ["index", 511],
    ["interval", 512],
    ["commitment", toBase64(new Uint8Array(32))],
    ["siblings", lightHeader.siblings.slice(1)],
    ["siblings", lightHeader.siblings.toReversed()],
  ])("fails inclusion with another %s", (member, by) => {
    const bad = resigned(bundle, ["inclusion", "lightHeader", member], by);
    expect(failed(bad)).toEqual(["inclusion /inclusion/lightHeader"]);
    const commitments = [lightHeader.commitment, toBase64(new Uint8Array(32))];
    expect(check(bad, { commitments }).lightHeader).toBe("not_checked");
  });
});

describe("the chain that a source names", () => {
  it("is Algorand's own genesis, which need not be the ledger's", () => {
    const gh = new Uint8Array(32).fill(5);
    const txnBytes = encodeMsgpack(
      new Map<string, string | Uint8Array>([
        ["gh", gh],
        ["type", "pay"],
      ]),
    );
    const bundle = bundleOf({ txnBytes });
    expect(bundle.attest.note).toContain('"c":"algorand:BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUF"');
    expect(failed(bundle)).toEqual([]);
  });
});

describe("recorded transactions", () => {
  type Recorded = { txid: string; txnMsgpackBase64: string };
  type Block = { transactions: { hash: string; raw: string }[] };

  it("of MainNet verify under their real ids", () => {
    for (const { txid, txnMsgpackBase64 } of vectors.json("algorand/mainnet/signed-transactions.json") as Recorded[]) {
      const bundle = bundleOf({ txnBytes: fromBase64(txnMsgpackBase64) });
      expect(bundle.source.txnId).toBe(txid);
      expect(bundle.attest.note).toContain(`"c":"${ALGORAND_MAINNET}"`);
      expect(failed(bundle)).toEqual([]);
    }
  });

  it("of another OP Stack chain are Base's in a sandbox, and no one's on MainNet", () => {
    const { transactions } = vectors.json("replay/base/blocks/op-sepolia-holocene-26207961.json") as Block;
    const sandboxTrust = testHistory([{ attestor, fromRound: 1 }], SANDBOX);
    for (const { hash, raw } of transactions) {
      const txnBytes = fromHex(raw.slice(2));
      expect(baseTxHash(txnBytes)).toBe(hash);
      expect(failed(bundleOf({ chain: "base", txnBytes, ledger: SANDBOX }), { trust: sandboxTrust })).toEqual([]);
      const real = bundleOf({ chain: "base", txnBytes });
      const claimed = real.attest.note.replace("eip155:11155420", "eip155:8453");
      const isDeposit = txnBytes[0] === 0x7e;
      expect(failed(resigned(real, ["attest", "note"], claimed))).toEqual(isDeposit ? [] : ["note /attest/note/c"]);
    }
  });
});

describe("verify", () => {
  it("fails schema for half a character, which has no canonical form", () => {
    expect(failed(replaced(bundleOf(), ["attest", "note"], "\ud800"))).toEqual(["schema /attest/note"]);
  });

  it.each(["", "{", "not JSON", '{"a":1'])("throws what is no JSON: %j", (text) => {
    expect(() => check(text)).toThrow(expect.objectContaining({ name: "ProofError", code: "json" }));
  });

  it("throws what is larger than any bundle", () => {
    expect(() => check(" ".repeat(2 ** 21 + 1))).toThrow(expect.objectContaining({ name: "ProofError", code: "json" }));
  });

  it("throws where there is no such option, which would otherwise be trust in no one", () => {
    const misspelt = { trusted: trust } as VerifyOptions;
    expect(() => verify(bundleOf(), misspelt)).toThrow(new TypeError('verify has no option "trusted"'));
  });

  it.each([null, 5, "[]", [], {}, '"text"', { type: "attestor-key" }, "[".repeat(17)])(
    "reports %j as no bundle",
    (value) => {
      const report = check(typeof value === "string" && value.startsWith("[[") ? `${value}${"]".repeat(17)}` : value);
      expect(report).toMatchObject({ verified: false, checks: { schema: "fail", signature: "not_checked" } });
      expect(report.attestor).toEqual({ status: "unknown" });
    },
  );
});
