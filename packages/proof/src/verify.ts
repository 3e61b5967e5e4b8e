import { sha256 } from "@noble/hashes/sha2.js";
import {
  type BundleSource,
  type BundleType,
  type ProofBundle,
  parseProofBundle,
  signingBytes,
  sourceChain,
} from "./bundle.ts";
import { ALGORAND_MAINNET } from "./caip2.ts";
import { CHAINS, type ChainFormat } from "./chains.ts";
import { DecodeError, fromBase64, toHex } from "./encoding.ts";
import { FormatError } from "./format.ts";
import { JsonError, parseJson } from "./json.ts";
import { type Note, parseNote } from "./note.ts";
import type { CheckName, Finding, VerifyReport, Warning } from "./report.ts";
import { type Crypto, nobleCrypto, verifySignature } from "./signature.ts";
import { failsByRevocationAlone, identify, judgeKey, type KeyIdentity, type Trust, trustedLedger } from "./trust.ts";

export type VerifyOptions = {
  /** Whom the verifier believes. Without, the signer stays unknown and nothing is verified. */
  trust?: Trust | undefined;
  /** How long ago the trusted key history was fetched, in seconds: a revocation since then does not show. */
  historyAge?: number;
  crypto?: Crypto;
};

/** What an online check found: nothing wrong, or what. */
export type ChainFinding = "pass" | Finding[];

/** The online checks, made by whoever can ask the chains. One that is absent was not made. */
export type ChainFindings = { chainSource?: ChainFinding; chainAttest?: ChainFinding };

/** A key history older than this makes a warning: 30 days, in seconds. */
export const HISTORY_OLD_AFTER = 30 * 24 * 60 * 60;

const ONLINE_CHECKS = ["chainSource", "chainAttest"] as const;

/** A bundle that could be read, and what is recomputed from it. */
type Examined = {
  bundle: ProofBundle;
  trust: Trust | undefined;
  crypto: Crypto;
  /** CAIP-2 of the ledger on which the note must stand. */
  ledger: string;
  publicKey: Uint8Array;
  key: KeyIdentity;
  note: Note | FormatError;
  source: RecomputedSource;
};

/** What a source's bytes say of themselves; undefined where they are not what the chain calls a transaction. */
type RecomputedSource = {
  chain: ChainFormat;
  hashSha256: string;
  txnId: string | undefined;
  /** CAIP-2. */
  caip2: string | undefined;
};

/** What a check finds wrong; undefined where it cannot be made. */
type Find = (examined: Examined) => Finding[] | undefined;

/** The offline checks in their order, by type of bundle. `schema` goes before: what it refuses cannot be examined. */
const STEPS: Record<BundleType, [CheckName, Find][]> = {
  "transaction-attestation": [
    ["keyTrust", findKeyTrust],
    ["signature", findSignature],
    ["hashPreimage", findHashPreimage],
    ["transactionId", findTransactionId],
    ["note", findNote],
  ],
};

/**
 * Verifies a bundle without asking anyone. Every check is made even where an earlier one failed, `schema` aside.
 * @param input a bundle as text or UTF-8, or as `parseJson` gave it
 * @throws JsonError when a text is no JSON at all, or larger than 2 MiB. What is JSON but can be read in two ways, as
 *   with duplicate members, fails `schema` instead.
 */
export function verify(input: unknown, options: VerifyOptions = {}): VerifyReport {
  const { trust, crypto = nobleCrypto, historyAge = 0 } = options;
  const type: BundleType = "transaction-attestation";
  const report = emptyReport(type);
  const bundle = readBundle(input, report);
  if (bundle === undefined) return report;

  const examined = examine(bundle, trust, crypto);
  for (const [check, find] of STEPS[type]) record(report, check, find(examined));
  const { algorandAddress } = bundle.attestor;
  const { kid } = examined.key;
  report.attestor = { kid, status: trust ? judgeKey(trust, kid, claim(bundle)).status : "unknown", algorandAddress };
  report.warnings = warnings(examined.note, historyAge);
  report.verified = isVerified(report);
  return report;
}

/**
 * The report with what asking the chains has found. A revoked key, whose holder can write any round into a bundle, is
 * believed again where the ledger itself shows the record, in a round before the revocation.
 * @param report of the same bundle, from `verify`
 */
export function withChain(report: VerifyReport, findings: ChainFindings): VerifyReport {
  const online: VerifyReport = { ...report, checks: { ...report.checks }, failures: [...report.failures] };
  for (const check of ONLINE_CHECKS) {
    const finding = findings[check];
    if (finding !== undefined) record(online, check, finding === "pass" ? [] : finding);
  }
  if (online.checks.chainAttest === "pass" && awaitsLedger(report)) {
    online.checks.keyTrust = "pass";
    online.failures = online.failures.filter(({ check }) => check !== "keyTrust");
  }
  online.verified = isVerified(online);
  return online;
}

/** Whether the chains are worth asking: no offline check failed that `chainAttest` could not make good. */
export function mayAskChain(report: VerifyReport): boolean {
  return report.failures.length === 0 || (awaitsLedger(report) && report.failures.length === 1);
}

