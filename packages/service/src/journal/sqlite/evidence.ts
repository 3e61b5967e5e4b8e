import type { StatementSync } from "node:sqlite";
import type { EvidenceJournal, Included, KeptEvidence, KeptStateProof, Stake } from "../../ledger/evidence/journal.ts";
import type { KeptSource, SourceJournal, UnfinishedSource } from "../../ledger/evidence/source-journal.ts";
import { verifiableText } from "../../subjects/batch-answer.ts";
import type { SQL } from "./statements.ts";

type Row = Record<string, unknown>;

/** Every row of a statement. */
export type All = (name: keyof typeof SQL, ...values: (string | number)[]) => Row[];

/** The commands of `EvidenceJournal` and `SourceJournal`: those that write MUST run inside a transaction. */
export function evidenceCommands(
  sql: (name: keyof typeof SQL) => StatementSync,
  all: All,
  bundleOf: (row: Row) => string,
) {
  return {
    dueRound: (state, now) => sql("dueRound").get(state, now)?.round as number | undefined,
    waiting: (round, limit) =>
      all("waiting", round, limit).map((row) => {
        return { txnId: row.txnId as string, bundle: verifiableText(bundleOf(row)) };
      }),
    included: (round, limit) =>
      all("included", round, limit).map((row) => ({ txnId: row.txnId, ...parsed(row, "inclusion") }) as Included),
    unfinishedRounds: (state, first, last) =>
      all("unfinishedRounds", state, first, last).map(({ round }) => round as number),
    step(steps) {
      for (const { txnId: id, ...step } of steps) sql("stepEvidence").run({ id, ...columnsOf(step) });
    },
    postpone: (state, round, due) => void sql("postpone").run(state, round, due),
    keepStateProof({ sha256, message, checkpoint }, content) {
      const { firstAttestedRound, lastAttestedRound } = message;
      const json = [JSON.stringify(message), JSON.stringify(checkpoint)];
      sql("keepStateProof").run(sha256, firstAttestedRound, lastAttestedRound, ...json, content);
    },
    stateProofOf(round) {
      const row = sql("stateProofOf").get(round);
      return row && ({ sha256: row.sha256, ...parsed(row, "message", "checkpoint") } as KeptStateProof);
    },
    stateProof: (sha256) => sql("stateProof").get(sha256)?.content as Uint8Array | undefined,
    evidence(id) {
      const row = sql("ledgerEvidence").get(id);
      if (row === undefined) return undefined;
      const { bundleId, state, round } = row;
      return { bundleId, state, round, ...parsed(row, "inclusion"), ...stakeIn(row) } as KeptEvidence;
    },
    oldestUnfinished: () => sql("oldestUnfinished").get() as { round: number; since: number } | undefined,
    dueSourceRound: (state, now) => sql("dueSourceRound").get(state, now)?.round as number | undefined,
    unfinishedSources: (state, round, limit) =>
      all("unfinishedSources", state, round, limit).map(({ txnId, header, ...row }) => {
        return { ...row, ...(txnId !== null && { txnId }), ...parsed({ header }, "header") } as UnfinishedSource;
      }),
    stepSources(steps) {
      for (const { id, ...step } of steps) sql("stepSource").run({ id, ...columnsOf(step) });
    },
    postponeSources: (state, round, due) => void sql("postponeSources").run(state, round, due),
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

type Step = { to: string; inclusion?: object; header?: object } & Partial<Stake>;

/** What a step writes, NULL where nothing. `part`: the inclusion of a record, the header of a source. */
function columnsOf({ to, inclusion, header, siblings, stateProofSha256 }: Step) {
  const json = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value));
  return { to, part: json(inclusion ?? header), siblings: json(siblings), stateProofSha256: stateProofSha256 ?? null };
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
