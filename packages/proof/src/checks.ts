import { sha256 } from "@noble/hashes/sha2.js";
import { ALGORAND_MAINNET } from "./algorand/network.ts";
import { type Bundle, signingBytes } from "./bundle.ts";
import { type ChainFormat, compare, type Finding, LEDGER_POINTER } from "./chain-format.ts";
import { chainOf } from "./chains.ts";
import { fromBase64, toHex } from "./encoding.ts";
import { attempt, isProofError, type ProofError } from "./errors.ts";
import { type Note, parseNote, type TransactionNote } from "./note.ts";
import type { CheckName, Statement } from "./report.ts";
import { type Crypto, verifySignature } from "./signature.ts";
import { identify, judgeKey, type KeyIdentity, type KeyJudgement, type Trust } from "./trust.ts";

export type VerifierInput = { trust: Trust | undefined; crypto: Crypto; chains: readonly ChainFormat[] };

/** A bundle that passed `schema`, with the values recomputed from it. */
export type Examined = VerifierInput & {
  bundle: Bundle;
  chain: ChainFormat;
  /** CAIP-2 of the ledger on which the note must stand. */
  ledger: string;
  publicKey: Uint8Array;
  key: KeyIdentity;
  /** Undefined where the verifier trusts no key. */
  judgement: KeyJudgement | undefined;
  note: Note | ProofError;
  source: Recomputed<ReturnType<ChainFormat["transaction"]>> | undefined;
  block: Recomputed<ReturnType<ChainFormat["header"]>> | undefined;
};

/** Bytes and the values recomputed from them: only their hash where the chain would not accept them. */
type Recomputed<T> = { bytes: Uint8Array; hashSha256: string } & Partial<T>;

const OTHER_LEDGER = "made for another ledger than that of the trusted keys, such as another sandbox's";

/** @returns the faults; undefined if the check cannot be made */
type Check = (examined: Examined) => Finding[] | undefined;

export function examine(bundle: Bundle, input: VerifierInput): Examined {
  const { trust, crypto, chains } = input;
  const chain = chainOf(bundle, chains);
  const { algorandAddress, pqPublicKey } = bundle.attestor;
  const ledger = trust?.ledger ?? ALGORAND_MAINNET;
  const key = identify(trust, pqPublicKey);
  return {
    ...input,
    bundle,
    chain,
    ledger,
    publicKey: fromBase64(pqPublicKey),
    key,
    judgement: trust && judgeKey(trust, key.kid, { round: bundle.attest.round, algorandAddress }),
    note: readNote(bundle.attest.note),
    source:
      "source" in bundle
        ? recompute(bundle.source.txnBytesBase64, (bytes) => chain.transaction(bytes, ledger, crypto))
        : undefined,
    block:
      "block" in bundle
        ? recompute(bundle.block.headerBase64, (bytes) => chain.header(bytes, ledger, crypto))
        : undefined,
  };
}

function recompute<T extends object>(base64: string, read: (bytes: Uint8Array) => T): Recomputed<T> {
  const bytes = fromBase64(base64);
  return { bytes, hashSha256: toHex(sha256(bytes)), ...(attempt("malformed", () => read(bytes)) as Partial<T>) };
}

function readNote(text: string): Note | ProofError {
  try {
    return parseNote(text);
  } catch (error) {
    if (isProofError(error, "format")) return error;
    throw error;
  }
}

function checkBlockForm({ b }: TransactionNote, { blockHash }: ChainFormat): Finding[] {
  if (blockHash.pattern.test(b)) return [];
  return [{ pointer: "/attest/note/b", message: `must be ${blockHash.description}` }];
}

function checkOutcomeForm({ s }: TransactionNote, { label, transactionsCanFail }: ChainFormat): Finding[] {
  if ((s !== undefined) === transactionsCanFail) return [];
  const message = transactionsCanFail ? "missing" : `unknown member: no transaction of ${label} fails in a block`;
  return [{ pointer: "/attest/note/s", message }];
}

/** What the note of a transaction states; undefined where it is not one in the chain's form. */
export function statementOf({ bundle, chain, note }: Examined): Statement | undefined {
  if ("block" in bundle || !("t" in note)) return undefined;
  if (checkBlockForm(note, chain).length > 0 || checkOutcomeForm(note, chain).length > 0) return undefined;
  const { b: hash, n: height, u: time, s } = note;
  const stated = s === 1 ? "succeeded" : "failed";
  return { block: { hash, height, time }, outcome: s === undefined ? "not_applicable" : stated };
}

/** The offline checks after `schema`. */
export const OFFLINE_CHECKS = {
  keyTrust: ({ judgement }) => judgement?.findings,

  signature({ bundle, publicKey, crypto }) {
    const signature = fromBase64(bundle.signature.sigBase64);
    if (verifySignature(publicKey, signingBytes(bundle), signature, crypto)) return [];
    return [{ pointer: "/signature/sigBase64", message: "does not match the contents" }];
  },

  hashPreimage({ bundle, source, block }) {
    return [
      ...("source" in bundle ? compare("/source/hashSha256", bundle.source.hashSha256, source?.hashSha256) : []),
      ...("block" in bundle ? compare("/block/hashSha256", bundle.block.hashSha256, block?.hashSha256) : []),
    ];
  },

  transactionId({ bundle, source }) {
    return "source" in bundle ? compare("/source/txnId", bundle.source.txnId, source?.txnId) : undefined;
  },

  blockHash({ bundle, block }) {
    if (!("block" in bundle)) return undefined;
    return [
      ...compare("/block/blockHash", bundle.block.blockHash, block?.blockHash),
      ...compare("/block/height", bundle.block.height, block?.height),
    ];
  },

  inclusion({ bundle, chain, source, block, crypto }) {
    if (!("inclusion" in bundle) || !source || !block) return undefined;
    const found = attempt("malformed", () => chain.checkInclusion(bundle.inclusion, source.bytes, block.bytes, crypto));
    return found ?? [{ pointer: "/block/headerBase64", message: "is no header" }];
  },

  /**
   * Compares every member of the note with its recomputed value, except `p`: no bundle holds the payment. Nor does the bundle
   * of a transaction hold its block, so that of `b` and `s` the chain's form is checked.
   */
  note({ bundle, chain, key, ledger, note, source, block }) {
    if (isProofError(note, "format")) return [{ pointer: `/attest/note${note.pointer}`, message: note.message }];
    const kind = "block" in bundle ? "block" : "transaction";
    if ("k" in note || (kind === "transaction") !== "t" in note)
      return [{ pointer: "/attest/note", message: `not the note of a ${kind}` }];

    const at = (member: string) => `/attest/note/${member}`;
    const { levels } = chain;
    const subject = block ?? source;
    return [
      ...compare(at("a"), note.a, key.keySha256),
      ...("t" in note ? checkBlockForm(note, chain) : compare(at("b"), note.b, block?.blockHash)),
      ...compare(at("c"), note.c, subject?.caip2),
      ...compare(LEDGER_POINTER, note.g, ledger).map((fault) => ({ ...fault, message: OTHER_LEDGER })),
      ...compare(at("h"), note.h, subject?.hashSha256),
      ...(levels.includes(note.l) ? [] : [{ pointer: at("l"), stated: note.l, computed: levels.join(" or ") }]),
      ...("t" in note
        ? [...checkOutcomeForm(note, chain), ...compare(at("t"), note.t, source?.txnId)]
        : compare(at("n"), note.n, block?.height)),
    ];
  },
} satisfies Partial<Record<CheckName, Check>>;
