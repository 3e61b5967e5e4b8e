// A state proof beside a bundle: that stake has signed for a header, on a checkpoint that is trusted.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isCommitted, readInteger } from "./algorand.mjs";
import { isCheckpoint, rootOf, sha256 } from "./evidence-form.mjs";
import { HEX } from "./form.mjs";
import { canonical, parse } from "./json.mjs";
import { readMap } from "./msgpack.mjs";
import { isNextInterval, verifyStateProof } from "./state-proof.mjs";

const decode = (text) => Buffer.from(text, "base64");

/** What is trusted: the root of a table in hex, or the file of a checkpoint. */
export function readCheckpoint(text) {
  const trusted = HEX.test(text) ? { root: text } : { checkpoint: parse(readFileSync(text)) };
  assert(trusted.root || isCheckpoint(trusted.checkpoint), "no checkpoint");
  return trusted;
}

/** Whether stake has signed for a header. @param items of the evidence, in one of which the state proof may stand */
export function checkProof(item, head, items, { root, checkpoint: own }) {
  const { siblings, message, stateProofSha256, checkpoint, path } = item;
  const of = readMap(head);
  assert(decode(checkpoint.genesisHash).equals(of.get("gh").subarray(2)), "of another network");
  assert(readInteger(of.get("ts")) < 2 ** 43, "no time");
  const interval = message.lastAttestedRound - message.firstAttestedRound + 1;
  assert(isNextInterval(message, checkpoint), "not of the interval after the checkpoint");
  const index = readInteger(of.get("rnd")) - message.firstAttestedRound;
  const lightHeader = { index, interval, commitment: message.blockHeadersCommitment, siblings };
  assert(index >= 0 && isCommitted(lightHeader, of, head), "not of its commitment");
  const isHere = (one) => one.stateProofSha256 === stateProofSha256 && one.stateProofBase64 !== undefined;
  const { stateProofBase64 } = isHere(item) ? item : (items.find(isHere) ?? {});
  if (stateProofBase64 === undefined) return "not_checked";
  assert(sha256(decode(stateProofBase64)).toString("hex") === stateProofSha256, "another state proof");
  verifyStateProof(decode(stateProofBase64), message, checkpoint);
  const isOwn = own !== undefined && canonical(own).equals(canonical(checkpoint));
  return isOwn || (path && root !== undefined && rootOf(checkpoint, path) === root) ? "pass" : "not_checked";
}

/** The round of a header, its time, and the weight that was proven to have signed for it at least. */
export function recordedBy({ checkpoint }, head) {
  const fields = readMap(head);
  const time = new Date(readInteger(fields.get("ts")) * 1000);
  const weight = Math.exp((checkpoint.lnProvenWeight - 1) / 65536);
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(weight)) - 3);
  return [readInteger(fields.get("rnd")), time.toISOString(), Math.floor(weight / unit) * unit];
}
