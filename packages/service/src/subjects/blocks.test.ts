import { ALGORAND_MAINNET, type Inclusion, parseNote, type SignedBundle, verify } from "@attestd/proof";
import { blockHash, decodeMsgpackMap, headerRound, txid } from "@attestd/proof/algorand";
import { paymentCommitment } from "@attestd/proof/attestor";
import { type BaseInclusion, baseHeaderHash, baseTxHash, decodeBaseHeader } from "@attestd/proof/base";
import { toBase64 } from "@attestd/proof/encoding";
import { describe, expect, it } from "vitest";
import {
  signBundle,
  type TestBlock,
  testAlgorandBlock,
  testAttestor,
  testBaseBlock,
  testHistory,
} from "../../../../test/bundles/bundles.ts";
import { chainOf } from "../../test/fakes/source-chain.ts";
import type { ChainName, ConfirmationLevel, SourceBlock, SourceChain, SourceTransaction } from "../chains/chain.ts";
import type { Evidence, Product } from "./product.ts";
import { createProducts } from "./products.ts";
import type { Subject } from "./subject.ts";

const never = new AbortController().signal;
const attestor = testAttestor();
const CONTEXT = { keySha256: attestor.keySha256, ledger: ALGORAND_MAINNET, paymentKey: "payment" };

const MADE = { algorand: testAlgorandBlock(4), base: testBaseBlock(4) };
const CAIP2 = { algorand: ALGORAND_MAINNET, base: "eip155:8453" };
const idOf = (chain: ChainName, bytes: Uint8Array) => (chain === "base" ? baseTxHash(bytes) : txid(bytes));

type Over = Partial<SourceBlock> & { inclusion?: (inclusion: Inclusion) => Inclusion };

/** Returns a made-up block as a chain's reader returns it. */
function sourceBlock({ chain, header, transactions, prove }: TestBlock, over: Over = {}): SourceBlock {
  const { inclusion: change = (same) => same, ...members } = over;
  return {
    chain,
    caip2: CAIP2[chain],
    height: heightOf(chain, header),
    blockHash: chain === "base" ? baseHeaderHash(header) : blockHash(header),
    header,
    level: "finalized",
    async find(txnId) {
      const index = transactions.findIndex((bytes) => idOf(chain, bytes) === txnId);
      const bytes = transactions[index];
      return bytes && { prove: async () => ({ bytes, inclusion: change(prove(index)) }) };
    },
    ...members,
  };
}

const heightOf = (chain: ChainName, header: Uint8Array) =>
  chain === "base" ? decodeBaseHeader(header).number : headerRound(decodeMsgpackMap(header));

function productsOf(source: SourceChain, name: ChainName = "base") {
  return createProducts(new Map([[name, source]]));
}

/** Makes the signed bundle of a product for a subject. */
async function bundleOf(product: Product, subject: Subject): Promise<{ evidence: Evidence; bundle: SignedBundle }> {
  const evidence = await product.evidence(subject, never);
  const unsigned = product.bundle(evidence, {
    attest: { txnId: `${"A".repeat(51)}Q`, round: 1000, note: product.note(evidence, CONTEXT) },
    attestor: { algorandAddress: attestor.algorandAddress, pqPublicKey: toBase64(attestor.publicKey) },
  });
  // As read from the journal.
  return { evidence, bundle: signBundle(attestor, JSON.parse(JSON.stringify(unsigned))) };
}

const verified = (bundle: SignedBundle) => verify(JSON.stringify(bundle), { trust: testHistory() });

describe.each(["algorand", "base"] as const)("of %s", (chain) => {
  const made = MADE[chain];
  const block = sourceBlock(made);
  const { height } = block;
  const products = productsOf(chainOf([block]), chain);

  it("a block makes a bundle that verifies, and a note of its header", async () => {
    const { bundle } = await bundleOf(products.block, { kind: "block", chain, height });
    expect(verified(bundle)).toMatchObject({ verified: true, type: "block-attestation", failures: [] });
    expect(parseNote(bundle.attest.note)).toMatchObject({
      b: block.blockHash,
      c: CAIP2[chain],
      l: "finalized",
      n: height,
      p: paymentCommitment("payment"),
    });
  });

  it("each transaction's inclusion makes a bundle that verifies, and the note of its block", async () => {
    const { bundle: ofBlock } = await bundleOf(products.block, { kind: "block", chain, height });
    for (const bytes of made.transactions) {
      const subject: Subject = { kind: "inclusion", chain, id: idOf(chain, bytes), height };
      const { bundle } = await bundleOf(products.inclusion, subject);
      expect(verified(bundle)).toMatchObject({ verified: true, type: "tx-inclusion", failures: [] });
      expect(bundle.attest.note).toBe(ofBlock.attest.note);
      expect(Object.keys(bundle)).toEqual([
        "type",
        "version",
        "network",
        "block",
        "source",
        "inclusion",
        "attest",
        "attestor",
        "signature",
      ]);
    }
  });
});

