import { decodeRlp } from "@attestd/proof/base";
import { fromBase64, toHex } from "@attestd/proof/encoding";
import algosdk from "algosdk";
import { parseGwei, serializeTransaction } from "viem";
import { recordedBlocks, recordedLightHeaders } from "../../../packages/proof/test/recorded.ts";
import { testAlgorandBlock, testBaseBlock, testPayment } from "../../../test/bundles/bundles.ts";
import { algorandBlock, replayedBlocks } from "../replayed.ts";
import { type Rlp, toRlp } from "./rlp.ts";

/* What is altered: transactions by stock libraries, small blocks of the tests, and what real nodes recorded. */

export type Corpus = {
  algorand: { transactions: Uint8Array[]; headers: Uint8Array[]; entries: Uint8Array[] };
  base: { transactions: Uint8Array[]; headers: Uint8Array[]; receipts: Uint8Array[] };
};

/** @param replays folders of recorded blocks, as a sandbox replays them */
export function makeCorpus(replays: string[]): Corpus {
  const recorded = [...recordedBlocks, ...recordedLightHeaders].map(({ block }) => algorandBlock(fromBase64(block)));
  const made = [testAlgorandBlock(5), testAlgorandBlock(5, "txn"), testBaseBlock(3)];
  const blocks = [...made, ...recorded, ...replays.flatMap(replayedBlocks)];
  const of = (chain: string) => blocks.filter((block) => block.chain === chain);
  // Long ones, as of state proofs, say no more than short ones and take their time.
  const short = (all: Uint8Array[]) =>
    [...new Map(all.map((bytes) => [toHex(bytes), bytes])).values()].filter(({ length }) => length < 3000);
  const stibs = of("algorand").flatMap(({ transactions, prove }) =>
    transactions.map((_, index) => {
      const proof = prove(index);
      return fromBase64("stibBase64" in proof ? proof.stibBase64 : "");
    }),
  );
  return {
    algorand: {
      transactions: short([...byAlgosdk(), ...of("algorand").flatMap(({ transactions }) => transactions)]),
      headers: short(of("algorand").map(({ header }) => header)),
      entries: short(stibs),
    },
    base: {
      transactions: short([...byViem(), DEPOSIT, ...OPAQUE, ...of("base").flatMap(({ transactions }) => transactions)]),
      headers: short(of("base").flatMap(({ header }) => shorter(header))),
      receipts: RECEIPTS,
    },
  };
}

/** Headers of every fork: forks have only ever appended fields. */
function shorter(header: Uint8Array): Uint8Array[] {
  const fields = decodeRlp(header) as Rlp[];
  return [15, 16, 17, 20, 21].filter((count) => count <= fields.length).map((count) => toRlp(fields.slice(0, count)));
}

function byAlgosdk(): Uint8Array[] {
  const [sender, receiver] = [1, 2].map((byte) => algosdk.encodeAddress(new Uint8Array(32).fill(byte))) as [
    string,
    string,
  ];
  const genesisHash = fromBase64("wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=");
  const suggestedParams = {
    fee: 1000,
    minFee: 1000,
    flatFee: true,
    firstValid: 1,
    lastValid: 70_000,
    genesisID: "mainnet-v1.0",
    genesisHash,
  };
  const common = { sender, suggestedParams };
  const transactions = [
    algosdk.makePaymentTxnWithSuggestedParamsFromObject({
      ...common,
      receiver,
      amount: 2n ** 63n,
      note: new Uint8Array(300),
    }),
    algosdk.makePaymentTxnWithSuggestedParamsFromObject({
      ...common,
      receiver,
      amount: 0,
      closeRemainderTo: receiver,
      lease: new Uint8Array(32).fill(4),
    }),
    algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
      ...common,
      receiver,
      amount: 7,
      assetIndex: 31_566_704,
    }),
    algosdk.makeAssetCreateTxnWithSuggestedParamsFromObject({
      ...common,
      total: 2n ** 64n - 1n,
      decimals: 6,
      defaultFrozen: true,
      assetName: "Dëmo",
      unitName: "D",
    }),
    algosdk.makeApplicationNoOpTxnFromObject({
      ...common,
      appIndex: 9,
      appArgs: [new Uint8Array(), new Uint8Array(40)],
      foreignApps: [1, 2],
      boxes: [
        { appIndex: 0, name: new Uint8Array(2) },
        { appIndex: 2, name: new Uint8Array() },
      ],
    }),
    algosdk.makeApplicationCreateTxnFromObject({
      ...common,
      onComplete: 0,
      approvalProgram: Uint8Array.of(6, 129, 1),
      clearProgram: Uint8Array.of(6, 129, 1),
      numGlobalInts: 2,
      numGlobalByteSlices: 0,
      numLocalInts: 0,
      numLocalByteSlices: 1,
    }),
  ];
  return [...transactions.map((transaction) => transaction.toByte()), testPayment()];
}

