/* What the bundles of the table are made of: keys, transactions, blocks with true commitments. */

import type { BlockBundle, InclusionBundle, KeyHistory, ProofBundle, SignedBundle } from "@attestd/proof";
import {
  blockHash,
  decodeMsgpackMap,
  decodeTransaction,
  encodeMsgpack,
  structMap,
  txid,
} from "@attestd/proof/algorand";
import { type BaseInclusion, encodeRlp } from "@attestd/proof/base";
import { concatBytes, toBase64, toHex, utf8 } from "@attestd/proof/encoding";
import { canonicalize } from "@attestd/proof/json";
import { sha256 } from "@noble/hashes/sha2.js";
import {
  signBundle,
  type TestAttestor,
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
  testSuccessor,
} from "../../../test/bundles/bundles.ts";

export const SANDBOX = "algorand:qUgMV4zaO1YMxC9yp6mpyF6mXj1Kz9qb";
/** Of these, HISTORIES knows all but the stranger. */
export const [first, stranger, local] = [testAttestor("first"), testAttestor("a stranger"), testAttestor("sandbox")];
export const [second, third] = [testSuccessor(first, "second"), testSuccessor(first, "third")];

/** Key histories by their names. In `keys`, one key is retired, one revoked, one current; `sandbox` is another ledger's. */
export const HISTORIES = {
  keys: testHistory([
    { attestor: first, fromRound: 1 },
    { attestor: second, fromRound: 1000, revokedRound: 1500 },
    { attestor: third, fromRound: 2000 },
  ]),
  sandbox: testHistory([{ attestor: local, fromRound: 1 }], SANDBOX),
} as const satisfies Record<string, KeyHistory>;

/** A bundle of the current key. */
export const now = { attestor: third, round: 2500 };
export const blocks = { algorand: testAlgorandBlock(5), plain: testAlgorandBlock(5, "txn"), base: testBaseBlock(200) };

export const payment = testBundle(now);
export const transfer = testBundle({ ...now, chain: "base", txnBytes: testBaseTransaction(1) });
export const block = testBlockBundle({ ...now, block: blocks.algorand });
export const baseBlock = testBlockBundle({ ...now, block: blocks.base, level: "safe" });
export const inclusion = testInclusionBundle({ ...now, block: blocks.algorand, index: 3 });
export const baseInclusion = testInclusionBundle({ ...now, block: blocks.base, index: 150 });

/** The bundle with a change, signed again by the same key: only what is changed can be wrong. */
export function altered<B extends SignedBundle>(
  bundle: B,
  change: (bundle: B) => unknown,
  by: TestAttestor = third,
): B {
  const copy = structuredClone(bundle);
  change(copy);
  const { signature: _, ...unsigned } = copy;
  return signBundle(by, unsigned) as unknown as B;
}

export const withSource = (bundle: ProofBundle | InclusionBundle, members: object) =>
  altered(bundle, ({ source }) => Object.assign(source, members));
export const withBlock = (bundle: BlockBundle | InclusionBundle, members: object) =>
  altered(bundle, (copy) => Object.assign(copy.block, members));
export const withAttest = <B extends SignedBundle>(bundle: B, members: object) =>
  altered(bundle, ({ attest }) => Object.assign(attest, members));
export const withProof = (bundle: InclusionBundle, members: object) =>
  altered(bundle, (copy) => Object.assign(copy.inclusion, members));
export const withNote = <B extends SignedBundle>(bundle: B, from: string | RegExp, to: string) =>
  altered(bundle, ({ attest }) => {
    attest.note = attest.note.replace(from, to);
  });

/** The payment's bundle with other bytes, which no chain would have, and all that is said of them right. */
export const ofBytes = (bytes: Uint8Array) =>
  altered(payment, ({ source, attest }) => {
    const [txnId, hashSha256] = [txid(bytes), toHex(sha256(bytes))];
    attest.note = attest.note.replace(source.txnId, txnId).replace(source.hashSha256, hashSha256);
    Object.assign(source, { txnId, hashSha256, txnBytesBase64: toBase64(bytes) });
  });

/** The block's bundle with another header, and all that is said of it right. */
export const ofHeader = (bytes: Uint8Array) =>
  altered(block, (copy) => {
    const [hash, hashSha256] = [blockHash(bytes), toHex(sha256(bytes))];
    copy.attest.note = copy.attest.note.replace(copy.block.blockHash, hash).replace(copy.block.hashSha256, hashSha256);
    Object.assign(copy.block, { blockHash: hash, hashSha256, headerBase64: toBase64(bytes) });
  });

