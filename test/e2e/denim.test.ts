import { type InclusionBundle, type ProofBundle, parseKeyHistory, verify } from "@attestd/proof";
import { createMerkleProof, createMPT, type MerklePatriciaTrie, verifyMPTWithMerkleProof } from "@ethereumjs/mpt";
import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { concatHex, type Hex, hexToBytes, keccak256, numberToHex, toRlp } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { parseTransaction, serializeTransaction } from "viem/op-stack";
import { afterAll, expect, test } from "vitest";
import { fromBase64, toHex } from "../../packages/proof/src/encoding.ts";
import { BaseSource } from "../../packages/service/src/chains/base/source.ts";
import { type BlockOfBase, nodeWith } from "../../packages/service/test/fakes/base-block.ts";
import { startRpcs } from "../../packages/service/test/fakes/base-providers.ts";
import type { Upstream } from "../../packages/service/test/fakes/providers.ts";
import { payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";

/*
 * Blocks as Base makes them since Denim: two deposits at the start of each, the L1 attributes and BaseTime, and five to a
 * second, with `timestampMs` in JSON alone (base/docs, upgrades/denim/200ms-blocks). No recording of one is at hand. So the
 * bytes are made by viem, and the roots and proofs by @ethereumjs/mpt; and the sandbox's anvil makes such blocks.
 */
const NUMBER = 60_000_000;
const SECOND = 1_794_000_000;
const SYSTEM = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001";
const ZERO = `0x${"00".repeat(32)}` as const;
const BLOOM = `0x${"00".repeat(256)}` as const;
const account = privateKeyToAccount(generatePrivateKey());
const never = new AbortController().signal;
const open: Upstream[] = [];
afterAll(() => Promise.all(open.map((upstream) => upstream.close())));

/** RLP's form of a number. */
const quantity = (value: number): Hex =>
  value === 0 ? "0x" : numberToHex(value, { size: Math.ceil(value.toString(16).length / 2) });

function deposit(sourceHash: Hex, to: Hex, data: Hex) {
  const fields = { sourceHash, from: SYSTEM, to, value: 0n, gas: 1_000_000n, isSystemTx: false, data } as const;
  const raw = serializeTransaction({ type: "deposit", ...fields });
  const { data: input, ...others } = fields;
  const json = { ...others, type: "0x7e", hash: keccak256(raw), input, mint: "0x0", value: "0x0", gas: "0xf4240" };
  return { raw, json };
}

async function trieOf(items: readonly Hex[]): Promise<MerklePatriciaTrie> {
  const trie = await createMPT();
  for (const [index, item] of items.entries()) await trie.put(hexToBytes(toRlp(quantity(index))), hexToBytes(item));
  return trie;
}

/** The receipt after that much gas in the block, as JSON: of a deposit, or of the payment after them. */
function receiptJson(gas: number, index: number) {
  const common = { status: "0x1", cumulativeGasUsed: numberToHex(gas), logsBloom: BLOOM, logs: [] };
  if (index > 1) return { type: "0x2", ...common, daFootprintGasScalar: "0x190", blobGasUsed: "0x0" };
  return { type: "0x7e", ...common, depositNonce: numberToHex(NUMBER + index), depositReceiptVersion: "0x1" };
}

/** One of the five blocks of a second. */
async function denimBlock(fifth: number) {
  const timestampMs = numberToHex(SECOND * 1000 + fifth * 200);
  const attributes = deposit(
    keccak256(numberToHex(fifth, { size: 32 })),
    "0x4200000000000000000000000000000000000015",
    `0x3db6be2b${"00".repeat(176)}`,
  );
  const baseTime = deposit(
    keccak256(numberToHex(fifth, { size: 33 })),
    "0x4200000000000000000000000000000000000030",
    concatHex(["0x86bdf394", numberToHex(fifth * 200, { size: 32 })]),
  );
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gas: 21_000n };
  const payment = await account.signTransaction({ chainId: 8453, nonce: fifth, to: account.address, ...fees });
  const raws = [attributes.raw, baseTime.raw, payment];
  const used = [46_000, 66_000, 87_000];
  const receipts = used.map((gas, i): Hex => {
    const common = ["0x01", quantity(gas), BLOOM, []] as const;
    return i < 2
      ? concatHex(["0x7e", toRlp([...common, quantity(NUMBER + i), "0x01"])])
      : concatHex(["0x02", toRlp([...common])]);
  });
  const [transactions, outcomes] = [await trieOf(raws), await trieOf(receipts)];

  const quantities = {
    number: NUMBER + fifth,
    gasLimit: 400_000_000,
    gasUsed: 87_000,
    timestamp: SECOND,
    baseFeePerGas: 1,
  };
  const members: [string, Hex][] = [
    ["parentHash", keccak256(numberToHex(NUMBER + fifth))],
    ["sha3Uncles", keccak256("0xc0")],
    ["miner", "0x4200000000000000000000000000000000000011"],
    ["stateRoot", ZERO],
    ["transactionsRoot", `0x${toHex(transactions.root())}`],
    ["receiptsRoot", `0x${toHex(outcomes.root())}`],
    ["logsBloom", BLOOM],
    ["difficulty", "0x0"],
    ...(["number", "gasLimit", "gasUsed", "timestamp"] as const).map(
      (name) => [name, numberToHex(quantities[name])] as [string, Hex],
    ),
    // Jovian: version, denominator, elasticity, minimum base fee.
    ["extraData", `0x01${"00000032"}${"00000006"}${"00".repeat(8)}`],
    ["mixHash", ZERO],
    ["nonce", "0x0000000000000000"],
    ["baseFeePerGas", "0x1"],
    ["withdrawalsRoot", ZERO],
    ["blobGasUsed", "0x0"],
    ["excessBlobGas", "0x0"],
    ["parentBeaconBlockRoot", ZERO],
    ["requestsHash", ZERO],
  ];
  const numeric = new Set([
    "difficulty",
    "number",
    "gasLimit",
    "gasUsed",
    "timestamp",
    "baseFeePerGas",
    "blobGasUsed",
    "excessBlobGas",
  ]);
  const rlp = toRlp(members.map(([name, hex]) => (numeric.has(name) ? quantity(Number(hex)) : hex)));
  const hash = keccak256(rlp);
  const ids = raws.map((raw) => keccak256(raw));
  const block: BlockOfBase = {
    hash,
    header: { ...Object.fromEntries(members), timestampMs, size: "0x400", uncles: [] },
    transactions: [
      { hash: ids[0] as string, json: { ...attributes.json, blockTimestampMs: timestampMs } },
      { hash: ids[1] as string, json: { ...baseTime.json, blockTimestampMs: timestampMs } },
      { hash: ids[2] as string, raw: payment },
    ],
    // Some nodes give receipts as bytes, and some as JSON.
    ...(fifth % 2 ? { rawReceipts: receipts } : { receipts: used.map(receiptJson) }),
  };
  return { block, rlp, ids, raws, receipts, transactions, outcomes };
}

