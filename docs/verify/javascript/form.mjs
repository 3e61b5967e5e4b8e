// The form of bundles and key histories: the members that there must be.
import { isAddress } from "./algorand.mjs";

// A shape is a constant, a pattern, a test, a list of at most 20, or an object, of which "name?" may be absent.
export const integer = (min, max) => (value) => Number.isSafeInteger(value) && value >= min && !(value > max);
const text = (value) => typeof value === "string" && Buffer.byteLength(value) <= 1024;
export const base64 = (length) => (value) => {
  const bytes = typeof value === "string" ? Buffer.from(value, "base64") : [];
  return bytes.length > 0 && bytes.length === (length ?? bytes.length) && bytes.toString("base64") === value;
};
export const HEX = /^[0-9a-f]{64}$/;
export const SHA256 = /^[\w-]{42}[AEIMQUYcgkosw048]$/;
export const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
export const ID = { algorand: /^[A-Z2-7]{51}[AQ]$/, base: /^0x[0-9a-f]{64}$/ };

const attestation = {
  version: 1,
  network: "algorand-mainnet",
  attest: { txnId: ID.algorand, round: integer(1), note: text },
  attestor: { algorandAddress: isAddress, pqPublicKey: base64(1952) },
  signature: { alg: "ML-DSA-65", sigBase64: base64(3309) },
};
const source = (chain) => ({ "chain?": chain, txnId: ID[chain], hashSha256: HEX, txnBytesBase64: base64() });
const block = (chain) => ({ chain, height: integer(0), blockHash: ID[chain], headerBase64: base64(), hashSha256: HEX });
const lightHeader = { index: integer(0), interval: integer(1), commitment: base64(32), siblings: [base64(32)] };
const inclusion = {
  algorand: {
    kind: "algorand-merkle",
    tree: /^txn(256)?$/,
    index: integer(0),
    stibBase64: base64(),
    siblings: [base64(32)],
    "lightHeader?": lightHeader,
  },
  base: {
    kind: "mpt",
    index: integer(0),
    nodes: [base64()],
    "receipt?": { bytesBase64: base64(), nodes: [base64()] },
  },
};
const LEVEL = { algorand: "finalized", base: /^(included|safe|finalized)$/ };
const OUTCOME = { algorand: "not_applicable", base: /^(succeeded|failed)$/ };
const statement = (chain) => ({
  type: "transaction",
  chain: CAIP2,
  txnId: ID[chain],
  hashSha256: HEX,
  block: { hash: ID[chain], height: integer(0), time: integer(0) },
  level: LEVEL[chain],
  outcome: OUTCOME[chain],
  nonce: base64(16),
});
const BUNDLES = {
  undefined: (chain) => ({ ...attestation, source: source(chain) }),
  "batch-item": (chain) => {
    const { version, network } = attestation;
    const { "chain?": _, ...bytes } = source(chain);
    const batch = { ...attestation, type: "batch-attestation", size: integer(2, 1000), root: base64(32) };
    const proof = { index: integer(0), siblings: [base64(32)] };
    const stated = statement(chain);
    return { type: "batch-item", version, network, source: { ...bytes, chain }, statement: stated, proof, batch };
  },
  "block-attestation": (chain) => ({ ...attestation, type: "block-attestation", block: block(chain) }),
  "tx-inclusion": (chain) => {
    return {
      ...attestation,
      type: "tx-inclusion",
      block: block(chain),
      source: source(chain),
      inclusion: inclusion[chain],
    };
  },
};
const ENTRY = {
  type: "attestor-key",
  version: 1,
  kid: SHA256,
  keySha256: SHA256,
  pqPublicKey: base64(1952),
  algorandAddress: isAddress,
  origin: /^https?:\/\/([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:[1-9][0-9]{0,4})?$/,
  fromRound: integer(0),
  "untilRound?": integer(1),
  "revokedRound?": integer(0),
  "endorsement?": base64(3309),
};
const HISTORY = {
  version: 1,
  ledger: /^algorand:[\w-]{32}$/,
  keys: (keys) => Array.isArray(keys) && keys.length > 0 && keys.every((key) => fits(key, ENTRY)),
};

/** The chain of a bundle, if the bundle has the form that it should have. */
export function chainOf(bundle) {
  // A transaction's bundle has none. An object may not be convertible.
  const type = typeof bundle?.type === "object" ? "" : String(bundle?.type);
  const shape = Object.hasOwn(BUNDLES, type) ? BUNDLES[type] : undefined;
  return Object.keys(ID).find((chain) => shape && fits(bundle, shape(chain)));
}
export const isHistory = (value) => fits(value, HISTORY);

export function fits(value, shape) {
  if (shape instanceof RegExp) return typeof value === "string" && shape.test(value);
  if (typeof shape === "function") return shape(value);
  if (Array.isArray(shape))
    return Array.isArray(value) && value.length <= 20 && value.every((item) => fits(item, shape[0]));
  if (typeof shape !== "object") return value === shape;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const names = Object.keys(shape).map((name) => name.replace("?", ""));
  return (
    Object.keys(value).every((name) => names.includes(name)) &&
    Object.entries(shape).every(([name, member]) => {
      return Object.hasOwn(value, name.replace("?", ""))
        ? fits(value[name.replace("?", "")], member)
        : name.endsWith("?");
    })
  );
}
