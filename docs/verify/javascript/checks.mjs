// The checks of a bundle, but for its form.
import { createHash } from "node:crypto";
import * as algorand from "./algorand.mjs";
import { attempt } from "./attempt.mjs";
import * as base from "./base.mjs";
import { isInBatch } from "./batch.mjs";
import { judgeKey, keySha256, signs } from "./keys.mjs";
import { isNote } from "./note.mjs";

const CHAINS = { algorand, base };
const decode = (text) => Buffer.from(text, "base64");
const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** The results of all checks but the first, in their order. */
export function check(bundle, chain, trust) {
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
