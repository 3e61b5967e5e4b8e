import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BlockBundle, type InclusionBundle, type ProofBundle, parseKeyHistory, verify } from "@attestd/proof";
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
} from "@attestd/proof/testing";
import { afterAll, beforeAll, expect, it } from "vitest";

const VERIFIER = fileURLToPath(new URL("verify.mjs", import.meta.url));
const BLOCK_VERIFIER = fileURLToPath(new URL("verify-block.mjs", import.meta.url));
const SANDBOX = `algorand:${"s".repeat(32)}`;
const [attestor, successor, stranger] = [testAttestor(), testAttestor("successor"), testAttestor("stranger")];
const history = testHistory([
  { attestor, fromRound: 500 },
  { attestor: successor, fromRound: 2000 },
]);
const revoked = testHistory([{ attestor, fromRound: 500, revokedRound: 1500 }]);
const sandbox = testHistory([{ attestor, fromRound: 500 }], SANDBOX);

const algorand = testBundle();
const base = testBundle({ chain: "base", txnBytes: testBaseTransaction(1), level: "safe" });
const other = testBundle({ txnBytes: testPayment("other") });
const text = JSON.stringify(algorand);

function resigned(change: (bundle: ProofBundle) => void): ProofBundle {
  const bundle = structuredClone(algorand);
  change(bundle);
  const { signature: _, ...unsigned } = bundle;
  return signBundle(attestor, unsigned);
}

const changedNote = (from: string | RegExp, to: string) =>
  resigned(({ attest }) => {
    attest.note = attest.note.replace(from, to);
  });