describe("what is refused before anything is charged, and only that:", () => {
  const chain = "base";
  const made = MADE.base;
  const { height } = sourceBlock(made);
  const id = baseTxHash(made.transactions[1] as Uint8Array);
  const inclusion = { kind: "inclusion", chain, id, height } as const;
  const elsewhere = (at: number): SourceTransaction => ({
    chain,
    caip2: CAIP2.base,
    txnId: "0xelsewhere",
    bytes: new Uint8Array(1),
    level: "finalized",
    block: { hash: "0xblock", height: at, time: 1_780_000_000 },
  });

  it.each<[ConfirmationLevel, ConfirmationLevel, boolean]>([
    ["included", "finalized", false],
    ["safe", "finalized", false],
    ["included", "safe", false],
    ["safe", "safe", true],
    ["finalized", "included", true],
  ])("a block that is %s where %s is needed", async (level, needed, sold) => {
    const products = productsOf(chainOf([sourceBlock(made, { level })], [], { required: needed }));
    for (const [product, subject] of [
      [products.block, { kind: "block", chain, height }],
      [products.inclusion, inclusion],
    ] as const) {
      const evidence = product.evidence(subject, never);
      if (sold) expect(await evidence).toMatchObject({ level });
      else await expect(evidence).rejects.toMatchObject({ code: "source_not_final", retryAfter: expect.any(Number) });
    }
  });

  it("a proof is not built before the level has been seen to be enough", async () => {
    let built = 0;
    const count = (same: Inclusion) => {
      built++;
      return same;
    };
    const block = sourceBlock(made, { level: "safe", inclusion: count });
    const products = productsOf(chainOf([block]));
    await expect(products.inclusion.evidence(inclusion, never)).rejects.toMatchObject({ code: "source_not_final" });
    expect(built).toBe(0);
  });

  it("a transaction in another block, saying which", async () => {
    const products = productsOf(chainOf([sourceBlock(made, { level: "included" })], [elsewhere(height - 5)]));
    for (const named of [height, height + 1_000_000])
      await expect(
        products.inclusion.evidence({ ...inclusion, id: "0xelsewhere", height: named }, never),
      ).rejects.toMatchObject({ code: "source_elsewhere", members: { height: height - 5 } });
  });

  it("a transaction that nodes see in the block and not in it", async () => {
    const products = productsOf(chainOf([sourceBlock(made)], [elsewhere(height)]));
    await expect(products.inclusion.evidence({ ...inclusion, id: "0xelsewhere" }, never)).rejects.toMatchObject({
      code: "providers_unavailable",
    });
  });

  it("an unknown transaction, a height above the chain, a chain that is not configured", async () => {
    const products = productsOf(chainOf([sourceBlock(made)]));
    const refused = [
      [products.inclusion, { ...inclusion, id: "0xunknown" }, "source_not_found"],
      [products.inclusion, { ...inclusion, height: height + 1 }, "source_not_found"],
      [products.block, { kind: "block", chain, height: height + 1 }, "block_not_found"],
      [products.block, { kind: "block", chain: "algorand", height: 1 }, "source_wrong_chain"],
      [products.inclusion, { ...inclusion, chain: "algorand" }, "source_wrong_chain"],
    ] as const;
    for (const [product, subject, code] of refused)
      await expect(product.evidence(subject, never)).rejects.toMatchObject({ code });
  });

  const bulky = (bytes: number) => toBase64(new Uint8Array(bytes));
  const withNode = (bytes: number) => (same: Inclusion) =>
    ({ ...same, nodes: [bulky(bytes)], receipt: { bytesBase64: "AA==", nodes: [] } }) as BaseInclusion;
  const withReceipt = (bytes: number) => (same: Inclusion) =>
    ({ ...same, receipt: { bytesBase64: bulky(bytes), nodes: [] } }) as BaseInclusion;

  it("a bundle that the verify routes would not take", async () => {
    const block = sourceBlock(made, { inclusion: withNode(1_600_000) });
    const products = productsOf(chainOf([block]));
    await expect(products.inclusion.evidence(inclusion, never)).rejects.toMatchObject({ code: "source_too_large" });
  });

  it("but not one that fits, with 1.5 MB in one node, nor one whose receipt alone is too large", async () => {
    const large = productsOf(chainOf([sourceBlock(made, { inclusion: withNode(1_500_000) })]));
    const { bundle } = await bundleOf(large.inclusion, inclusion);
    expect(JSON.stringify(bundle).length).toBeLessThan(2 * 1024 * 1024);
    expect("inclusion" in bundle && "receipt" in bundle.inclusion).toBe(true);

    const verbose = productsOf(chainOf([sourceBlock(made, { inclusion: withReceipt(1_600_000) })]));
    const { bundle: bare } = await bundleOf(verbose.inclusion, inclusion);
    expect("inclusion" in bare && "receipt" in bare.inclusion).toBe(false);
    expect(verified(bare).verified).toBe(true);
  });
});