function awaitsLedger({ attestor, failures }: VerifyReport): boolean {
  const ofKey = failures.filter(({ check }) => check === "keyTrust");
  return failsByRevocationAlone(attestor.status, ofKey);
}

function emptyReport(type: BundleType): VerifyReport {
  const names: CheckName[] = ["schema", ...STEPS[type].map(([check]) => check), ...ONLINE_CHECKS];
  return {
    verified: false,
    type,
    checks: Object.fromEntries(names.map((check) => [check, "not_checked"])),
    attestor: { status: "unknown" },
    warnings: [],
    failures: [],
  };
}

function record(report: VerifyReport, check: CheckName, found: Finding[] | undefined): void {
  if (found === undefined) return;
  report.checks[check] = found.length === 0 ? "pass" : "fail";
  report.failures.push(...found.map((finding) => ({ check, ...finding })));
}

function isVerified({ type, checks }: VerifyReport): boolean {
  const offline: CheckName[] = ["schema", ...STEPS[type].map(([check]) => check)];
  return offline.every((check) => checks[check] === "pass") && !Object.values(checks).includes("fail");
}

/** Step `schema`. */
function readBundle(input: unknown, report: VerifyReport): ProofBundle | undefined {
  try {
    const isText = typeof input === "string" || input instanceof Uint8Array;
    const bundle = parseProofBundle(isText ? parseJson(input) : input);
    record(report, "schema", []);
    return bundle;
  } catch (error) {
    if (!(error instanceof FormatError || (error instanceof JsonError && error.isAmbiguous))) throw error;
    record(report, "schema", [{ pointer: error.pointer, message: error.message }]);
    return undefined;
  }
}

function examine(bundle: ProofBundle, trust: Trust | undefined, crypto: Crypto): Examined {
  const publicKey = fromBase64(bundle.attestor.pqPublicKey);
  const ledger = trustedLedger(trust);
  return {
    bundle,
    trust,
    crypto,
    ledger,
    publicKey,
    key: identify(trust, bundle.attestor.pqPublicKey),
    note: readNote(bundle.attest.note),
    source: recomputeSource(bundle.source, ledger, crypto),
  };
}

function recomputeSource(source: BundleSource, ledger: string, crypto: Crypto): RecomputedSource {
  const chain = CHAINS[sourceChain(source)];
  const bytes = fromBase64(source.txnBytesBase64);
  return {
    chain,
    hashSha256: toHex(sha256(bytes)),
    txnId: unlessMalformed(() => chain.transactionId(bytes, crypto)),
    caip2: unlessMalformed(() => chain.transactionChain(bytes, ledger)),
  };
}

function claim({ attest, attestor }: ProofBundle): { round: number; algorandAddress: string } {
  return { round: attest.round, algorandAddress: attestor.algorandAddress };
}

function findKeyTrust({ bundle, trust, key }: Examined): Finding[] | undefined {
  return trust && judgeKey(trust, key.kid, claim(bundle)).findings;
}

function findSignature({ bundle, publicKey, crypto }: Examined): Finding[] {
  const signature = fromBase64(bundle.signature.sigBase64);
  const isRight = verifySignature(publicKey, signingBytes(bundle), signature, crypto);
  return isRight ? [] : [{ pointer: "/signature/sigBase64", message: "does not match the contents" }];
}

function findHashPreimage({ bundle, source }: Examined): Finding[] {
  return compare("/source/hashSha256", bundle.source.hashSha256, source.hashSha256);
}

function findTransactionId({ bundle, source }: Examined): Finding[] {
  return compare("/source/txnId", bundle.source.txnId, source.txnId);
}

/** Every member of the note against what was recomputed; `p` alone stands for something that a bundle does not hold. */
function findNote({ key, ledger, note, source }: Examined): Finding[] {
  if (note instanceof FormatError) return [{ pointer: `/attest/note${note.pointer}`, message: note.message }];
  const at = (member: string) => `/attest/note/${member}`;
  if (!("t" in note)) return [{ pointer: at("t"), message: "not the note of a transaction" }];
  return [
    ...compare(at("a"), note.a, key.keySha256),
    ...compare(at("c"), note.c, source.caip2),
    ...compare(at("g"), note.g, ledger),
    ...compare(at("h"), note.h, source.hashSha256),
    ...compare(at("l"), note.l, ...source.chain.levels),
    ...compare(at("t"), note.t, source.txnId),
  ];
}

function readNote(text: string): Note | FormatError {
  try {
    return parseNote(text);
  } catch (error) {
    if (error instanceof FormatError) return error;
    throw error;
  }
}

/** A finding unless `stated` is one of the values that would be right. */
function compare(pointer: string, stated: string, ...right: (string | undefined)[]): Finding[] {
  if (right.includes(stated)) return [];
  const [computed] = right;
  return [computed === undefined ? { pointer, stated } : { pointer, stated, computed }];
}

function unlessMalformed(compute: () => string): string | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function warnings(note: Note | FormatError, historyAge: number): Warning[] {
  const found: Warning[] = [];
  if ("g" in note && note.g !== ALGORAND_MAINNET) found.push("sandbox");
  if ("l" in note && note.l === "included") found.push("included_only");
  if (historyAge > HISTORY_OLD_AFTER) found.push("history_old");
  return found;
}
