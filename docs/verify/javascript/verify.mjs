// node verify.mjs [--evidence EVIDENCE CHECKPOINT] BUNDLE... KEYS: says which checks each bundle passes, and exits with 0
// if all pass all, else with 1. EVIDENCE is of one bundle; CHECKPOINT is a file, or the root of a table in hex.
// KEYS is the file of a key history, or the kid of the one key that is believed. docs/format.md as a program: it shares
// nothing with attestd but Node's hashes and, from npm, @noble/post-quantum and @noble/hashes.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import * as algorand from "./algorand.mjs";
import * as base from "./base.mjs";
import { isInBatch } from "./batch.mjs";
import { chainOf } from "./form.mjs";
import { parse } from "./json.mjs";
import { judgeKey, keyId, keySha256, MAINNET, readTrust, signs } from "./keys.mjs";
import { isNote, outcome, stating } from "./note.mjs";

const CHAINS = { algorand, base };
const decode = (text) => Buffer.from(text, "base64");
const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** The results of all checks but the first, in their order. */
function check(bundle, chain, trust) {
  const { source, block, inclusion, statement, batch } = bundle;
  const { signature, ...unsigned } = batch ?? bundle;
  const { attest, attestor } = unsigned;
  const { transaction, header, isIncluded } = CHAINS[chain];
  const [txn, head] = [source && decode(source.txnBytesBase64), block && decode(block.headerBase64)];
  const ofTxn = source && attempt(() => transaction(txn, trust.ledger));
  const ofBlock = block && attempt(() => header(head, trust.ledger));
  const isHash = (stated, bytes) => !stated || stated.hashSha256 === sha256(bytes);
  const ofHead = batch && { r: decode(batch.root).toString("hex"), z: batch.size };
  const subject = block
    ? { b: ofBlock?.hash, c: ofBlock?.network, h: sha256(head), n: ofBlock?.height }
    : { c: ofTxn?.network, h: sha256(txn), t: ofTxn?.id };
  const facts = { a: keySha256(attestor.pqPublicKey), g: trust.ledger, ...(ofHead ?? subject) };
  return {
    keyTrust: judgeKey(unsigned, trust)[1],
    signature: signs(attestor.pqPublicKey, unsigned, signature.sigBase64),
    hashPreimage: isHash(source, txn) && isHash(block, head) && isHash(statement, txn),
    ...(source && { transactionId: ofTxn?.id === source.txnId && (!statement || isOf(statement, ofTxn)) }),
    ...(block && { blockHash: ofBlock?.hash === block.blockHash && ofBlock.height === block.height }),
    ...(inclusion && { inclusion: attempt(() => isIncluded(inclusion, txn, head)) }),
    ...(batch && { inclusion: isInBatch(bundle) }),
    note: attempt(() => isNote(attest.note, facts, chain)),
  };
}

const isOf = ({ txnId, chain }, { id, network }) => txnId === id && chain === network;
/** What it computes; undefined where the bytes are not what they should be. */
function attempt(compute) {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

/** Says what the evidence shows, and whether none of it is wrong. */
function reportEvidence({ checkEvidence, readCheckpoint }, [file, checkpoint], bundle, passed) {
  const { recorded, authorised, source, ...results } = checkEvidence(file, bundle, passed, readCheckpoint(checkpoint));
  for (const [name, result] of Object.entries(results)) console.log(result.replace("fail", "FAIL"), `evidence.${name}`);
  if (recorded) console.log("recorded", ...recorded);
  if (authorised) console.log("authorised", ...authorised);
  if (source) console.log("source", ...source);
  return !Object.values(results).includes("fail");
}

/** Says what is right and wrong with the bundle in a file, and whether it verifies. */
function report(file, trust, evidence) {
  const bundle = attempt(() => parse(readFileSync(file)));
  const chain = chainOf(bundle);
  const signed = bundle?.batch ?? bundle;
  const results = { schema: chain !== undefined, ...(chain && check(bundle, chain, trust)) };
  console.log(file);
  for (const [name, passed] of Object.entries(results)) console.log(passed ? "pass" : "FAIL", name);
  if (chain && bundle.inclusion?.lightHeader) console.log("not_checked commitment");
  const status = bundle?.inclusion && results.inclusion && outcome(bundle);
  if (status) console.log("receipt", status);
  const stated = results.note && !bundle.block ? stating(bundle) : [];
  if (stated.length > 0) console.log("states", ...stated);
  if (chain) console.log("key", keyId(signed.attestor.pqPublicKey), judgeKey(signed, trust)[0]);
  const isRight = !chain || !evidence || reportEvidence(stake, evidence, bundle, results);
  const verified = Object.values(results).every(Boolean) && isRight;
  if (verified && trust.ledger !== MAINNET) console.log("warning sandbox");
  if (verified && (bundle.statement?.level === "included" || signed.attest.note.includes('"l":"included"')))
    console.log("warning included_only");
  if (verified && [status, stated[3]].includes("failed")) console.log("warning transaction_failed");
  console.log(verified ? `verified, stated as recorded on Algorand in round ${signed.attest.round}` : "not verified");
  return verified;
}

const files = process.argv.slice(2);
const evidence = files[0] === "--evidence" ? files.splice(0, 3).slice(1) : undefined;
// Falcon and sumhash are loaded only where they are needed.
const stake = evidence && (await import("./evidence.mjs"));
const trust = readTrust(files.pop());
process.exitCode = files.map((file) => report(file, trust, evidence)).every(Boolean) && files.length > 0 ? 0 : 1;
