import { decodeMsgpackMap, getInteger } from "../algorand/msgpack.ts";
import { ALGORAND_MAINNET } from "../algorand/network.ts";
import { decodeBaseHeader } from "../base/header.ts";
import { decodeQuantity } from "../base/rlp.ts";
import { type Bundle, noteOf } from "../bundle.ts";
import type { ChainFormat, Level } from "../chain-format.ts";
import { chainOf } from "../chains.ts";
import { fromBase64, toHex } from "../encoding.ts";
import { attempt } from "../errors.ts";
import { levelOf } from "../level.ts";
import type { VerifyReport } from "../report.ts";
import { describeAlgorandTransaction } from "./algorand.ts";
import { describeBaseTransaction } from "./base.ts";
import { type Description, unknownTransaction } from "./description.ts";

/** Reads a chain's bytes for people. For a chain without a reader only its ids are shown. */
type Reader = {
  describe(transaction: Uint8Array, ledger: string): Description;
  /** Unix seconds. */
  headerTime(header: Uint8Array): bigint;
};

const READERS: Readonly<Record<string, Reader>> = {
  algorand: {
    describe: describeAlgorandTransaction,
    headerTime: (header) => getInteger(decodeMsgpackMap(header), "ts"),
  },
  base: {
    describe: describeBaseTransaction,
    headerTime: (header) => decodeQuantity(decodeBaseHeader(header).fields.get("timestamp") as Uint8Array),
  },
};

/** What a bundle attests, for people: plain data. */
export type Subject = {
  chain: Pick<ChainFormat, "name" | "label" | "transactionsCanFail">;
  /** The chain in a sentence: `Base`, or `the sandbox's Base`. */
  place: string;
  transaction?: { id: string } & Description;
  /** The block of a block's attestation or of an inclusion. `time`: Unix seconds, by its header. */
  block?: { height: number; hash: string; time?: number };
  /** The attested SHA-256, hex: of the block's header if there is a block, else of the transaction. */
  fingerprint: string;
  /** How final the block was on its chain; undefined if the note is malformed. */
  level?: Level;
  /** The batch that contains it: the item's position from 1, the number of items, and the root in the note, hex. */
  batch?: { place: number; size: number; root: string };
};

/** How a transaction ended. `not_applicable`: this chain's blocks hold no failed transactions. */
export type Outcome = "succeeded" | "failed" | "not_applicable" | "unknown";

/** Where and how a transaction ended, as far as known. `time`: Unix seconds. */
export type Circumstances = { block?: { height: number; hash: string; time?: number }; outcome: Outcome };

/**
 * Describes what a bundle states. Bytes that are not a transaction are not an error here: the checks report them.
 * @param bundle of `parseBundle`
 */
export function subjectOf(bundle: Bundle): Subject {
  const { name, label, transactionsCanFail } = chainOf(bundle);
  const note = noteOf(bundle);
  // A malformed note names no ledger.
  const ledger = note?.g ?? "";
  const level = levelOf(bundle, note);
  const reader = READERS[name];
  const headerTime = "block" in bundle && reader ? safeTime(reader, bundle.block.headerBase64) : undefined;
  return {
    chain: { name, label, transactionsCanFail },
    place: ledger === ALGORAND_MAINNET ? label : `the sandbox's ${label}`,
    ...("source" in bundle && {
      transaction: { id: bundle.source.txnId, ...describe(reader, bundle.source.txnBytesBase64, ledger) },
    }),
    ...("block" in bundle && {
      block: {
        height: bundle.block.height,
        hash: bundle.block.blockHash,
        ...(headerTime !== undefined && { time: headerTime }),
      },
    }),
    fingerprint: "block" in bundle ? bundle.block.hashSha256 : bundle.source.hashSha256,
    ...(level && { level }),
    ...("batch" in bundle && {
      batch: {
        place: bundle.proof.index + 1,
        size: bundle.batch.size,
        root: toHex(fromBase64(bundle.batch.root)),
      },
    }),
  };
}

/**
 * Returns block, time and outcome of the attested transaction or block, from the note or from the header and receipt.
 * @param report of `verify` for the same bundle. Show it as true only if the bundle is verified.
 */
export function circumstancesOf(subject: Subject, report: Pick<VerifyReport, "statement" | "receipt">): Circumstances {
  const { statement, receipt } = report;
  const block = statement?.block ?? subject.block;
  const unstated = subject.chain.transactionsCanFail ? "unknown" : "not_applicable";
  const outcome = statement?.outcome ?? receipt?.status ?? unstated;
  return { ...(block && { block }), outcome };
}

function describe(reader: Reader | undefined, bytesBase64: string, ledger: string): Description {
  const described = reader && attempt("malformed", () => reader.describe(fromBase64(bytesBase64), ledger));
  return described ?? unknownTransaction("Transaction");
}

function safeTime({ headerTime }: Reader, headerBase64: string): number | undefined {
  const time = attempt("malformed", () => Number(headerTime(fromBase64(headerBase64))));
  return Number.isSafeInteger(time) ? time : undefined;
}
