import { serializeTransaction } from "viem";
import { describe, expect, it } from "vitest";
import { vectors } from "../../test/vectors.ts";
import { fromHex, toHex } from "../encoding.ts";
import { encodeRlp, type RlpItem } from "./rlp.ts";
import { BASE_HASH, baseTxHash, decodeBaseTransaction, transactionChainId } from "./transaction.ts";

const bytesOf = (hex: string) => fromHex(hex.slice(2));

describe("transactions of OP Stack blocks", () => {
  type Block = { chainId: number; transactions: { hash: string; raw: string }[] };
  const files = [
    "replay/base/blocks/op-sepolia-holocene-26207960.json",
    "replay/base/blocks/op-sepolia-holocene-26207961.json",
  ];
  const blocks = files.map((file) => vectors.json(file) as Block);

  it("have their hashes, types and chain ids", () => {
    const types = new Set<number>();
    for (const { chainId, transactions } of blocks) {
      for (const { hash, raw } of transactions) {
        const bytes = bytesOf(raw);
        expect(baseTxHash(bytes)).toBe(hash);
        const transaction = decodeBaseTransaction(bytes);
        types.add(transaction.type);
        expect(transactionChainId(transaction)).toBe(transaction.type === 0x7e ? undefined : BigInt(chainId));
      }
    }
    expect([...types].sort()).toEqual([0x00, 0x02, 0x7e].sort());
  });

  it("a deposit's fields are those of its JSON", () => {
    const { transactions } = vectors.json("base/opstack-canyon-block-274-full.json").block;
    const [deposit] = transactions;
    const { fields } = decodeBaseTransaction(bytesOf(deposit.raw));
    const field = (name: string) => `0x${toHex(fields?.get(name) as Uint8Array)}`;
    expect([field("sourceHash"), field("from"), field("to")]).toEqual([deposit.sourceHash, deposit.from, deposit.to]);
    expect([field("mint"), field("isSystemTx"), field("data")]).toEqual(["0x", "0x", deposit.data]);
    expect(baseTxHash(bytesOf(deposit.raw))).toBe(deposit.hash);
  });
});

describe("decodeBaseTransaction", () => {
  const signature = { r: `0x${"11".repeat(32)}`, s: `0x${"22".repeat(32)}`, yParity: 1 } as const;
  const common = { chainId: 8453, nonce: 5, gas: 21_000n, to: `0x${"33".repeat(20)}`, value: 1n } as const;
  const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
  const authorization = { address: common.to, chainId: 8453, nonce: 1, ...signature };

  it.each([
    [0, serializeTransaction({ ...common, type: "legacy", gasPrice: 1n }, { ...signature, v: 27n }), 8453n],
    [1, serializeTransaction({ ...common, type: "eip2930", gasPrice: 1n, accessList: [] }, signature), 8453n],
    [2, serializeTransaction({ ...common, type: "eip1559", ...fees }, signature), 8453n],
    [
      3,
      serializeTransaction(
        {
          ...common,
          type: "eip4844",
          ...fees,
          maxFeePerBlobGas: 7n,
          blobVersionedHashes: [`0x01${"44".repeat(31)}`],
          sidecars: false,
        },
        signature,
      ),
      8453n,
    ],
    [
      4,
      serializeTransaction({ ...common, type: "eip7702", ...fees, authorizationList: [authorization] }, signature),
      8453n,
    ],
  ])("takes type %i apart as viem put it together", (type, hex, chainId) => {
    const transaction = decodeBaseTransaction(bytesOf(hex));
    expect(transaction.type).toBe(type);
    expect(transaction.fields?.get("to")).toEqual(bytesOf(common.to));
    expect(transactionChainId(transaction)).toBe(chainId);
  });

  it("knows that a legacy transaction from before EIP-155 names no chain", () => {
    const { chainId: _, ...unbound } = common;
    const hex = serializeTransaction({ ...unbound, type: "legacy", gasPrice: 1n }, { ...signature, v: 28n });
    expect(transactionChainId(decodeBaseTransaction(bytesOf(hex)))).toBeUndefined();
  });

  it("leaves types that it does not know alone", () => {
    const opaque = decodeBaseTransaction(Uint8Array.of(0x79, 1, 2, 3));
    expect(opaque).toEqual({ type: 0x79, fields: undefined });
    expect(transactionChainId(opaque)).toBeUndefined();
  });

  const word = new Uint8Array(32).fill(1);
  const none = new Uint8Array();
  const one = Uint8Array.of(1);
  const deposit: RlpItem[] = [word, word.subarray(12), none, none, none, one, none, none];
  const typed = (type: number, fields: RlpItem[]) => Uint8Array.of(type, ...encodeRlp(fields));

  it.each<[string, Uint8Array]>([
    ["nothing", none],
    ["a byte that begins no transaction", Uint8Array.of(0x80)],
    ["a type byte before a legacy transaction", typed(0, Array(9).fill(one))],
    ["a legacy transaction of ten fields", encodeRlp(Array(10).fill(one))],
    ["a field too few", typed(0x7e, deposit.slice(1))],
    ["a field too many", typed(0x7e, [...deposit, none])],
    ["a hash of 31 bytes", typed(0x7e, deposit.with(0, word.subarray(1)))],
    ["an address of 19 bytes", typed(0x7e, deposit.with(1, word.subarray(13)))],
    ["no sender", typed(0x7e, deposit.with(1, none))],
    ["an integer that begins with zero", typed(0x7e, deposit.with(5, Uint8Array.of(0, 1)))],
    ["a list for an integer", typed(0x7e, deposit.with(5, [one]))],
    ["trailing bytes", Uint8Array.of(...typed(0x7e, deposit), 0)],
    ["no list", Uint8Array.of(2, 0x80)],
  ])("refuses %s", (_what, bytes) => {
    expect(() => decodeBaseTransaction(bytes)).toThrow(
      expect.objectContaining({ name: "ProofError", code: "malformed" }),
    );
  });
});

it("a hash has one spelling", () => {
  const hash = `0x${"ab".repeat(32)}`;
  expect(BASE_HASH.pattern.test(hash)).toBe(true);
  for (const bad of [hash.slice(2), hash.toUpperCase(), `${hash}0`, hash.slice(0, -1), `${hash}\n`])
    expect(BASE_HASH.pattern.test(bad)).toBe(false);
});