/** Bundles with the verdict that is right, and the history to judge them by. */
const cases: [name: string, verified: boolean, bundle: ProofBundle | string, keys?: object][] = [
  ["an Algorand transaction", true, algorand],
  ["a Base transaction", true, base],
  ["a bundle without source.chain", true, resigned(({ source }) => delete source.chain)],
  ["a bundle with other spacing", true, JSON.stringify(algorand, null, 2)],
  ["a bundle of the current key", true, testBundle({ attestor: successor, round: 2000 })],
  ["a bundle of a sandbox, by the sandbox's keys", true, testBundle({ ledger: SANDBOX }), sandbox],
  ["a bundle of a sandbox, by other keys", false, testBundle({ ledger: SANDBOX })],
  ["a bundle by a stranger", false, testBundle({ attestor: stranger })],
  ["a bundle of a key that was replaced by then", false, testBundle({ round: 2000 })],
  ["a bundle of a revoked key", false, algorand, revoked],
  ["a changed round", false, { ...algorand, attest: { ...algorand.attest, round: 1001 } }],
  ["another's signature", false, { ...algorand, signature: other.signature }],
  ["another hash", false, resigned(({ source }) => Object.assign(source, { hashSha256: "0".repeat(64) }))],
  ["another id", false, resigned(({ source }) => Object.assign(source, { txnId: other.source.txnId }))],
  ["other bytes", false, resigned(({ source }) => Object.assign(source, { txnBytesBase64: "AAAA" }))],
  [
    "another address",
    false,
    resigned(({ attestor: by }) => Object.assign(by, { algorandAddress: stranger.algorandAddress })),
  ],
  ["a round that is text", false, resigned(({ attest }) => Object.assign(attest, { round: "1000" }))],
  ["an id that is none", false, resigned(({ attest }) => Object.assign(attest, { txnId: attest.txnId.slice(1) }))],
  ["an unknown member", false, resigned((bundle) => Object.assign(bundle, { extra: 1 }))],
  ["base64 without padding", false, text.replace(/=+"/, '"')],
  ["a member twice", false, text.replace('"round":1000', '"round":999,"round":1000')],
  ["a member twice, once escaped", false, text.replace('"round":1000', '"\\u0072ound":999,"round":1000')],
  ["a member once, escaped", true, text.replace('"round":1000', '"\\u0072ound":1000')],
  ["a note on another ledger", false, changedNote(/"g":"[^"]*"/, `"g":"${SANDBOX}"`)],
  ["a note of another hash", false, changedNote(/"h":"../, '"h":"00')],
  ["a note of another level", false, changedNote("finalized", "safe")],
  ["a note with white space", false, changedNote(",", ", ")],
  ["no JSON", false, text.slice(1)],
];

const blocks = { algorand: testAlgorandBlock(5), old: testAlgorandBlock(5, "txn"), base: testBaseBlock(200) };
const small = testBaseBlock(1);
const block = testBlockBundle({ block: blocks.algorand });
const baseBlock = testBlockBundle({ block: blocks.base, level: "safe" });
const inclusion = testInclusionBundle({ block: blocks.algorand, index: 3 });
const baseInclusion = testInclusionBundle({ block: blocks.base, index: 150 });
const blockText = JSON.stringify(block);
const withLightHeader = altered(inclusion, (bundle) => {
  Object.assign(bundle.inclusion, { lightHeader: testLightHeader(blocks.algorand.header) });
});

/** The bundle with a change, signed again. */
function altered<B extends BlockBundle | InclusionBundle>(bundle: B, change: (bundle: B) => void): B {
  const copy = structuredClone(bundle);
  change(copy);
  const { signature: _, ...unsigned } = copy;
  return signBundle(attestor, unsigned) as unknown as B;
}

const inclusionWith = (bundle: InclusionBundle, members: object) =>
  altered(bundle, (copy) => Object.assign(copy.inclusion, members));
const blockWith = (bundle: BlockBundle, members: object) =>
  altered(bundle, (copy) => Object.assign(copy.block, members));
const blockNote = (from: string | RegExp, to: string) =>
  altered(block, ({ attest }) => {
    attest.note = attest.note.replace(from, to);
  });
const proofOf = (bundle: InclusionBundle) => bundle.inclusion as unknown as Record<"siblings" | "nodes", string[]>;
const { receipt } = baseInclusion.inclusion as { receipt: { bytesBase64: string; nodes: string[] } };

/** Bundles about blocks, as above. */
const blockCases: [name: string, verified: boolean, bundle: BlockBundle | InclusionBundle | string, keys?: object][] = [
  ["an Algorand block", true, block],
  ["a Base block", true, baseBlock],
  ["a block of a sandbox, by the sandbox's keys", true, testBlockBundle({ ledger: SANDBOX }), sandbox],
  ["a block of a sandbox, by other keys", false, testBlockBundle({ ledger: SANDBOX })],
  ["a block by a stranger", false, testBlockBundle({ attestor: stranger })],
  ["a block of a revoked key", false, block, revoked],
  ["a block with a changed round", false, { ...block, attest: { ...block.attest, round: 1001 } }],
  ["another height", false, blockWith(block, { height: 257 })],
  ["another height, of Base", false, blockWith(baseBlock, { height: 1 })],
  ["another block hash", false, blockWith(block, { blockHash: inclusion.source.txnId })],
  ["another hash of the header", false, blockWith(block, { hashSha256: "0".repeat(64) })],
  ["another header", false, blockWith(block, { headerBase64: baseBlock.block.headerBase64 })],
  ["another chain", false, blockWith(block, { chain: "base" })],
  ["a chain that is none", false, blockWith(block, { chain: "toString" })],
  ["another type", false, altered(block, (bundle) => Object.assign(bundle, { type: "tx-inclusion" }))],
  ["a block with an unknown member", false, blockWith(block, { extra: 1 })],
  ["a block with another height in its note", false, blockNote('"n":256', '"n":257')],
  ["a block with another hash in its note", false, blockNote(/"b":"../, '"b":"AA')],
  ["an Algorand block at another level", false, blockNote("finalized", "safe")],
  ["a height twice", false, blockText.replace('"height":256', '"height":1,"height":256')],
  ["an inclusion in a vector commitment", true, inclusion],
  ["an inclusion in a block of one", true, testInclusionBundle({ block: testAlgorandBlock(1) })],
  ["an inclusion in a plain tree", true, testInclusionBundle({ block: blocks.old, index: 4 })],
  ["an inclusion with a light header", true, withLightHeader],
  ["an inclusion without source.chain", true, altered(inclusion, ({ source }) => delete source.chain)],
  ["an inclusion with other spacing", true, JSON.stringify(inclusion, null, 2)],
  ["an inclusion in Base", true, baseInclusion],
  ["an inclusion of Base's first", true, testInclusionBundle({ block: blocks.base, index: 0 })],
  ["an inclusion of Base's second", true, testInclusionBundle({ block: blocks.base, index: 1 })],
  ["an inclusion in a Base block of one", true, testInclusionBundle({ block: small })],
  [
    "an inclusion without a receipt",
    true,
    altered(baseInclusion, ({ inclusion: proof }) => delete (proof as { receipt?: object }).receipt),
  ],
  ["another index", false, inclusionWith(inclusion, { index: 2 })],
  ["an index beyond the tree", false, inclusionWith(inclusion, { index: 11 })],
  ["another tree", false, inclusionWith(inclusion, { tree: "txn" })],
  ["another stib", false, inclusionWith(inclusion, { stibBase64: "gA==" })],
  ["a sibling too few", false, inclusionWith(inclusion, { siblings: proofOf(inclusion).siblings.slice(1) })],
  ["siblings out of order", false, inclusionWith(inclusion, { siblings: proofOf(inclusion).siblings.toReversed() })],
  ["another's transaction", false, altered(inclusion, (bundle) => Object.assign(bundle, { source: algorand.source }))],
  [
    "another transaction's id",
    false,
    altered(inclusion, ({ source }) => {
      source.txnId = algorand.source.txnId;
    }),
  ],
  ["another index in a Base block of one", false, inclusionWith(testInclusionBundle({ block: small }), { index: 1 })],
  ["another index in Base", false, inclusionWith(baseInclusion, { index: 151 })],
  ["a node too few", false, inclusionWith(baseInclusion, { nodes: proofOf(baseInclusion).nodes.slice(0, -1) })],
  ["a node too many", false, inclusionWith(baseInclusion, { nodes: [...proofOf(baseInclusion).nodes, "wA=="] })],
  ["nodes out of order", false, inclusionWith(baseInclusion, { nodes: proofOf(baseInclusion).nodes.toReversed() })],
  ["no nodes", false, inclusionWith(baseInclusion, { nodes: [] })],
  ["another receipt", false, inclusionWith(baseInclusion, { receipt: { ...receipt, bytesBase64: "AsA=" } })],
  [
    "a receipt by the transaction's nodes",
    false,
    inclusionWith(baseInclusion, { receipt: { ...receipt, nodes: proofOf(baseInclusion).nodes } }),
  ],
  ["a receipt with an unknown member", false, inclusionWith(baseInclusion, { receipt: { ...receipt, extra: 1 } })],
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-verify-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | object): string {
  const path = join(folder, name.replace(/\W/g, "-"));
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** Exit code of an independent verifier. */
function run(verifier: string, bundle: string, keys: string): Promise<number | string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [verifier, bundle, keys], (error) => resolve(error ? (error.code ?? "killed") : 0));
  });
}

it.concurrent.each(cases)(
  "%s: the independent verifier and ours say %s",
  async (name, verified, bundle, keys = history) => {
    expect(await run(VERIFIER, write(`${name}.json`, bundle), write(`${name}.keys.json`, keys))).toBe(verified ? 0 : 1);
    const trust = parseKeyHistory(keys);
    const input = typeof bundle === "string" ? bundle : JSON.stringify(bundle);
    const ours = () => verify(input, { trust }).verified;
    if (name === "no JSON") expect(ours).toThrow();
    else expect(ours()).toBe(verified);
  },
);

it.concurrent.each(blockCases)(
  "%s: the independent verifier of blocks and ours say %s",
  async (name, verified, bundle, keys = history) => {
    expect(await run(BLOCK_VERIFIER, write(`${name}.json`, bundle), write(`${name}.keys.json`, keys))).toBe(
      verified ? 0 : 1,
    );
    const input = typeof bundle === "string" ? bundle : JSON.stringify(bundle);
    expect(verify(input, { trust: parseKeyHistory(keys) }).verified).toBe(verified);
  },
);
