// node verify.mjs [--evidence EVIDENCE CHECKPOINT] BUNDLE... KEYS: says which checks each bundle passes, and exits with 0
// if all pass all, else with 1. EVIDENCE is of one bundle; CHECKPOINT is a file, or the root of a table in hex.
// KEYS is the file of a key history, or the kid of the one key that is believed. docs/format.md as a program: it shares
// nothing with attestd but Node's hashes and, from npm, @noble/post-quantum and @noble/hashes.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import * as algorand from "./algorand.mjs";
import * as base from "./base.mjs";
import { chainOf, ID, integer } from "./form.mjs";
import { canonical, parse } from "./json.mjs";
import { judgeKey, keyId, keySha256, MAINNET, readTrust, signs } from "./keys.mjs";

const CHAINS = { algorand, base };
const PREFIX = "attestd/v1:j";
const decode = (text) => Buffer.from(text, "base64");
const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** The results of all checks but the first, in their order. */
function check(bundle, chain, trust) {
  const { signature, ...unsigned } = bundle;
  const { source, block, inclusion, attest, attestor } = bundle;
  const { transaction, header, isIncluded } = CHAINS[chain];
  const [txn, head] = [source && decode(source.txnBytesBase64), block && decode(block.headerBase64)];
  const ofTxn = source && attempt(() => transaction(txn, trust.ledger));
  const ofBlock = block && attempt(() => header(head, trust.ledger));
  const isHash = (stated, bytes) => !stated || stated.hashSha256 === sha256(bytes);
  const subject = block
    ? { b: ofBlock?.hash, c: ofBlock?.network, h: sha256(head), n: ofBlock?.height }
    : { c: ofTxn?.network, h: sha256(txn), t: ofTxn?.id };
  const facts = { a: keySha256(attestor.pqPublicKey), g: trust.ledger, ...subject };
  return {
    keyTrust: judgeKey(bundle, trust)[1],
    signature: signs(attestor.pqPublicKey, unsigned, signature.sigBase64),
    hashPreimage: isHash(source, txn) && isHash(block, head),
    ...(source && { transactionId: ofTxn?.id === source.txnId }),
    ...(block && { blockHash: ofBlock?.hash === block.blockHash && ofBlock.height === block.height }),
    ...(inclusion && { inclusion: attempt(() => isIncluded(inclusion, txn, head)) }),
    note: attempt(() => isNote(attest.note, facts, chain)),
  };
}

const read = (note) => parse(Buffer.from(note.slice(PREFIX.length)));

/** Whether a note states what was recomputed, and its other members have their form. */
function isNote(text, facts, chain) {
  const { LEVELS, CAN_FAIL } = CHAINS[chain];
  const { b, l, n, p, s, u } = read(text);
  // A transaction's bundle does not hold its block.
  const ofBlock = "t" in facts ? { b, n, u, ...(CAN_FAIL && { s }) } : {};
  const isStated =
    !("t" in facts) || (ID[chain].test(b) && [n, u].every(integer(0)) && (!CAN_FAIL || [0, 1].includes(s)));
  const isForm = LEVELS.includes(l) && /^[\w-]{21}[AQgw]$/.test(p) && !Object.values(facts).includes(undefined);
  return isStated && isForm && text === `${PREFIX}${canonical({ ...facts, ...ofBlock, l, p })}`;
}

/** What a transaction's note states: its block by hash, height and time, and how it ended there. */
function statement({ attest }) {
  const { b, n, s, u } = read(attest.note);
  return [b, n, u, s === undefined ? "not_applicable" : OUTCOMES[s]];
}
const OUTCOMES = ["failed", "succeeded"];

/** What became of the transaction, where the bundle has its receipt. */
function outcome({ source, inclusion: { receipt } }) {
  return receipt && base.receiptStatus(decode(receipt.bytesBase64), decode(source.txnBytesBase64));
}

/** What it computes; undefined where the bytes are not what they should be. */
function attempt(compute) {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

/** Says what the evidence shows, and whether none of it is wrong. */
function reportEvidence({ checkEvidence, readCheckpoint }, [file, checkpoint], bundle) {
  const { recorded, ...results } = checkEvidence(file, bundle, readCheckpoint(checkpoint));
  for (const [name, result] of Object.entries(results)) console.log(result.replace("fail", "FAIL"), `evidence.${name}`);
  if (recorded) console.log("recorded", ...recorded);
  return !Object.values(results).includes("fail");
}

/** Says what is right and wrong with the bundle in a file, and whether it verifies. */
function report(file, trust, evidence) {
  const bundle = attempt(() => parse(readFileSync(file)));
  const chain = chainOf(bundle);
  const results = { schema: chain !== undefined, ...(chain && check(bundle, chain, trust)) };
  console.log(file);
  for (const [name, passed] of Object.entries(results)) console.log(passed ? "pass" : "FAIL", name);
  if (chain && bundle.inclusion?.lightHeader) console.log("not_checked commitment");
  const status = results.inclusion && outcome(bundle);
  if (status) console.log("receipt", status);
  const stated = results.note && !bundle.block ? statement(bundle) : [];
  if (stated.length > 0) console.log("states", ...stated);
  if (chain) console.log("key", keyId(bundle.attestor.pqPublicKey), judgeKey(bundle, trust)[0]);
  const isRight = !chain || !evidence || reportEvidence(stake, evidence, bundle);
  const verified = Object.values(results).every(Boolean) && isRight;
  if (verified && trust.ledger !== MAINNET) console.log("warning sandbox");
  if (verified && bundle.attest.note.includes('"l":"included"')) console.log("warning included_only");
  if (verified && [status, stated[3]].includes("failed")) console.log("warning transaction_failed");
  console.log(verified ? `verified, stated as recorded on Algorand in round ${bundle.attest.round}` : "not verified");
  return verified;
}

const files = process.argv.slice(2);
const evidence = files[0] === "--evidence" ? files.splice(0, 3).slice(1) : undefined;
// Falcon and sumhash are loaded only where they are needed.
const stake = evidence && (await import("./evidence.mjs"));
const trust = readTrust(files.pop());
process.exitCode = files.map((file) => report(file, trust, evidence)).every(Boolean) && files.length > 0 ? 0 : 1;
