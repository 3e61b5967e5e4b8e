// The evidence beside a bundle: the inclusions of record and source in their blocks, and the state proofs over those.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { addressBytes, header, isIncluded, readInteger, transaction } from "./algorand.mjs";
import { checkAuthorisation } from "./authorisation.mjs";
import { ITEMS, readEvidence } from "./evidence-form.mjs";
import { checkProof, recordedBy } from "./evidence-stake.mjs";
import { readMap } from "./msgpack.mjs";
import { readNote, stating } from "./note.mjs";

export { readCheckpoint } from "./evidence-stake.mjs";

const decode = (text) => Buffer.from(text, "base64");

/** What it computes, or "fail" where the bytes are not what they should be. */
function attempt(compute) {
  try {
    return compute();
  } catch {
    return "fail";
  }
}

const CHECKS = ["inclusion", "stateProof", "authorisation", "sourceInclusion", "sourceStateProof"];

/**
 * The results of the checks, and in what round, when and by how much stake the record was made, and the source.
 * @param passed which checks the bundle itself passes
 */
export function checkEvidence(file, bundle, passed, trusted) {
  const signed = bundle.batch ?? bundle;
  const evidence = attempt(() => readEvidence(readFileSync(file), signed));
  const results = { schema: "pass", ...Object.fromEntries(CHECKS.map((name) => [name, "not_checked"])) };
  if (evidence === "fail") return { ...results, schema: "fail" };
  const { items } = evidence;
  const find = (type) => items.find((item) => item.type === type);
  checkRecord(results, signed, find, (proof, head) => checkProof(proof, head, items, trusted));
  if (passed.note) checkSource(results, bundle, passed, find, (proof, head) => checkProof(proof, head, items, trusted));
  return results;
}

function checkRecord(results, signed, find, check) {
  const [inclusion, proof, authorisation] = Object.keys(ITEMS).map(find);
  if (inclusion) results.inclusion = attempt(() => checkInclusion(inclusion, signed));
  if (results.inclusion !== "pass") return;
  const head = decode(inclusion.headerBase64);
  if (proof) results.stateProof = attempt(() => check(proof, head));
  if (results.stateProof === "pass") results.recorded = recordedBy(proof, head);
  if (!authorisation) return;
  const { algorandAddress: sender } = signed.attestor;
  // That an account was rekeyed is the block's word, which the stake alone confirms.
  const isShown = !authorisation.authorizer || results.stateProof === "pass" ? "pass" : "not_checked";
  results.authorisation = attempt(() => checkAuthorisation(authorisation, inclusion, sender) ?? isShown);
  if (results.authorisation === "pass") results.authorised = [authorisation.alg, authorisation.authorizer ?? sender];
}

/** What shows the source's own block: the bundle's, or that which its note or statement states. */
function checkSource(results, bundle, passed, find, check) {
  const inclusion = find("algorand-source-inclusion/1");
  const proof = find("algorand-source-state-proof/1");
  if (inclusion) results.sourceInclusion = attempt(() => checkSourceInclusion(inclusion, bundle));
  const head = inclusion ? inclusion.headerBase64 : bundle.block?.headerBase64;
  const isShown = inclusion ? results.sourceInclusion === "pass" : passed.blockHash;
  if (!proof || head === undefined || !isShown) return;
  results.sourceStateProof = attempt(() => {
    const ofBlock = header(decode(head), "");
    assert(inclusion || ofBlock.network === chainOf(bundle), "of another network");
    return check(proof, decode(head));
  });
  if (results.sourceStateProof === "pass") results.source = recordedBy(proof, decode(head));
}

/** CAIP-2 of the source's chain. */
const chainOf = ({ attest, statement }) => statement?.chain ?? readNote(attest.note).c;

/** The attested transaction stands under the header of the block that is stated. */
function checkSourceInclusion(item, bundle) {
  assert(!bundle.block, "the bundle has the header");
  const [hash, height, time] = stating(bundle);
  const head = decode(item.headerBase64);
  const [ofBlock, fields] = [header(head, ""), readMap(head)];
  assert(ofBlock.hash === hash && ofBlock.height === height && readInteger(fields.get("ts")) === time, "another block");
  assert(fields.has("gh") && fields.has("txn256") && time < 2 ** 43 && ofBlock.network === chainOf(bundle));
  assert(isIncluded({ ...item, tree: "txn256" }, decode(bundle.source.txnBytesBase64), head));
  return "pass";
}

function checkInclusion(item, { attest, attestor }) {
  const [txn, head] = [decode(item.txnBytesBase64), decode(item.headerBase64)];
  const ledger = readNote(attest.note).g;
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
