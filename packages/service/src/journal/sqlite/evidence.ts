import type { StatementSync } from "node:sqlite";
import { MAX_BUNDLE_BYTES } from "@attestd/proof";
import type {
  Delivered,
  EvidenceJournal,
  Included,
  KeptEvidence,
  KeptStateProof,
  Stake,
} from "../../ledger/evidence/journal.ts";
import type { KeptSource, SourceJournal, UnfinishedSource } from "../../ledger/evidence/source-journal.ts";
import { keptOf, MAX_WAITING_BYTES, present, verifiableText } from "../evidence-rows.ts";
import type { SQL } from "./statements.ts";

type Row = Record<string, unknown>;

/** Parts of a bundle from a place on, as `Journal.partsOf`. */
export type PartsOf = (bundleId: string, from: number, bytes: number) => string[];

/** Every row of a statement. */
export type All = (name: keyof typeof SQL, ...values: (string | number)[]) => Row[];

/** The commands of `EvidenceJournal` and `SourceJournal`: those that write MUST run inside a transaction. */
export function evidenceCommands(
  sql: (name: keyof typeof SQL) => StatementSync,
  all: All,
  { bodyOf, partsOf }: { bodyOf: (row: Row) => string | null; partsOf: PartsOf },
) {
  return {
    dueRound: (state, now) => sql("dueRound").get(state, now)?.round as number | undefined,
    waiting(round, limit) {
      const found: Delivered[] = [];
      let bytes = 0;
      for (const row of all("waiting", round, limit)) {
        if (bytes > MAX_WAITING_BYTES) break;
        const [bundleId, parts] = [row.bundleId as string, row.parts as number];
        const body = bodyOf(row);
        const bundle = verifiableText(
          body,
          parts > 0 ? partsOf(bundleId, 0, body === null ? MAX_BUNDLE_BYTES : 0) : [],
        );
        found.push({ txnId: row.txnId as string, bundle });
        bytes += bundle.length;
      }
      return found;
    },
    included: (round, limit) => all("included", round, limit).map((row) => parsed<Included>(row)),
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
      return row && parsed<KeptStateProof>(row);
    },
    stateProof: (sha256) => sql("stateProof").get(sha256)?.content as Uint8Array | undefined,
    evidence(id) {
      const row = sql("ledgerEvidence").get(id);
      return row && keptOf<KeptEvidence>(parsed(row));
    },
    oldestUnfinished: () => sql("oldestUnfinished").get() as { round: number; since: number } | undefined,
    dueSourceRound: (state, now) => sql("dueSourceRound").get(state, now)?.round as number | undefined,
    unfinishedSources: (state, round, limit) =>
      all("unfinishedSources", state, round, limit).map((row) => present<UnfinishedSource>(parsed(row))),
    stepSources(steps) {
      for (const { id, ...step } of steps) sql("stepSource").run({ id, ...columnsOf(step) });
    },
    postponeSources: (state, round, due) => void sql("postponeSources").run(state, round, due),
    source(id) {
      const row = sql("source").get(id);
      return row && keptOf<KeptSource>(parsed(row));
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

const JSON_COLUMNS: readonly string[] = ["inclusion", "header", "siblings", "message", "checkpoint"];

/** A row as PostgreSQL gives it, its JSON parsed. */
function parsed<R extends object>(row: Row): R {
  const columns = Object.entries(row).map(([name, value]) => {
    return [name, JSON_COLUMNS.includes(name) && value !== null ? JSON.parse(value as string) : value];
  });
  return Object.fromEntries(columns);
}
