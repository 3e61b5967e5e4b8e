import type { EvidenceJournal, Included, KeptEvidence, KeptStateProof } from "../../ledger/evidence/journal.ts";
import { verifiableText } from "../../subjects/batch-answer.ts";
import { type EvidenceRow, keptOf } from "../evidence-rows.ts";
import type { Ask, Packed, postgresReads } from "./reader.ts";

type WaitingRow = Packed & { txnId: string; bundle: string | null };

/** @param me the id of this replica */
export function evidenceJournal(
  ask: Ask,
  me: string,
  bundleOf: ReturnType<typeof postgresReads>["bundleOf"],
): EvidenceJournal {
  return {
    collects: async () => (await ask<{ collects: boolean }>("collects", me))[0]?.collects ?? false,
    dueRound: async (state, now) => (await ask<{ round: number }>("dueRound", state, now))[0]?.round,
    async waiting(round, limit) {
      const rows = await ask<WaitingRow>("waiting", round, limit);
      return Promise.all(
        rows.map(async (row) => ({ txnId: row.txnId, bundle: verifiableText((await bundleOf(row)) ?? "") })),
      );
    },
    included: (round, limit) => ask<Included>("included", round, limit),
    async unfinishedRounds(state, first, last) {
      const rows = await ask<{ round: number }>("unfinishedRounds", state, first, last);
      return rows.map(({ round }) => round);
    },
    step: async (steps) => void (await ask("step", JSON.stringify(steps))),
    postpone: async (state, round, due) => void (await ask("postpone", state, round, due)),
    async keepStateProof({ sha256, message, checkpoint }, content) {
      const { firstAttestedRound, lastAttestedRound } = message;
      const json = [JSON.stringify(message), JSON.stringify(checkpoint)];
      await ask("keepStateProof", sha256, firstAttestedRound, lastAttestedRound, ...json, content);
    },
    stateProofOf: async (round) => (await ask<KeptStateProof>("stateProofOf", round))[0],
    stateProof: async (sha256) => (await ask<{ content: Buffer }>("stateProof", sha256))[0]?.content,
    async evidence(id) {
      const [row] = await ask<EvidenceRow<KeptEvidence>>("ledgerEvidence", id);
      return row && keptOf<KeptEvidence>(row);
    },
    oldestUnfinished: async () => (await ask<{ round: number; since: number }>("oldestUnfinished"))[0],
  };
}
