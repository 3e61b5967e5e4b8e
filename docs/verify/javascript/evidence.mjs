// The evidence beside a bundle: the record's inclusion in its block, and the state proof over that.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { addressBytes, header, isIncluded, readInteger, transaction } from "./algorand.mjs";
import { checkAuthorisation } from "./authorisation.mjs";
import { ITEMS, isCheckpoint, readEvidence, rootOf, sha256 } from "./evidence-form.mjs";
import { HEX } from "./form.mjs";
import { canonical, parse } from "./json.mjs";
import { readMap } from "./msgpack.mjs";
import { verifyStateProof } from "./state-proof.mjs";

const decode = (text) => Buffer.from(text, "base64");

/** What is trusted: the root of a table in hex, or the file of a checkpoint. */
export function readCheckpoint(text) {
  const trusted = HEX.test(text) ? { root: text } : { checkpoint: parse(readFileSync(text)) };
  assert(trusted.root || isCheckpoint(trusted.checkpoint), "no checkpoint");
  return trusted;
}

/** What it computes, or "fail" where the bytes are not what they should be. */
function attempt(compute) {
  try {
    return compute();
  } catch {
    return "fail";
  }
}

/** The results of the checks, and in what round, when and by how much stake the record was made. */
export function checkEvidence(file, bundle, trusted) {
  const evidence = attempt(() => readEvidence(readFileSync(file), bundle));
  const unchecked = { inclusion: "not_checked", stateProof: "not_checked", authorisation: "not_checked" };
  if (evidence === "fail") return { schema: "fail", ...unchecked };
  const [inclusion, proof, authorisation] = Object.keys(ITEMS).map((type) =>
    evidence.items.find((item) => item.type === type),
  );
  const isIn = inclusion ? attempt(() => checkInclusion(inclusion, bundle)) : "not_checked";
  const results = { schema: "pass", ...unchecked, inclusion: isIn };
  if (isIn !== "pass") return results;
  if (proof) results.stateProof = attempt(() => checkProof(proof, inclusion, trusted));
  if (authorisation) {
    // That an account was rekeyed is the block's word, which the stake alone confirms.
    const signed = authorisation.authorizer && results.stateProof !== "pass" ? "not_checked" : "pass";
    const check = () => checkAuthorisation(authorisation, inclusion, bundle.attestor.algorandAddress);
    results.authorisation = attempt(() => check() ?? signed);
  }
  if (results.authorisation === "pass")
    results.authorised = [authorisation.alg, authorisation.authorizer ?? bundle.attestor.algorandAddress];
  if (results.stateProof !== "pass") return results;
  const time = new Date(readInteger(readMap(decode(inclusion.headerBase64)).get("ts")) * 1000);
  const weight = Math.exp((proof.checkpoint.lnProvenWeight - 1) / 65536);
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(weight)) - 3);
  return { ...results, recorded: [bundle.attest.round, time.toISOString(), Math.floor(weight / unit) * unit] };
}

function checkInclusion(item, { attest, attestor }) {
  const [txn, head] = [decode(item.txnBytesBase64), decode(item.headerBase64)];
  const ledger = parse(Buffer.from(attest.note.slice("attestd/v1:j".length))).g;
  const [own, block] = [transaction(txn, ""), header(head, "")];
  assert(
    own.id === attest.txnId && own.network === ledger && block.network === ledger && block.height === attest.round,
  );
  const [fields, of] = [readMap(txn, true), readMap(head)];
  const content = (name) => fields.get(name).subarray(fields.get(name)[0] - 0xc4 === 0 ? 2 : 3);
  assert(
    fields.get("type").toString("latin1") === "\xa3pay" && !["amt", "close", "rekey"].some((name) => fields.has(name)),
  );
  assert([0xc4, 0xc5].includes(fields.get("note")[0]) && fields.get("snd")[0] === 0xc4, "no bytes");
  assert(
    content("snd").equals(addressBytes(attestor.algorandAddress)) && content("note").equals(Buffer.from(attest.note)),
  );
  assert(fields.get("gh").equals(of.get("gh")) && readInteger(of.get("ts")) < 2 ** 43 && of.has("txn256"));
  assert(isIncluded({ ...item, tree: "txn256" }, txn, head));
  return "pass";
}

function checkProof(item, inclusion, { root, checkpoint: own }) {
  const { siblings, message, stateProofSha256, stateProofBase64, checkpoint, path } = item;
  const head = decode(inclusion.headerBase64);
  const of = readMap(head);
  assert(decode(checkpoint.genesisHash).equals(of.get("gh").subarray(2)), "of another network");
  const interval = message.lastAttestedRound - message.firstAttestedRound + 1;
  const index = readInteger(of.get("rnd")) - message.firstAttestedRound;
  const lightHeader = { index, interval, commitment: message.blockHeadersCommitment, siblings };
  assert(
    index >= 0 && isIncluded({ ...inclusion, tree: "txn256", lightHeader }, decode(inclusion.txnBytesBase64), head),
  );
  if (stateProofBase64 === undefined) return "not_checked";
  assert(sha256(decode(stateProofBase64)).toString("hex") === stateProofSha256, "another state proof");
  verifyStateProof(decode(stateProofBase64), message, checkpoint);
  const isOwn = own !== undefined && canonical(own).equals(canonical(checkpoint));
  return isOwn || (path && root !== undefined && rootOf(checkpoint, path) === root) ? "pass" : "not_checked";
}
