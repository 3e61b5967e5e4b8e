import type { KeptSource, SourceJournal, UnfinishedSource } from "../../ledger/evidence/source-journal.ts";
import { type EvidenceRow, keptOf, present } from "../evidence-rows.ts";
import type { Ask } from "./reader.ts";

export function sourceJournal(ask: Ask): SourceJournal {
  return {
    dueSourceRound: async (state, now) => (await ask<{ round: number }>("dueSourceRound", state, now))[0]?.round,
    async unfinishedSources(state, round, limit) {
      return (await ask("unfinishedSources", state, round, limit)).map((row) => present<UnfinishedSource>(row));
    },
    stepSources: async (steps) => void (await ask("stepSources", JSON.stringify(steps))),
    postponeSources: async (state, round, due) => void (await ask("postponeSources", state, round, due)),
    async source(id) {
      const [row] = await ask<EvidenceRow<KeptSource>>("source", id);
      return row && keptOf<KeptSource>(row);
    },
  };
}
