import { availableParallelism } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import type { Checkpoint, StateProofFault } from "@attestd/proof/state-proof";
import { createBlockWorkers } from "../../chains/block-work.ts";
import type { UpstreamNode } from "../../config/formats.ts";
import { Algod } from "../../providers/algod.ts";
import { Indexer } from "../../providers/indexer.ts";
import { algodProofs, type FoundProof, indexerProofs, type ProofSource } from "./proofs.ts";
import { type WalkOptions, walk } from "./walk.ts";

/** A node that gives state proofs. */
export type CheckpointNode = { algod: UpstreamNode } | { indexer: UpstreamNode };

const PAUSE_MS = 1_000;

/**
 * Opens a walk from one checkpoint to the next with a node's state proofs, each verified in a worker thread.
 * @param genesisHash of the checkpoints' network, base64
 * @throws ProviderError when an algod does not answer, or is on another network
 */
export async function openCheckpointWalk(node: CheckpointNode, genesisHash: string, signal: AbortSignal) {
  const source = await sourceOf(node, genesisHash, signal);
  const maxWorkers = availableParallelism();
  const workers = createBlockWorkers({ maxWorkers, background: true });
  const run = workers.run(new URL("../evidence/work.ts", import.meta.url));
  const options = {
    source,
    verify: ({ stateProof, message }: FoundProof, checkpoint: Checkpoint) =>
      run("judge", [stateProof, { message, checkpoint }]) as Promise<StateProofFault | undefined>,
    ahead: 2 * maxWorkers,
    pause: (attempt: number) => wait(PAUSE_MS * 2 ** (attempt - 1), undefined, { signal }),
    signal,
  };
  return {
    /** Host and port of the node. */
    name: source.name,
    /** Returns the last round that the node claims to have. @throws ProviderError */
    lastRound: () => source.lastRound(signal),
    /** See `walk`. */
    checkpoints: (from: Checkpoint, more: Pick<WalkOptions, "to" | "interval">) => walk(from, { ...options, ...more }),
    [Symbol.asyncDispose]: () => workers.close(),
  };
}

async function sourceOf(node: CheckpointNode, genesisHash: string, signal: AbortSignal): Promise<ProofSource> {
  // An indexer names no genesis, but state proofs of another network do not verify.
  if ("indexer" in node) return indexerProofs(new Indexer(node.indexer));
  const algod = new Algod(node.algod, genesisHash);
  // Throws if the node is on another network.
  await algod.params(signal);
  return algodProofs(algod);
}
