import type { KeptSource, SourceHeader, SourceJournal } from "../../ledger/evidence/source-journal.ts";
import { type StakeColumns, stakeIn } from "./evidence.ts";
import type { Ask } from "./reader.ts";

type UnfinishedRow = {
  id: string;
  block_hash: string;
  txn_id: string | null;
  created_at: string;
  header: SourceHeader | null;
};
type SourceRow = Pick<KeptSource, "state"> & {
  round: string;
  header: SourceHeader | null;
} & StakeColumns;

export function sourceJournal(ask: Ask): SourceJournal {
  return {
    async dueSourceRound(state, now) {
      const [row] = await ask<{ round: string }>("dueSourceRound", state, now);
      return row && Number(row.round);
    },
    async unfinishedSources(state, round, limit) {
      const rows = await ask<UnfinishedRow>("unfinishedSources", state, round, limit);
      return rows.map(({ id, block_hash: blockHash, txn_id: txnId, created_at, header }) => {
        return {
          id,
          blockHash,
          since: Number(created_at),
          ...(txnId !== null && { txnId }),
          ...(header && { header }),
        };
      });
    },
    async stepSources(steps) {
      await ask("stepSources", JSON.stringify(steps));
    },
    async postponeSources(state, round, due) {
      await ask("postponeSources", state, round, due);
    },
    async source(id) {
      const [row] = await ask<SourceRow>("source", id);
      if (row === undefined) return undefined;
      const { state, round, header } = row;
      return { state, round: Number(round), ...(header && { header }), ...stakeIn(row) };
    },
  };
}
