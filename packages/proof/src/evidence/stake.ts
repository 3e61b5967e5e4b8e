import {
  type Checkpoint,
  checkStateProof,
  commitsToDecodedHeader,
  isNextInterval,
  MAX_STATE_PROOF_BYTES,
  STATE_PROOF_FAULTS,
  type StateProofFault,
} from "../algorand/state-proof/index.ts";
import type { Finding } from "../chain-format.ts";
import { fromBase64, toBase64, toHex } from "../encoding.ts";
import type { Recorded } from "../report.ts";
import { sha256 } from "../sha2.ts";
import { type CheckpointTable, hasCheckpoint, rootOfCheckpoint, sameCheckpoint } from "./checkpoints.ts";
import type { StakeProof } from "./form.ts";
import type { ProvenHeader } from "./header.ts";

/** What a verifier trusts, and where it finds state proofs. */
export type StakeOptions = {
  /** Checkpoints that the verifier trusts. */
  checkpoints: readonly Checkpoint[];
  /** Tables of checkpoints that the verifier trusts. */
  tables: readonly CheckpointTable[];
  /** Roots of tables of checkpoints that the verifier trusts, lower-case hex of 32 bytes. */
  roots: readonly string[];
  /** Finds a state proof that the evidence names without containing it. @param sha256 lower-case hex */
  stateProof: (sha256: string) => Uint8Array | undefined;
  /** Remembers results of state proofs, so that one that many bundles share is verified once. */
  memory: Map<string, StateProofFault | undefined>;
};

/**
 * Checks that stake signed for a header.
 * @param pointer to the item
 * @returns the faults; if there are none, also who recorded the block, unless the state proof is missing or its
 *   checkpoint not trusted
 */
export function checkStakeProof(
  item: StakeProof,
  header: ProvenHeader,
  options: StakeOptions,
  pointer: string,
): { faults: Finding[]; recorded?: Recorded } {
  const faults = faultsOf(item, header, options, pointer);
  const trusted = faults?.length === 0 ? trustedBy(item, options) : undefined;
  return { faults: faults ?? [], ...(trusted && { recorded: recorded(header, item.checkpoint, trusted) }) };
}

/** @returns the faults; undefined if the state proof itself is missing */
function faultsOf(
  { siblings, message, stateProofSha256, stateProofBase64, checkpoint }: StakeProof,
  header: ProvenHeader,
  { stateProof, memory }: StakeOptions,
  pointer: string,
): Finding[] | undefined {
  if (checkpoint.genesisHash !== toBase64(header.genesisHash))
    return [{ pointer: `${pointer}/checkpoint/genesisHash`, message: "is of another network than the header" }];
  if (!isNextInterval(message, checkpoint))
    return [{ pointer: `${pointer}/message`, message: "does not attest the interval after the checkpoint" }];
  if (!commitsToDecodedHeader(message, header, siblings.map(fromBase64)))
    return [{ pointer: `${pointer}/siblings`, message: "does not lead to the message's commitment" }];
  const at = `${pointer}/stateProofSha256`;
  const question = JSON.stringify([stateProofSha256, message, checkpoint]);
  // A state proof that is present is still checked against its hash.
  if (stateProofBase64 !== undefined || !memory.has(question)) {
    const bytes = stateProofBase64 === undefined ? stateProof(stateProofSha256) : fromBase64(stateProofBase64);
    if (bytes === undefined) return undefined;
    if (bytes.length > MAX_STATE_PROOF_BYTES || toHex(sha256(bytes)) !== stateProofSha256)
      return [{ pointer: at, message: "is not of the state proof" }];
    if (!memory.has(question)) memory.set(question, checkStateProof(bytes, message, checkpoint));
  }
  const fault = memory.get(question);
  return fault === undefined ? [] : [{ pointer: at, message: STATE_PROOF_FAULTS[fault] }];
}

/** Returns why the checkpoint is trusted: itself, a table that contains it, or the root of its table. */
function trustedBy(
  { checkpoint, path }: StakeProof,
  { checkpoints, tables, roots }: StakeOptions,
): { root?: string } | undefined {
  if (checkpoints.some((one) => sameCheckpoint(one, checkpoint))) return {};
  if (tables.some((table) => hasCheckpoint(table, checkpoint))) return {};
  const root = path && rootOfCheckpoint(checkpoint, path);
  return root !== undefined && roots.includes(root) ? { root } : undefined;
}

function recorded({ round, time }: ProvenHeader, checkpoint: Checkpoint, trusted: { root?: string }): Recorded {
  return {
    round,
    time: new Date(time * 1000).toISOString(),
    provenWeight: leastWeight(checkpoint.lnProvenWeight),
    checkpoint: { round: checkpoint.round, ...trusted },
  };
}

/**
 * Returns the least number of microalgos that the logarithm proves, rounded down to four digits. It was rounded up, so
 * the weight is more than that of the next lower value. At four digits every processor's exponential gives the same.
 */
function leastWeight(lnProvenWeight: number): number {
  const weight = Math.exp((lnProvenWeight - 1) / 65536);
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(weight)) - 3);
  return Math.floor(weight / unit) * unit;
}