test("five blocks of one second, each with two deposits, are read and proven as @ethereumjs/mpt proves them", async () => {
  const hashes = new Set<string>();
  for (const fifth of [0, 1, 2, 3, 4]) {
    const { block, rlp, ids, raws, receipts, transactions, outcomes } = await denimBlock(fifth);
    const { rpcs, upstreams } = await startRpcs(nodeWith(block));
    open.push(...upstreams);
    const conflicts: unknown[] = [];
    const source = new BaseSource({ nodes: { rpcs, rules: { onConflict: (conflict) => conflicts.push(conflict) } } });
    const read = await source.block(NUMBER + fifth, never);
    expect([read.blockHash, `0x${toHex(read.header)}`]).toEqual([block.hash, rlp]);
    for (const [index, id] of ids.entries()) {
      const { bytes, inclusion } = await proven(read, id);
      const key = hexToBytes(toRlp(quantity(index)));
      expect(`0x${toHex(bytes)}`).toBe(raws[index]);
      expect(inclusion.index).toBe(index);
      expect(inclusion.nodes.map(decoded)).toEqual((await createMerkleProof(transactions, key)).map(toHex));
      expect(inclusion.receipt?.nodes.map(decoded)).toEqual((await createMerkleProof(outcomes, key)).map(toHex));
      expect(`0x${decoded(inclusion.receipt?.bytesBase64 ?? "")}`).toBe(receipts[index]);
    }
    hashes.add(read.blockHash);
    expect(conflicts).toEqual([]);
  }
  expect(hashes.size).toBe(5);
});