/** A Base transaction of a type and fields (EIP-2718); a legacy one has no type. */
const enveloped = (type: number[], fields: Parameters<typeof encodeRlp>[0]) =>
  Uint8Array.of(...type, ...encodeRlp(fields));
const [ADDRESS, WORD, NOTHING] = [new Uint8Array(20).fill(7), new Uint8Array(32).fill(9), new Uint8Array()];
const small = (value: number) => Uint8Array.of(value);
/** @param v of its signature: 27 and 28 name no chain (EIP-155) */
export const legacy = (v: Uint8Array) =>
  enveloped([], [small(1), small(2), Uint8Array.of(0x52, 0x08), ADDRESS, small(5), NOTHING, v, WORD, WORD]);
export const deposit = enveloped(
  [0x7e],
  [WORD, ADDRESS, ADDRESS, NOTHING, NOTHING, Uint8Array.of(0x52, 0x08), NOTHING, WORD],
);
export const ofBase = (txnBytes: Uint8Array) => testBundle({ ...now, chain: "base", txnBytes });

/** An application call: nested structs, byte strings that are empty, an amount beyond 2^53. */
export const call = encodeMsgpack(
  structMap({
    apaa: [new Uint8Array(), new Uint8Array(40).fill(1)],
    apbx: [structMap({ n: new Uint8Array(300).fill(2) }), structMap({ i: 1 })],
    apid: 2n ** 63n,
    fee: 1000,
    fv: 70_000,
    gen: "mainnet-v1.0",
    gh: decodeTransaction(testPayment()).get("gh"),
    lv: 70_001,
    snd: new Uint8Array(32).fill(3),
    type: "appl",
  }),
);
const { gen: _gen, gh: _gh, ...rest } = Object.fromEntries(decodeTransaction(testPayment()));
/** A payment of the first days, which does not name its network. */
export const nameless = encodeMsgpack(structMap(rest));
/** `{type: "pay", fee: 1}`, whose members no node would write in this order. */
export const reversed = Uint8Array.of(0x82, 0xa4, ...utf8("type"), 0xa3, ...utf8("pay"), 0xa3, ...utf8("fee"), 1);

/** The block's header, its last member first. */
export const reversedHeader = lastFirst(blocks.algorand.header);

function lastFirst(header: Uint8Array): Uint8Array {
  const members = [...decodeMsgpackMap(header)];
  // A map of fewer than 16 members is one byte, and then its members one after the other.
  const last = encodeMsgpack(new Map(members.slice(-1))).subarray(1);
  return concatBytes(header.subarray(0, 1), last, header.subarray(1, -last.length));
}

/** The parts of a proof, which tests take apart. */
export const proofOf = ({ inclusion: proof }: InclusionBundle) =>
  proof as unknown as Record<"siblings" | "nodes", string[]>;
export const { receipt } = baseInclusion.inclusion as Required<BaseInclusion>;
export const lightHeader = testLightHeader(blocks.algorand.header);

/** The inclusion in a block of another consensus version, under a state proof over this round alone: its leaf. */
export function attestedBy(
  commit: string,
  leaf: string,
  seed: { seed?: Uint8Array } = { seed: new Uint8Array(32).fill(7) },
): InclusionBundle {
  const members = new Map([...decodeMsgpackMap(blocks.algorand.header), ...Object.entries(seed)]);
  members.set("proto", `https://github.com/algorandfoundation/specs/tree/${commit}`);
  const under = testInclusionBundle({
    ...now,
    block: { ...blocks.algorand, header: encodeMsgpack(members) },
    index: 3,
  });
  return withProof(under, { lightHeader: { index: 0, interval: 1, commitment: leaf, siblings: [] } });
}
export const [v38, v39] = [
  "abd3d4823c6f77349fc04c3af7b1e99fe4df699f",
  "925a46433742afb0b51bb939354bd907fa88bf95",
] as const;
/**
 * SHA-256 of "B256" and the light header of that block's seed, as Go's SDK encodes it (go-algorand-sdk/v2 v2.12.0,
 * types.LightBlockHeader).
 */
export const SEED_LEAF = "3gJaWIgGkRuGn143YIjmwc/IaztTMMEMcAJ6oRWkkcM=";

/** The payment's file. */
export const text = canonicalize(payment);
