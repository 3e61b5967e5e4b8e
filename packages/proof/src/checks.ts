import { ALGORAND_MAINNET } from "./algorand/network.ts";
import { type BatchItem, batchStatementLeaf } from "./batch.ts";
import { type Bundle, type SignedBundle, signedPart, signingBytes } from "./bundle.ts";
import type { Statement } from "./bundle-members.ts";
import { type ChainFormat, compare, type Finding, HEAD_POINTER, LEDGER_POINTER } from "./chain-format.ts";
import { chainOf } from "./chains.ts";
import { fromBase64, toBase64, toHex } from "./encoding.ts";
import { attempt, isProofError, type ProofError } from "./errors.ts";
import { type Note, noteOrFault, type TransactionNote } from "./note.ts";
import type { CheckName } from "./report.ts";
import { rootByPath } from "./rfc6962.ts";
import { sha256 } from "./sha2.ts";
import { type Crypto, verifySignature } from "./signature.ts";
import { identify, judgeKey, type KeyIdentity, type KeyJudgement, type Trust } from "./trust.ts";

export type VerifierInput = { trust: Trust | undefined; crypto: Crypto; chains: readonly ChainFormat[] };

/** A bundle that passed `schema`, with the values recomputed from it. */
export type Examined = VerifierInput & {
  bundle: Bundle;
  /** The part that the key signed. */
  signed: SignedBundle;
  chain: ChainFormat;
  /** CAIP-2 of the ledger on which the note must be recorded. */
  ledger: string;
  key: KeyIdentity;
  /** Undefined if the verifier trusts no key. */
  judgement: KeyJudgement | undefined;
  note: Note | ProofError;
  source: Recomputed<ReturnType<ChainFormat["transaction"]>> | undefined;
  block: Recomputed<ReturnType<ChainFormat["header"]>> | undefined;
};

/** Bytes and the values recomputed from them; only the hash if the chain would not accept the bytes. */
type Recomputed<T> = { bytes: Uint8Array; hashSha256: string } & Partial<T>;

const NOTE = "/attest/note";
const OTHER_LEDGER = "made for another ledger than the trusted keys', such as another sandbox's";

/** @returns the faults; undefined if the check cannot be made */
type Check = (examined: Examined) => Finding[] | undefined;

