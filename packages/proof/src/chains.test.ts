import { sha256 } from "@noble/hashes/sha2.js";
import { describe, expect, it } from "vitest";
import {
  testAttestor,
  testBlockBundle,
  testBundle,
  testHistory,
  testInclusionBundle,
} from "../../../test/bundles/bundles.ts";
import { nativeCrypto } from "../test/native-crypto.ts";
import { parseBundle } from "./bundle.ts";
import { chainOf, matchTransactionId } from "./chains.ts";
import { fromUtf8, toHex, utf8 } from "./encoding.ts";
import { malformed } from "./errors.ts";
import { type AnyInclusion, CHAINS, type ChainFormat, chainNamed, inferChain } from "./index.ts";
import { constant, object, string } from "./json/readers.ts";
import { verify } from "./verify.ts";

type Basket = AnyInclusion & { basket: string };

const hashOf = (bytes: Uint8Array) => toHex(sha256(bytes)).slice(0, 16);
/** A header is `<height> <transaction> <transaction> …`. */
const fieldsOf = (header: Uint8Array) => fromUtf8(header).split(" ");

/** A made-up chain, whose ids, header hash and proofs differ from those of every real chain. */
const orchard: ChainFormat<Basket> = {
  name: "orchard",
  label: "Orchard",
  caip2: "orchard:1",
  transactionId: {
    pattern: /^apple[0-9a-f]{16}$/,
    requestPattern: /^apple[0-9a-fA-F]{16}$/,
    normalize: (id) => id.toLowerCase(),
    description: "apple and 16 hex",
  },
  blockHash: { pattern: /^tree[0-9a-f]{16}$/, description: "tree and 16 hex" },
  terms: { height: "row", transactionBytes: "its text", headerBytes: "its text" },
  levels: ["safe"],
  transactionsCanFail: false,
  transaction: (bytes) => ({ txnId: `apple${hashOf(bytes)}`, caip2: "orchard:1" }),
  header(bytes) {
    const height = Number(fieldsOf(bytes)[0]);
    if (!Number.isSafeInteger(height)) throw malformed("no row");
    return { blockHash: `tree${hashOf(bytes)}`, height, caip2: "orchard:1" };
  },
  readInclusion: object({ kind: constant("basket"), basket: string("text", /./) }),
  checkInclusion({ basket }, transaction, header) {
    const isIn = fromUtf8(transaction) === basket && fieldsOf(header).slice(1).includes(basket);
    return isIn ? [] : [{ pointer: "/inclusion/basket", message: "is not in the header" }];
  },
};

const chains = [...CHAINS, orchard];
const attestor = testAttestor();
const trust = testHistory([{ attestor, fromRound: 500 }]);
const options = { attestor, chains, level: "safe" } as const;
const txnBytes = utf8("boskoop");
const statement = { b: `tree${"0".repeat(16)}`, n: 7, u: 1_780_000_000 };
const block = {
  chain: "orchard",
  header: utf8("7 elstar boskoop"),
  transactions: [utf8("elstar"), txnBytes],
  prove: (): never => ({ kind: "basket", basket: "boskoop" }) as never,
};
const bundles = {
  "of a transaction": testBundle({ ...options, chain: "orchard", txnBytes, statement }),
  "of a block": testBlockBundle({ ...options, block }),
  "of an inclusion": testInclusionBundle({ ...options, block, index: 1 }),
};

describe("a chain that only a test's registry has", () => {
  it.each(Object.entries(bundles))("verifies a bundle %s", (_, bundle) => {
    const { verified, failures } = verify(bundle, { trust, chains, crypto: nativeCrypto });
    expect({ verified, failures }).toEqual({ verified: true, failures: [] });
  });

  it("verifies a bundle that leaves the chain to be inferred from its id", () => {
    const { chain: _, ...source } = bundles["of a transaction"].source;
    const { checks } = verify({ ...bundles["of a transaction"], source }, { trust, chains, crypto: nativeCrypto });
    expect(checks).toMatchObject({ schema: "pass", transactionId: "pass", signature: "fail" });
  });

  it.each([
    ["another id", "of a transaction", { source: { txnId: `apple${"0".repeat(16)}` } }, "transactionId"],
    ["another height", "of a block", { block: { height: 8 } }, "blockHash"],
    ["another transaction", "of an inclusion", { inclusion: { basket: "elstar" } }, "inclusion"],
    ["a block hash of another form", "of a block", { block: { blockHash: "apple0000000000000000" } }, "schema"],
    ["another chain", "of a block", { block: { chain: "base" } }, "schema"],
    ["a proof of another chain", "of an inclusion", { inclusion: { kind: "mpt" } }, "schema"],
  ] as const)("finds %s in a bundle %s", (_, name, changes, check) => {
    const bundle: Record<string, unknown> = { ...bundles[name] };
    for (const [member, change] of Object.entries(changes))
      bundle[member] = { ...(bundle[member] as object), ...change };
    const { failures } = verify(bundle, { trust, chains, crypto: nativeCrypto });
    expect(failures.map((failure) => failure.check)).toContain(check);
  });

  it.each(Object.entries(bundles))("is no chain to other verifiers: a bundle %s fails its schema", (_, bundle) => {
    expect(verify(bundle, { trust }).checks.schema).toBe("fail");
    expect(() => parseBundle(bundle)).toThrow("one of algorand, base");
    expect(chainOf(parseBundle(bundle, { chains }), chains)).toBe(orchard);
    expect(() => chainOf(bundle)).toThrow("a known source chain");
  });

  it("refuses a level that the chain does not have", () => {
    const bundle = testBundle({ ...options, level: "included", chain: "orchard", txnBytes, statement });
    expect(verify(bundle, { trust, chains, crypto: nativeCrypto }).failures).toEqual([
      { check: "note", pointer: "/attest/note/l", stated: "included", computed: "safe" },
    ]);
  });
});

describe("the registry", () => {
  const ids = { algorand: `${"A".repeat(51)}Q`, base: `0x${"ab".repeat(32)}`, orchard: `apple${"ab".repeat(8)}` };

  it.each(Object.entries(ids))("finds %s by its name and by its id alone", (name, id) => {
    const chain = chainNamed(name, chains);
    expect(inferChain(id, chains)).toBe(chain);
    expect(chains.filter(({ transactionId }) => transactionId.pattern.test(id))).toEqual([chain]);
    expect(matchTransactionId(id, chains)).toEqual({ chain, id });
  });

  it("turns a request's spelling of an id into the one spelling", () => {
    expect(matchTransactionId(`0x${"AB".repeat(32)}`)).toEqual({ chain: chainNamed("base"), id: ids.base });
    expect(inferChain(`0x${"AB".repeat(32)}`)).toBeUndefined();
    expect(matchTransactionId(ids.algorand.toLowerCase())).toBeUndefined();
  });

  it("knows no other chain", () => {
    expect(chainNamed("orchard")).toBeUndefined();
    expect(inferChain(ids.orchard)).toBeUndefined();
    expect(matchTransactionId(ids.orchard)).toBeUndefined();
  });
});