function byViem(): Uint8Array[] {
  const to = `0x${"07".repeat(20)}` as const;
  const fees = { maxFeePerGas: parseGwei("2"), maxPriorityFeePerGas: 1n };
  const common = { chainId: 8453, nonce: 1, gas: 21_000n, to, value: 5n };
  const word = `0x${"09".repeat(32)}` as const;
  const accessList = [{ address: to, storageKeys: [word] }];
  const signature = { r: word, s: word, yParity: 1 } as const;
  const texts = [
    serializeTransaction({ ...common, type: "legacy", gasPrice: 1n }, { ...signature, v: 16_941n }),
    serializeTransaction({ ...common, chainId: undefined, type: "legacy", gasPrice: 1n }, { ...signature, v: 27n }),
    serializeTransaction({ ...common, type: "eip2930", gasPrice: 1n, accessList }, signature),
    serializeTransaction({ ...common, type: "eip1559", ...fees, data: "0xa9059cbb" }, signature),
    serializeTransaction({ ...common, chainId: 1, type: "eip1559", ...fees, to: null, data: "0x00" }, signature),
    serializeTransaction(
      { ...common, type: "eip4844", ...fees, maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${"00".repeat(31)}`] },
      signature,
    ),
    serializeTransaction(
      {
        ...common,
        type: "eip7702",
        ...fees,
        authorizationList: [{ address: to, chainId: 8453, nonce: 0, ...signature }],
      },
      signature,
    ),
  ];
  return texts.map((text) => new Uint8Array(Buffer.from(text.slice(2), "hex")));
}

const NOTHING = new Uint8Array();
const [ADDRESS, WORD] = [new Uint8Array(20).fill(7), new Uint8Array(32).fill(9)];
/** Of the OP Stack. */
const DEPOSIT = Uint8Array.of(
  0x7e,
  ...toRlp([WORD, ADDRESS, NOTHING, Uint8Array.of(1), NOTHING, Uint8Array.of(0x52, 8), NOTHING, WORD]),
);
/** Of types that are not known, long and short, also shorter than a hash. */
const OPAQUE = [Uint8Array.of(5, 0xc0), Uint8Array.of(0x7f), Uint8Array.of(0x7d, ...WORD, ...WORD)];
const LOG: Rlp = [ADDRESS, [WORD], WORD];
/** By type: those of today, one from before EIP-658, deposits with their nonce, and what is none. */
const RECEIPTS = [
  Uint8Array.of(2, ...toRlp([Uint8Array.of(1), Uint8Array.of(0x52, 8), new Uint8Array(256), []])),
  Uint8Array.of(2, ...toRlp([NOTHING, Uint8Array.of(0x52, 8), new Uint8Array(256), []])),
  toRlp([Uint8Array.of(1), Uint8Array.of(0x52, 8), new Uint8Array(256), [LOG]]),
  toRlp([WORD, Uint8Array.of(0x52, 8), new Uint8Array(256), []]),
  Uint8Array.of(
    0x7e,
    ...toRlp([Uint8Array.of(1), Uint8Array.of(0x52, 8), new Uint8Array(256), [], Uint8Array.of(7), Uint8Array.of(1)]),
  ),
  Uint8Array.of(3, ...toRlp([Uint8Array.of(1), Uint8Array.of(0x52, 8), new Uint8Array(256), []])),
  Uint8Array.of(2, 0xc0),
  Uint8Array.of(0xc0),
  Uint8Array.of(1),
];