export function examine(bundle: Bundle, input: VerifierInput): Examined {
  const { trust, crypto, chains } = input;
  const chain = chainOf(bundle, chains);
  const signed = signedPart(bundle);
  const { algorandAddress, pqPublicKey } = signed.attestor;
  const ledger = trust?.ledger ?? ALGORAND_MAINNET;
  const key = identify(trust, pqPublicKey);
  return {
    ...input,
    bundle,
    signed,
    chain,
    ledger,
    key,
    judgement: trust && judgeKey(trust, key.kid, { round: signed.attest.round, algorandAddress }),
    note: noteOrFault(signed.attest.note),
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

function checkBlockForm({ b }: TransactionNote, { blockHash }: ChainFormat): Finding[] {
  if (blockHash.pattern.test(b)) return [];
  return [{ pointer: `${NOTE}/b`, message: `must be ${blockHash.description}` }];
}

function checkOutcomeForm({ s }: TransactionNote, { label, transactionsCanFail }: ChainFormat): Finding[] {
  if ((s !== undefined) === transactionsCanFail) return [];
  const message = transactionsCanFail ? "missing" : `unknown member: no transaction of ${label} fails in a block`;
  return [{ pointer: `${NOTE}/s`, message }];
}

/** Returns the statement about a transaction; undefined if its note does not have the chain's form. */
export function statementOf({ bundle, chain, note }: Examined): Statement | undefined {
  if ("statement" in bundle) {
    const { block, outcome } = bundle.statement;
    return { block, outcome };
  }
  if ("block" in bundle || !("t" in note)) return undefined;
  if (checkBlockForm(note, chain).length > 0 || checkOutcomeForm(note, chain).length > 0) return undefined;
  const { b: hash, n: height, u: time, s } = note;
  const stated = s === 1 ? "succeeded" : "failed";
  return { block: { hash, height, time }, outcome: s === undefined ? "not_applicable" : stated };
}

/** Turns pointers into the signed part into pointers into the bundle. */
function inBundle({ bundle }: Examined, faults: Finding[]): Finding[] {
  if (!("batch" in bundle)) return faults;
  return faults.map((fault) => ({ ...fault, pointer: `${HEAD_POINTER}${fault.pointer ?? ""}` }));
}

/** Checks the path from an item's statement to the root of its batch. */
function checkLeaf({ statement, proof, batch }: BatchItem): Finding[] {
  if (proof.index >= batch.size)
    return [{ pointer: "/proof/index", stated: String(proof.index), computed: `below ${batch.size}` }];
  const root = rootByPath(batchStatementLeaf(statement), proof.index, batch.size, proof.siblings.map(fromBase64));
  if (root === undefined) return [{ pointer: "/proof/siblings", message: "are not as many as lead to the root" }];
  return compare(`${HEAD_POINTER}/root`, batch.root, toBase64(root));
}

/**
 * Compares every member of the note with its recomputed value, except `p`: no bundle holds the payment. A transaction's
 * bundle does not hold its block either, so `b` and `s` are only checked for the chain's format.
 */
function checkNote({ bundle, chain, key, ledger, note, source, block }: Examined): Finding[] {
  if (isProofError(note, "format")) return [{ pointer: `${NOTE}${note.pointer}`, message: note.message }];
  const kind = "batch" in bundle ? "batch" : "block" in bundle ? "block" : "transaction";
  const noteKind = "r" in note ? "batch" : "t" in note ? "transaction" : "block";
  if ("k" in note || kind !== noteKind) return [{ pointer: NOTE, message: `not the note of a ${kind}` }];

  const at = (member: string) => `${NOTE}/${member}`;
  const ofKey = compare(at("a"), note.a, key.keySha256);
  const ofLedger = compare(LEDGER_POINTER, note.g, ledger).map((fault) => ({ ...fault, message: OTHER_LEDGER }));
  if ("r" in note) {
    const { root, size } = (bundle as BatchItem).batch;
    const ofTree = [...compare(at("r"), note.r, toHex(fromBase64(root))), ...compare(at("z"), note.z, size)];
    return [...ofKey, ...ofLedger, ...ofTree];
  }
  const { levels } = chain;
  const subject = block ?? source;
  return [
    ...ofKey,
    ...("t" in note ? checkBlockForm(note, chain) : compare(at("b"), note.b, block?.blockHash)),
    ...compare(at("c"), note.c, subject?.caip2),
    ...ofLedger,
    ...compare(at("h"), note.h, subject?.hashSha256),
    ...(levels.includes(note.l) ? [] : [{ pointer: at("l"), stated: note.l, computed: levels.join(" or ") }]),
    ...("t" in note
      ? [...checkOutcomeForm(note, chain), ...compare(at("t"), note.t, source?.txnId)]
      : compare(at("n"), note.n, block?.height)),
  ];
}

/** The offline checks after `schema`. */
export const OFFLINE_CHECKS = {
  keyTrust: (examined) => examined.judgement && inBundle(examined, examined.judgement.findings),

  signature(examined) {
    const { signed, crypto } = examined;
    const publicKey = fromBase64(signed.attestor.pqPublicKey);
    const signature = fromBase64(signed.signature.sigBase64);
    if (verifySignature(publicKey, signingBytes(signed), signature, crypto)) return [];
    return inBundle(examined, [{ pointer: "/signature/sigBase64", message: "does not match the contents" }]);
  },

  hashPreimage({ bundle, source, block }) {
    return [
      ...("source" in bundle ? compare("/source/hashSha256", bundle.source.hashSha256, source?.hashSha256) : []),
      ...("statement" in bundle
        ? compare("/statement/hashSha256", bundle.statement.hashSha256, source?.hashSha256)
        : []),
      ...("block" in bundle ? compare("/block/hashSha256", bundle.block.hashSha256, block?.hashSha256) : []),
    ];
  },

  transactionId({ bundle, source }) {
    if (!("source" in bundle)) return undefined;
    const faults = compare("/source/txnId", bundle.source.txnId, source?.txnId);
    if (!("statement" in bundle)) return faults;
    const { txnId, chain } = bundle.statement;
    return [
      ...faults,
      ...compare("/statement/txnId", txnId, source?.txnId),
      ...compare("/statement/chain", chain, source?.caip2),
    ];
  },

  blockHash({ bundle, block }) {
    if (!("block" in bundle)) return undefined;
    return [
      ...compare("/block/blockHash", bundle.block.blockHash, block?.blockHash),
      ...compare("/block/height", bundle.block.height, block?.height),
    ];
  },

  inclusion({ bundle, chain, source, block, crypto }) {
    if ("proof" in bundle) return checkLeaf(bundle);
    if (!("inclusion" in bundle) || !source || !block) return undefined;
    const found = attempt("malformed", () => chain.checkInclusion(bundle.inclusion, source.bytes, block.bytes, crypto));
    return found ?? [{ pointer: "/block/headerBase64", message: "is no header" }];
  },

  note: (examined) => inBundle(examined, checkNote(examined)),
} satisfies Partial<Record<CheckName, Check>>;