const decoded = (base64: string) => toHex(fromBase64(base64));

async function proven(block: Awaited<ReturnType<BaseSource["block"]>>, id: string) {
  const found = await block.find(id, never);
  const { bytes, inclusion } = (await found?.prove(never)) ?? {};
  if (!bytes || inclusion?.kind !== "mpt") throw new Error(`no proof of ${id}`);
  return { bytes, inclusion };
}

test("both deposits of a block of the sandbox are sold, and proven to the roots that anvil computed", async () => {
  const deployment = await startDeployment({ networks: ["base"], baseBlockMs: 200 });
  try {
    const { baseRpcUrl = "", payers, sampleTransactions } = deployment.sandbox;
    const body = { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber" };
    const asked = { ...body, params: [numberToHex(sampleTransactions.baseHeight as number), true] };
    const block = (await post(baseRpcUrl, asked)).json.result as SandboxBlock;
    const deposits = block.transactions.filter(({ type }) => type === "0x7e");
    expect(deposits.map(({ to, transactionIndex }) => [to, transactionIndex])).toEqual([
      ["0x4200000000000000000000000000000000000015", "0x0"],
      ["0x4200000000000000000000000000000000000030", "0x1"],
    ]);
    const keys = await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).text();
    const trust = parseKeyHistory(keys);
    // Settled on Base, in such blocks too.
    const payer = privateKeyToAccount(payers.base?.privateKey as Hex);
    const client = new x402Client().register("eip155:*", new ExactEvmScheme(payer));
    async function buy(path: string, request: object): Promise<string> {
      const url = deployment.url + path;
      const { status, text } = await payUntilAnswered(url, request, await sign(url, request, client));
      expect(status, text).toBe(200);
      expect(verify(text, { trust })).toMatchObject({ verified: true, failures: [] });
      return text;
    }
    for (const [index, { hash, from, input }] of deposits.entries()) {
      const { source }: ProofBundle = JSON.parse(await buy("/attest", { txid: hash, chain: "base" }));
      const bytes = `0x${decoded(source.txnBytesBase64)}` as const;
      expect(keccak256(bytes)).toBe(hash);
      expect(parseTransaction(bytes)).toMatchObject({ type: "deposit", from, data: input });

      const place = { chain: "base", txId: hash, height: sampleTransactions.baseHeight };
      const { inclusion }: InclusionBundle = JSON.parse(await buy("/prove-tx-inclusion", place));
      if (inclusion.kind !== "mpt" || !inclusion.receipt) throw new Error("no proof of a transaction and its receipt");
      expect(await provenValue(block.transactionsRoot, index, inclusion.nodes)).toBe(bytes);
      const receipt = `0x${decoded(inclusion.receipt.bytesBase64)}`;
      expect(await provenValue(block.receiptsRoot, index, inclusion.receipt.nodes)).toBe(receipt);
    }
  } finally {
    await deployment.close();
  }
});

type SandboxBlock = Record<"transactionsRoot" | "receiptsRoot", Hex> & {
  transactions: Record<"type" | "hash" | "from" | "to" | "input" | "transactionIndex", Hex>[];
};

/** What @ethereumjs/mpt finds at that index by those nodes under that root. */
async function provenValue(root: Hex, index: number, nodes: readonly string[]): Promise<string> {
  const key = hexToBytes(toRlp(quantity(index)));
  const value = await verifyMPTWithMerkleProof(await createMPT(), hexToBytes(root), key, nodes.map(fromBase64));
  return `0x${toHex(value ?? new Uint8Array())}`;
}
