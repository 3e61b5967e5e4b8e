import type {
  KeptSource,
  SourceHeader,
  SourceJournal,
  UnfinishedSource,
} from "../../ledger/evidence/source-journal.ts";
import { type StakeColumns, stakeIn } from "./evidence.ts";
import type { Ask } from "./reader.ts";

type UnfinishedRow = Pick<UnfinishedSource, "id" | "blockHash" | "since"> & {
  txnId: string | null;
  header: SourceHeader | null;
};
type SourceRow = Pick<KeptSource, "state" | "round"> & { header: SourceHeader | null } & StakeColumns;

export function sourceJournal(ask: Ask): SourceJournal {
  return {
    dueSourceRound: async (state, now) => (await ask<{ round: number }>("dueSourceRound", state, now))[0]?.round,
    async unfinishedSources(state, round, limit) {
      const rows = await ask<UnfinishedRow>("unfinishedSources", state, round, limit);
      return rows.map(({ txnId, header, ...row }) => {
        return { ...row, ...(txnId !== null && { txnId }), ...(header && { header }) };
      });
    },
    stepSources: async (steps) => void (await ask("stepSources", JSON.stringify(steps))),
    postponeSources: async (state, round, due) => void (await ask("postponeSources", state, round, due)),
    async source(id) {
      const [row] = await ask<SourceRow>("source", id);
      if (row === undefined) return undefined;
      const { state, round, header } = row;
      return { state, round, ...(header && { header }), ...stakeIn(row) };
    },
  };
}
