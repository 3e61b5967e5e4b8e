import type { StatementSync } from "node:sqlite";
import type {
  EvidenceJournal,
  EvidenceStep,
  Included,
  KeptEvidence,
  KeptStateProof,
} from "../../ledger/evidence/journal.ts";
import type { KeptSource, SourceJournal, UnfinishedSource } from "../../ledger/evidence/source-journal.ts";
import { verifiableText } from "../../subjects/batch-answer.ts";
import type { SQL } from "./statements.ts";

type Row = Record<string, unknown>;

/** The commands of `EvidenceJournal` and `SourceJournal`: those that write MUST run inside a transaction. */
export function evidenceCommands(sql: (name: keyof typeof SQL) => StatementSync, bundleOf: (row: Row) => string) {
  function take(one: EvidenceStep): void {
    const { txnId } = one;
    switch (one.to) {
      case "included":
        return void sql("includeEvidence").run({ txnId, inclusion: JSON.stringify(one.inclusion) });
      case "whole": {
        const { siblings, stateProofSha256 } = one;
        return void sql("completeEvidence").run({ txnId, siblings: JSON.stringify(siblings), stateProofSha256 });
      }
      case "impossible":
        return void sql("giveEvidenceUp").run({ txnId });
      case "waiting":
        return void sql("beginEvidenceAgain").run({ txnId });
    }
  }

  return {
    dueRound: (state, now) => sql("dueRound").get(state, now)?.round as number | undefined,
    waiting: (round, limit) =>
      sql("waiting")
        .all(round, limit)
        .map((row) => ({ txnId: row.txnId as string, bundle: verifiableText(bundleOf(row)) })),
    included: (round, limit) =>
      sql("included")
        .all(round, limit)
        .map((row) => ({ txnId: row.txnId, ...parsed(row, "inclusion") }) as Included),
    unfinishedRounds: (state, first, last) =>
      sql("unfinishedRounds")
        .all(state, first, last)
        .map(({ round }) => round as number),
    step: (steps) => steps.forEach(take),
    postpone: (state, round, due) => void sql("postponeEvidence").run(due, state, round),
    keepStateProof({ sha256, message, checkpoint }, content) {
      const { firstAttestedRound: first, lastAttestedRound: last } = message;
      const json = { message: JSON.stringify(message), checkpoint: JSON.stringify(checkpoint) };
      sql("keepStateProof").run({ sha256, first, last, content, ...json });
    },
    stateProofOf(round) {
      const row = sql("stateProofOf").get({ round });
      return row && ({ sha256: row.sha256, ...parsed(row, "message", "checkpoint") } as KeptStateProof);
    },
    stateProof: (sha256) => sql("stateProof").get(sha256)?.content as Uint8Array | undefined,
    evidence(id) {
      const row = sql("ledgerEvidence").get({ id });
      if (row === undefined) return undefined;
      const { bundleId, state, round } = row;
      return { bundleId, state, round, ...parsed(row, "inclusion"), ...stakeIn(row) } as KeptEvidence;
    },
    oldestUnfinished: () => sql("oldestUnfinished").get() as { round: number; since: number } | undefined,
    dueSourceRound: (state, now) => sql("dueSourceRound").get(state, now)?.round as number | undefined,
    unfinishedSources: (state, round, limit) =>
      sql("unfinishedSources")
        .all(state, round, limit)
        .map(({ txnId, header, ...row }) => {
          return { ...row, ...(txnId !== null && { txnId }), ...parsed({ header }, "header") } as UnfinishedSource;
        }),
    stepSources(steps) {
      for (const step of steps) {
        const { id, to } = step;
        const header = to === "included" ? JSON.stringify(step.header) : null;
        const siblings = to === "whole" ? JSON.stringify(step.siblings) : null;
        const stateProofSha256 = to === "whole" ? step.stateProofSha256 : null;
        sql("stepSource").run({ id, to, header, siblings, stateProofSha256 });
      }
    },
    postponeSources: (state, round, due) => void sql("postponeSources").run(due, state, round),
    source(id) {
      const row = sql("source").get(id);
      if (row === undefined) return undefined;
      const { state, round } = row;
      return { state, round, ...parsed(row, "header"), ...stakeIn(row) } as KeptSource;
    },
  } satisfies {
    [K in Exclude<keyof (EvidenceJournal & SourceJournal), "collects">]: (
      ...args: Parameters<(EvidenceJournal & SourceJournal)[K]>
    ) => Awaited<ReturnType<(EvidenceJournal & SourceJournal)[K]>>;
  };
}

/** `stake`, of a row that is joined with its state proof. */
function stakeIn(row: Row): object {
  const { sha256 } = row;
  return sha256 === null ? {} : { stake: { sha256, ...parsed(row, "siblings", "message", "checkpoint") } };
}

/** The members of a row that are JSON, without those that are NULL. */
function parsed(row: Row, ...names: string[]): object {
  const there = names.filter((name) => row[name] !== null);
  return Object.fromEntries(there.map((name) => [name, JSON.parse(row[name] as string)]));
}
