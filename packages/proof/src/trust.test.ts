import { describe, expect, it } from "vitest";
import { testAttestor, testHistory } from "../../../test/bundles/bundles.ts";
import { nativeCrypto } from "../test/native-crypto.ts";
import { fromBase64, toBase64 } from "./encoding.ts";
import { isProofError, type ProofError } from "./errors.ts";
import {
  judgeKey,
  jwk,
  type KeyEntry,
  type KeyHistory,
  keyEntryBytes,
  keyEntryHash,
  parseKeyHistory,
} from "./trust.ts";

const first = testAttestor("1");
const { algorandAddress } = first;
const [second, third] = [testAttestor("2"), testAttestor("3")].map((next) => ({ ...next, algorandAddress })) as [
  typeof first,
  typeof first,
];
const history = testHistory([
  { attestor: first, fromRound: 100 },
  { attestor: second, fromRound: 200, revokedRound: 260 },
  { attestor: third, fromRound: 300 },
]);

/** Returns the history with one entry changed; a change to undefined drops the member. */
function altered(index: number, change: Partial<Record<keyof KeyEntry, unknown>>): unknown {
  const keys = history.keys.map((entry, at) => (at === index ? { ...entry, ...change } : entry));
  return JSON.parse(JSON.stringify({ ...history, keys }));
}

function refusal(value: unknown): ProofError {
  try {
    parseKeyHistory(value, nativeCrypto);
  } catch (error) {
    if (isProofError(error, "format")) return error;
    throw error;
  }
  throw new Error("taken");
}

describe("a key", () => {
  it("is named by the RFC 7638 thumbprint of its JWK", () => {
    const key = jwk(first.publicKey);
    expect(key).toMatchObject({ kty: "AKP", alg: "ML-DSA-65", kid: first.kid });
    expect(history.keys[0]?.kid).toBe(key.kid);
  });

  it("is endorsed at its beginning, whatever becomes of it later", () => {
    const [entry] = history.keys as [KeyEntry];
    const begun = { ...entry };
    delete begun.untilRound;
    expect(keyEntryBytes(entry)).toEqual(keyEntryBytes(begun));
    expect(keyEntryHash({ ...entry, revokedRound: 5 })).toBe(keyEntryHash(entry));
    expect(keyEntryHash({ ...entry, fromRound: 5 })).not.toBe(keyEntryHash(entry));
  });
});

