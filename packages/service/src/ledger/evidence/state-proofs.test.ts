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

test("a node that gives a state proof which is none does not keep that of the next node away", async () => {
  const forged = Uint8Array.of(9);
  const kept: KeptStateProof[] = [];
  const before = async () => ({
    message: { ...message, votersCommitment: checkpoint.votersCommitment },
    stateProof: CONTENT,
  });
  const node = (name: string, stateProof: Uint8Array) => ({
    name,
    provenRounds: async (round: number) => (round === lastAttestedRound ? { message, stateProof } : before()),
  });
  const proofOf = createStateProofs({
    journal: {
      stateProofOf: async () => undefined,
      keepStateProof: async (proof: KeptStateProof) => void kept.push(proof),
    } as never,
    nodes: { algods: [node("liar", forged), node("honest", CONTENT)], rules: { onConflict: () => undefined } } as never,
    newest: { latest: () => lastAttestedRound + 20, block: () => NEWEST },
    genesisHash: checkpoint.genesisHash,
    work: { judge: async (content: Uint8Array) => (content === forged ? "forged" : undefined) } as never,
  });
  const found = await proofOf(firstAttestedRound, lastAttestedRound, new AbortController().signal);
  expect(found).toMatchObject({ message });
  expect(kept).toHaveLength(1);
});
