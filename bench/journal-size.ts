import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { pruneAll } from "../packages/service/src/calls/retention.ts";
import type { Config } from "../packages/service/src/config/config.ts";
import { openJournal } from "../packages/service/src/journal/open.ts";
import { sql } from "../packages/service/test/fakes/postgres.ts";
import { secret } from "../packages/service/test/settings.ts";
import { openDatabases } from "../test/crash/databases.ts";
import { algorandClient, payUntilAnswered, sign, startDeployment } from "../test/e2e/deployment.ts";
import { type Effort, judge, type Row } from "./measure.ts";

/** Bytes of an ML-DSA-65 signature: a call has one in its bundle and one in its receipt. */
const SIGNATURE_BYTES = 3309;
const AT_ONCE = 25;
const POLL_MS = 100;

/** How a journal is measured: its bytes without free room, all of them and those of the evidence of attestations and of their sources. */
type Measured = { database: Config["database"]; size(): Promise<number>; evidence(): Promise<number> };

/**
 * Bytes on disk of a delivered call at rest, in either database, beside its two raw signatures: with its evidence, without it,
 * and without it once the call is pruned.
 */
export async function run({ payments }: Effort): Promise<Row[]> {
  const databases = await openDatabases(new Set(["sqlite", "postgres"]));
  try {
    const beside = (name: string, bytes: number, goal: number) =>
      judge(name, "bytes", [{ ours: bytes / payments, yardstick: 2 * SIGNATURE_BYTES }], "share", { atMost: goal });
    const rows: Row[] = [];
    for (const [kind, name, goals] of [
      ["sqlite", "journal-size", { bare: 1.6, whole: 2.4 }],
      ["postgres", "journal-size-postgres", { bare: 2, whole: 3 }],
    ] as const) {
      const url = await databases.create(kind);
      const journal = kind === "sqlite" ? inFile(url.slice("sqlite:".length)) : onServer(url);
      await buy(url, payments, journal.database);
      const [size, evidence] = [await journal.size(), await journal.evidence()];
      await pruneIn(journal.database);
      const pruned = (await journal.size()) - evidence;
      rows.push(
        beside(name, size - evidence, goals.bare),
        beside(`${name}-evidence`, size, goals.whole),
        beside(`${name}-pruned`, pruned, goals.bare),
      );
    }
    return rows;
  } finally {
    await databases.close();
  }
}

/** Buys on Algorand, each time the same transaction, until every call is at rest. */
async function buy(url: string, payments: number, database: Config["database"]): Promise<void> {
  const deployment = await startDeployment({ networks: [] }, { journal: { url: secret(url) } });
  try {
    const endpoint = `${deployment.url}/attest`;
    const body = { txid: deployment.sandbox.sampleTransactions.algorand };
    const one = async () => {
      const payment = await sign(endpoint, body, algorandClient(deployment.sandbox));
      const { status, text } = await payUntilAnswered(endpoint, body, payment);
      if (status !== 200) throw new Error(`a purchase was answered with ${status}: ${text}`);
    };
    for (let bought = 0; bought < payments; bought += AT_ONCE)
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, payments - bought) }, one));
    await deployment.stopService();
    const journal = await openJournal(database, console);
    while ((await journal.open()).length > 0) await setTimeout(POLL_MS);
    await journal.close();
  } finally {
    await deployment.close();
  }
}

async function pruneIn(database: Config["database"]): Promise<void> {
  const journal = await openJournal(database, console);
  await pruneAll(journal, Date.now() + 1, new AbortController().signal);
  await journal.close();
}

function inFile(path: string): Measured {
  const asking = <T>(ask: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(path);
    try {
      return ask(db);
    } finally {
      db.close();
    }
  };
  return {
    database: { kind: "sqlite", path },
    async size() {
      asking((db) => db.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"));
      return (await stat(path)).size;
    },
    evidence: async () =>
      asking(
        (db) =>
          db
            .prepare(
              "SELECT sum(pgsize) AS bytes FROM dbstat WHERE name GLOB '*ledger_evidence*' OR name GLOB '*ledger_blocks*' OR name GLOB '*state_proof*'",
            )
            .get()?.bytes as number,
      ),
  };
}

function onServer(url: string): Measured {
  const sum = async (which: string) => {
    const [row] = await sql(
      url,
      `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname ${which}`,
    );
    return row?.bytes as number;
  };
  return {
    database: { kind: "postgres", url },
    async size() {
      await sql(url, "VACUUM FULL");
      return sum("<> ''");
    },
    evidence: () => sum("IN ('ledger_evidence', 'ledger_blocks', 'state_proofs')"),
  };
}
