import {
  type Checkpoint,
  readCheckpoint,
  readStateProofMessage,
  type StateProofMessage,
} from "../algorand/state-proof/message.ts";
import { algorandAddress } from "../bundle-members.ts";
import { formatError } from "../errors.ts";
import { jsonValue } from "../json/parse.ts";
import { base64, constant, hex32Bytes, integer, isObject, list, object, type Reader, string } from "../json/readers.ts";
import { type CheckpointPath, readCheckpointPath } from "./checkpoints.ts";

/** Evidence for a bundle, kept next to it and unsigned: every item proves its own statement. */
export type Evidence = {
  format: "attestd.evidence/1";
  /**
   * `sha256:` and lower-case hex of the canonical bytes of the bundle, including its signature. For batch items, of
   * their head: one evidence serves all of them.
   */
  bundle: string;
  items: EvidenceItem[];
};

/** Of an item with an unknown type only the type is read. */
export type EvidenceItem = KnownItem | { type: string };

type KnownItem =
  | AlgorandInclusionItem
  | AlgorandStateProofItem
  | AlgorandAuthorisationItem
  | AlgorandSourceInclusionItem
  | AlgorandSourceStateProofItem;

/** Proves that the attestation transaction is in the block with this header. */
export type AlgorandInclusionItem = {
  type: "algorand-inclusion/1";
  /** Canonical msgpack of the unsigned transaction, base64. */
  txnBytesBase64: string;
  /** Canonical msgpack of the header, base64. */
  headerBase64: string;
  /** The transaction's index in the payset, from 0. */
  index: number;
  /** Canonical msgpack of the in-block map, base64, without the prefix `STIB`. */
  stibBase64: string;
  /** From leaf to the header's `txn256`, base64 of 32 bytes each. */
  siblings: string[];
};

/** Proves that the network's stake signed for the header of the inclusion. */
export type AlgorandStateProofItem = StakeProof & { type: "algorand-state-proof/1" };

/** Proves that the network's stake signed for the source's header. */
export type AlgorandSourceStateProofItem = StakeProof & { type: "algorand-source-state-proof/1" };

/** Proves that a network's stake signed for a header. */
export type StakeProof = {
  /** From the light header to the message's `blockHeadersCommitment`, base64 of 32 bytes each. */
  siblings: string[];
  message: StateProofMessage;
  /** Lower-case hex of the SHA-256 of the state proof's canonical msgpack. */
  stateProofSha256: string;
  /** The state proof, base64. If absent, it is kept elsewhere, once for all rounds of the interval. */
  stateProofBase64?: string;
  /** The checkpoint on which the state proof is verified. */
  checkpoint: Checkpoint;
  /** The path from the checkpoint to the root of a table. */
  path?: CheckpointPath;
};

/** The algorithm with which an account signed. */
export type AuthorisationAlgorithm = (typeof AUTHORISATION_ALGORITHMS)[number];
const AUTHORISATION_ALGORITHMS = ["ed25519", "falcon-1024"] as const;

/** The key that signed the inclusion's transaction. The signature is in the inclusion's `stibBase64`. */
export type AlgorandAuthorisationItem = {
  type: "algorand-authorisation/1";
  alg: AuthorisationAlgorithm;
  /** The address of the account to whose key the sender was rekeyed; absent if the sender's own key signed. */
  authorizer?: string;
};

/** Proves that the attested transaction, whose bytes are in the bundle, is in the block with this header. */
export type AlgorandSourceInclusionItem = Omit<AlgorandInclusionItem, "type" | "txnBytesBase64"> & {
  type: "algorand-source-inclusion/1";
};

/** The size limit of evidence: two state proofs of the largest size, in base64, and the rest. */
export const MAX_EVIDENCE_BYTES = 9 * 2 ** 20;
const MAX_ITEMS = 20;

const digest = base64(32);
/** The depth limit of a payset's tree: see `algorand/format.ts`. */
const siblings = list(20, digest);

const underHeader = { headerBase64: base64(), index: integer(0), stibBase64: base64(), siblings };
const stakeProof = {
  siblings,
  message: readStateProofMessage,
  stateProofSha256: hex32Bytes,
  checkpoint: readCheckpoint,
};
const stakeProofOptions = { stateProofBase64: base64(), path: readCheckpointPath };

/** An item's type and the readers of its other members. */
function item(type: string, required: Members, optional?: Members): [string, Reader<EvidenceItem>] {
  return [type, object({ type: constant(type), ...required }, optional)];
}
type Members = Readonly<Record<string, Reader<unknown>>>;

const ITEMS: ReadonlyMap<string, Reader<EvidenceItem>> = new Map([
  item("algorand-inclusion/1", { txnBytesBase64: base64(), ...underHeader }),
  item("algorand-state-proof/1", stakeProof, stakeProofOptions),
  item("algorand-source-inclusion/1", underHeader),
  item("algorand-source-state-proof/1", stakeProof, stakeProofOptions),
  item("algorand-authorisation/1", { alg: constant(...AUTHORISATION_ALGORITHMS) }, { authorizer: algorandAddress }),
]);

const readItem: Reader<EvidenceItem> = (value, pointer) => {
  const type = isObject(value) ? value.type : undefined;
  if (typeof type !== "string") throw formatError(`${pointer}/type`, "must be a string");
  return ITEMS.get(type)?.(value, pointer) ?? { type };
};

const readMembers = object({
  format: constant("attestd.evidence/1"),
  bundle: string("sha256: and lower-case hex of 32 bytes", /^sha256:[0-9a-f]{64}$/),
  items: list(MAX_ITEMS, readItem),
});

/**
 * Reads evidence, without checking it.
 * @param input text or UTF-8 of at most `MAX_EVIDENCE_BYTES`, or a value as `parseJson` returns it
 * @throws ProofError `format`; `json` for a text
 */
export function parseEvidence(input: unknown): Evidence {
  const evidence = readMembers(jsonValue(input, { maxSize: MAX_EVIDENCE_BYTES }), "");
  const known = evidence.items.map(({ type }) => type).filter((type) => ITEMS.has(type));
  const twice = known.find((type, index) => known.indexOf(type) !== index);
  if (twice !== undefined) throw formatError("/items", `has ${twice} twice`);
  return evidence;
}

/** Finds the item of a type and its index; undefined if there is none. */
export function itemOf<T extends KnownItem["type"]>(
  { items }: Evidence,
  type: T,
): { item: Extract<EvidenceItem, { type: T }>; pointer: string } | undefined {
  const place = items.findIndex((item) => item.type === type);
  if (place === -1) return undefined;
  return { item: items[place] as Extract<EvidenceItem, { type: T }>, pointer: `/items/${place}` };
}
