import { decodeMsgpackMap, encodeMsgpack, structMap } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import { expect, test, vi } from "vitest";
import { testEvidence } from "../../../../../test/bundles/evidence.ts";
import type { Algod } from "../../providers/algod.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import type { EvidenceJournal, KeptStateProof } from "./journal.ts";
import { createStateProofs } from "./state-proofs.ts";
import type { EvidenceWork } from "./threads.ts";

const { sourceStateProof, sourceInclusion } = testEvidence();
const { message, checkpoint } = sourceStateProof;
const { firstAttestedRound, lastAttestedRound } = message;
const CONTENT = Uint8Array.of(1, 2, 3);
/** The newest header names a later state proof: that of the interval is made. */
const NEWEST = encodeMsgpack(
  structMap({
    block: decodeMsgpackMap(fromBase64(sourceInclusion.headerBase64)).set(
      "spt",
      new Map([[0, structMap({ n: lastAttestedRound + 16 })]]),
    ),
  }),
);

test("blocks that need the same state proof ask for it once", async () => {
  const kept = new Map<number, KeptStateProof>();
  const provenRounds = vi.fn(async (round: number) => {
    if (round === lastAttestedRound) return { message, stateProof: CONTENT };
    return { message: { ...message, votersCommitment: checkpoint.votersCommitment }, stateProof: CONTENT };
  });
  const journal = {
    stateProofOf: async (round: number) => (round >= firstAttestedRound ? kept.get(lastAttestedRound) : undefined),
    stateProof: async () => CONTENT,
    keepStateProof: async (proof: KeptStateProof) => void kept.set(proof.message.lastAttestedRound, proof),
  } as Partial<EvidenceJournal> as EvidenceJournal;
  const proofOf = createStateProofs({
    journal,
    nodes: {
      algods: [{ name: "node", provenRounds } as Partial<Algod> as Algod],
      rules: { onConflict: () => undefined },
    } as Partial<AlgorandNodes> as AlgorandNodes,
    newest: { latest: () => lastAttestedRound + 20, block: () => NEWEST },
    genesisHash: checkpoint.genesisHash,
    work: { judge: async () => undefined } as Partial<EvidenceWork> as EvidenceWork,
  });
  const never = new AbortController().signal;
  for (const round of [firstAttestedRound, firstAttestedRound + 1])
    expect(await proofOf(round, lastAttestedRound, never)).toMatchObject({ message });
  expect(provenRounds.mock.calls.filter(([round]) => round === lastAttestedRound)).toHaveLength(1);
});
