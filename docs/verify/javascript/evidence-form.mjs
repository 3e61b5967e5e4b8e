// The form of the evidence beside a bundle, and of the checkpoint that a verifier trusts.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { isAddress } from "./algorand.mjs";
import { rootOf as rootByPath } from "./batch.mjs";
import { base64, fits, HEX, integer } from "./form.mjs";
import { canonical, parse } from "./json.mjs";

const decode = (text) => Buffer.from(text, "base64");
export const sha256 = (...parts) => parts.reduce((hasher, part) => hasher.update(part), createHash("sha256")).digest();

const CHECKPOINT = {
  genesisHash: base64(32),
  round: integer(0),
  votersCommitment: base64(64),
  lnProvenWeight: integer(1),
};
const MESSAGE = {
  blockHeadersCommitment: base64(32),
  votersCommitment: base64(64),
  lnProvenWeight: integer(1),
  firstAttestedRound: integer(1),
  lastAttestedRound: integer(1),
};
const PATH = {
  index: integer(0),
  size: integer(1),
  hashes: (list) => Array.isArray(list) && list.length <= 53 && list.every(base64(32)),
};
const UNDER_HEADER = { headerBase64: base64(), index: integer(0), stibBase64: base64(), siblings: [base64(32)] };
const STAKE = {
  siblings: [base64(32)],
  message: MESSAGE,
  stateProofSha256: HEX,
  "stateProofBase64?": base64(),
  checkpoint: CHECKPOINT,
  "path?": (path) => fits(path, PATH) && path.index < path.size,
};
const FORMS = {
  "algorand-inclusion/1": { txnBytesBase64: base64(), ...UNDER_HEADER },
  "algorand-state-proof/1": STAKE,
  "algorand-authorisation/1": { alg: /^(ed25519|falcon-1024)$/, "authorizer?": isAddress },
  "algorand-source-inclusion/1": UNDER_HEADER,
  "algorand-source-state-proof/1": STAKE,
};
export const ITEMS = Object.fromEntries(Object.entries(FORMS).map(([type, form]) => [type, { type, ...form }]));
const isItem = (item) =>
  typeof item?.type === "string" && (!Object.hasOwn(ITEMS, item.type) || fits(item, ITEMS[item.type]));

export const isCheckpoint = (value) => fits(value, CHECKPOINT);

/** The evidence in a text, which is refused if it has another form or is of another bundle. */
export function readEvidence(text, bundle) {
  const evidence = parse(text, 9 * 2 ** 20);
  assert(fits(evidence, { format: "attestd.evidence/1", bundle: /^sha256:/, items: [isItem] }), "another form");
  const known = evidence.items.map(({ type }) => type).filter((type) => Object.hasOwn(ITEMS, type));
  assert(new Set(known).size === known.length, "an item twice");
  assert(evidence.bundle === `sha256:${sha256(canonical(bundle)).toString("hex")}`, "another bundle");
  return { ...evidence, items: evidence.items.filter(({ type }) => Object.hasOwn(ITEMS, type)) };
}

/** The root to which a path leads from a checkpoint (RFC 9162 section 2.1.3.2). */
export function rootOf(checkpoint, { index, size, hashes }) {
  const u64 = (number) => Buffer.from(number.toString(16).padStart(16, "0"), "hex");
  const { genesisHash, round, votersCommitment, lnProvenWeight } = checkpoint;
  const leaf = Buffer.concat([decode(genesisHash), u64(round), decode(votersCommitment), u64(lnProvenWeight)]);
  return rootByPath(leaf, index, size, hashes)?.toString("hex");
}
