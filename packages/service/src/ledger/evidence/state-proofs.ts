import { splitRawBlock } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import { type Checkpoint, checkpointAfter, MAX_INTERVAL } from "@attestd/proof/state-proof/messages";
import type { Algod } from "../../providers/algod.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import { unavailable } from "../../providers/provider.ts";
import { agree, ifAny } from "../../providers/quorum.ts";
import type { EvidenceJournal, KeptStateProof } from "./journal.ts";
import { checkpointFrom, fromAny, provenNext, type ServedStateProof, stateProofFrom } from "./nodes.ts";
import type { EvidenceWork } from "./threads.ts";

/** The newest blocks, as the ledger's watcher has read them. */
export type NewestBlocks = { latest(): number; block(round: number): Uint8Array | undefined };

export type StateProofOptions = {
  journal: EvidenceJournal;
  nodes: AlgorandNodes;
  newest: NewestBlocks;
  /** Base64, 32 bytes. */
  genesisHash: string;
  work: EvidenceWork;
};

/**
 * A state proof that is kept, or why there is none: the network has not made it yet; no node has it any more; the network has
 * made none for this round, and never will.
 */
export type FoundStateProof = KeptStateProof | "early" | "forgotten" | "never";

/**
 * Fetches, verifies and keeps state proofs, each once. The newest header says when one is there: nobody is asked before.
 *
 * A state proof is verified on the message before, as it was verified and kept; where none is kept, on the checkpoint on which
 * the nodes agree.
 */
export function createStateProofs({ journal, nodes, newest, genesisHash, work }: StateProofOptions) {
  /** Of a round that was asked for in vain: what the newest header said of the next state proof. */
  let asked: { round: number; now: number } | undefined;

  return find;

  /**
   * The state proof that attests a round.
   *
   * @param next the round up to which was proven next when the header of `round` was made
   * @throws ProviderError when a node gives no answer, or one that does not verify
   */
  async function find(round: number, next: number, ends: AbortSignal): Promise<FoundStateProof> {
    // Of the rounds up to `next` none but that state proof attests `round`. Behind it the interval is not known.
    const target = Math.max(next, round);
    const attesting = async (proof: KeptStateProof) =>
      proof.message.firstAttestedRound > round ? ((await attestingItself(round, ends)) ?? "never") : proof;
    const kept = await journal.stateProofOf(target);
    if (kept) return attesting(kept);
    const latest = newest.block(newest.latest());
    if (latest === undefined) return "early";
    const now = provenNext(splitRawBlock(latest).headerBytes);
    // A network that makes none names no round.
    if (now === 0 && next === 0) return "never";

    const isMade = next >= round ? now > next : now - MAX_INTERVAL >= round;
    const mayBeMade = next < round && now > next && !(asked?.round === round && asked.now === now);
    if (!isMade && !mayBeMade) return "early";
    const given = await fetchOf(target, ends);
    if (given) return attesting(given);
    if (isMade) return "forgotten";
    asked = { round, now };
    return "early";
  }

  /**
   * The state proof of a round whose header names a later one. There is none before the network's first state proof; elsewhere the
   * header is not one that stake signed for, because the node that gave it lied.
   */
  async function attestingItself(round: number, ends: AbortSignal): Promise<KeptStateProof | undefined> {
    const proof = (await journal.stateProofOf(round)) ?? (await fetchOf(round, ends));
    return proof && proof.message.firstAttestedRound <= round ? proof : undefined;
  }

  /**
   * Fetches the state proof that attests a round, and keeps the first that verifies.
   * @returns undefined where no node has one
   * @throws ProviderError when none verifies, or a node gives no answer
   */
  async function fetchOf(round: number, ends: AbortSignal): Promise<KeptStateProof | undefined> {
    const ask = async (algod: Algod) => {
      const served = await stateProofFrom(algod, round, ends);
      return served && keep(served, ends);
    };
    const found = await fromAny(nodes.algods, ask, ends);
    if (found === "wrong") throw unavailable(`no node gives a state proof of round ${round} that verifies`);
    return found === "forgotten" ? undefined : found;
  }

  /** @returns the proof once it is verified and kept; "wrong" where it does not verify */
  async function keep({ content, ...served }: ServedStateProof, ends: AbortSignal): Promise<KeptStateProof | "wrong"> {
    const before = served.message.firstAttestedRound - 1;
    const ofKept = await journal.stateProofOf(before);
    const checkpoints = [
      ...(ofKept ? [async () => checkpointAfter(fromBase64(genesisHash), ofKept.message)] : []),
      // Also where what is kept does not lead on: nodes that lied once must not stop everything that follows.
      () => agreedCheckpoint(before + 1, ends),
    ];
    for (const checkpointOf of checkpoints) {
      const proof = { ...served, checkpoint: await checkpointOf() };
      if ((await work.judge(content, proof)) !== undefined) continue;
      await journal.keepStateProof(proof, content);
      return proof;
    }
    return "wrong";
  }

  async function agreedCheckpoint(first: number, ends: AbortSignal): Promise<Checkpoint> {
    const ask = (algod: Algod, signal: AbortSignal) => checkpointFrom(algod, first, genesisHash, signal);
    const question = ifAny<Checkpoint>(`the checkpoint before round ${first}`, JSON.stringify, ends);
    const [checkpoint] = await agree(nodes.algods, ask, question, nodes.rules);
    if (checkpoint) return checkpoint;
    throw unavailable(`no node has the checkpoint before round ${first} any more`);
  }
}