describe("parseKeyHistory", () => {
  it("takes a history of one key, and of many", () => {
    const one = testHistory([{ attestor: first, fromRound: 0 }]);
    expect(parseKeyHistory(JSON.parse(JSON.stringify(one)))).toEqual(one);
    expect(parseKeyHistory(JSON.parse(JSON.stringify(history)))).toEqual(history);
  });

  it.each<[string, unknown, string]>([
    ["no object", [], ""],
    ["no keys", { ...history, keys: [] }, "/keys"],
    ["an unknown member", { ...history, x: 1 }, "/x"],
    ["another version", { ...history, version: 2 }, "/version"],
    ["a ledger that is not Algorand", { ...history, ledger: "eip155:8453" }, "/ledger"],
    ["the first key removed", { ...history, keys: history.keys.slice(1) }, "/keys/0/endorsement"],
    ["the last key removed", { ...history, keys: history.keys.slice(0, 2) }, "/keys/1/untilRound"],
    ["a key removed between", { ...history, keys: [history.keys[0], history.keys[2]] }, "/keys/0/untilRound"],
    ["keys exchanged", { ...history, keys: history.keys.toReversed() }, "/keys/0/untilRound"],
    ["a key twice", { ...history, keys: [...history.keys, history.keys[2]] }, "/keys/2/untilRound"],
    ["an altered thumbprint", altered(1, { kid: first.kid }), "/keys/1/kid"],
    ["an altered fingerprint", altered(1, { keySha256: first.keySha256 }), "/keys/1/keySha256"],
    ["an altered key", altered(1, { pqPublicKey: toBase64(first.publicKey) }), "/keys/1/kid"],
    ["another account", altered(1, { algorandAddress: testAttestor("2").algorandAddress }), "/keys/1/algorandAddress"],
    [
      "another account of the first",
      altered(0, { algorandAddress: testAttestor("2").algorandAddress }),
      "/keys/1/algorandAddress",
    ],
    ["an altered origin", altered(1, { origin: "https://other.example" }), "/keys/1/endorsement"],
    ["an origin with a path", altered(1, { origin: "https://attestd.example/x" }), "/keys/1/origin"],
    ["an altered beginning", altered(2, { fromRound: 301 }), "/keys/1/untilRound"],
    ["an altered end", altered(0, { untilRound: 201 }), "/keys/0/untilRound"],
    ["no end", altered(0, { untilRound: undefined }), "/keys/0/untilRound"],
    ["an end of the last", altered(2, { untilRound: 400 }), "/keys/2/untilRound"],
    ["no endorsement", altered(1, { endorsement: undefined }), "/keys/1/endorsement"],
    ["a short endorsement", altered(1, { endorsement: "AAAA" }), "/keys/1/endorsement"],
    ["an endorsement of the first", altered(0, { endorsement: history.keys[1]?.endorsement }), "/keys/0/endorsement"],
    ["another's endorsement", altered(2, { endorsement: history.keys[1]?.endorsement }), "/keys/2/endorsement"],
    ["an unknown member of an entry", altered(0, { x: 1 } as object), "/keys/0/x"],
    ["a revocation that is no round", altered(0, { revokedRound: "5" }), "/keys/0/revokedRound"],
  ])("refuses %s", (_what, value, pointer) => {
    expect(refusal(value).pointer).toBe(pointer);
  });

  it("refuses a key that comes back", () => {
    const again = testHistory([
      { attestor: first, fromRound: 1 },
      { attestor: second, fromRound: 2 },
      { attestor: first, fromRound: 3 },
    ]);
    expect(refusal(again).pointer).toBe("/keys/2/kid");
  });

  it("refuses spans that do not follow one another", () => {
    const backwards = testHistory([
      { attestor: first, fromRound: 5 },
      { attestor: second, fromRound: 5 },
    ]);
    expect(refusal(backwards).pointer).toBe("/keys/0/untilRound");
  });
});

describe("judgeKey", () => {
  const judge = (attestor: typeof first, round: number, trust: KeyHistory | { kids: string[] } = history) => {
    const { status, findings } = judgeKey(trust, attestor.kid, { round, algorandAddress: attestor.algorandAddress });
    return [status, ...findings.map(({ pointer }) => pointer)];
  };

  it("passes a key within its span, replaced or not", () => {
    expect(judge(first, 100)).toEqual(["retired"]);
    expect(judge(first, 199)).toEqual(["retired"]);
    expect(judge(third, 300)).toEqual(["current"]);
    expect(judge(third, 2 ** 53 - 1)).toEqual(["current"]);
  });

  it("names the round outside of the span", () => {
    expect(judge(first, 99)).toEqual(["retired", "/attest/round"]);
    expect(judge(first, 200)).toEqual(["retired", "/attest/round"]);
    expect(judge(third, 299)).toEqual(["current", "/attest/round"]);
  });

  it("never believes a revoked key by itself, and not at all from the revocation on", () => {
    expect(judge(second, 259)).toEqual(["revoked", "/attestor/pqPublicKey"]);
    expect(judge(second, 260)).toEqual(["revoked", "/attestor/pqPublicKey", "/attest/round"]);
  });

  it("names an account that is not the key's", () => {
    const { findings } = judgeKey(history, first.kid, {
      round: 150,
      algorandAddress: testAttestor("2").algorandAddress,
    });
    expect(findings.map(({ pointer }) => pointer)).toEqual(["/attestor/algorandAddress"]);
  });

  it("does not know a stranger", () => {
    expect(judge(testAttestor("stranger"), 150)).toEqual(["unknown", "/attestor/pqPublicKey"]);
  });

  it("believes pinned keys in every round", () => {
    const pinned = { kids: [second.kid] };
    expect(judge(second, 1, pinned)).toEqual(["current"]);
    expect(judge(first, 1, pinned)).toEqual(["unknown", "/attestor/pqPublicKey"]);
  });
});

it("an endorsement is of 3309 bytes by the key before", () => {
  expect(fromBase64(history.keys[1]?.endorsement ?? "")).toHaveLength(3309);
});
