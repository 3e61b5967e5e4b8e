import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy, paidCall } from "./purchase.ts";
import { blocksAtOnce, type Server, startAttestd, startNetworks } from "./server.ts";

const FEW_ROWS = 1_000;

/**
 * How cost grows: a replay and a paid call on a journal of many rows beside one of a thousand. A million is a thousand squared: a
 * logarithm allows twice the time.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(0);
  using _ = blocksAtOnce(networks);
  const journals = ["few.db", "many.db"].map((name) => join(networks.dir, name)) as [string, string];
  const on = (journal: string) => startAttestd(networks.settingsFile, { journal: { url: `sqlite:${journal}` } });

  const bought = await (async () => {
    await using attestd = await on(journals[0]);
    return await buy(attestd, networks);
  })();
  await copyFile(journals[0], journals[1]);
  fill(journals[0], FEW_ROWS);
  fill(journals[1], effort.rows);

  await using few = await on(journals[0]);
  await using many = await on(journals[1]);
  await using load = startLoad();
  const { seconds } = effort;
  const replay =
    ({ url }: Server) =>
    async () => {
      const { p50 } = await load.run(url, [bought.replay], {
        connections: 1,
        seconds: seconds / 3,
        status: 200,
      });
      return p50;
    };
  const call = (attestd: Server) => paidCall(attestd, networks);
  return [
    judge("replay-rows", "ms", await inTurns(effort, replay(many), replay(few)), "share", { atMost: 2 }),
    judge("paid-rows", "ms", await inTurns(effort, call(many), call(few)), "share", { atMost: 2 }),
  ];
}

/** Fills a journal with copies of its delivered calls, each with a key, names and a bundle of its own. */
function fill(path: string, rows: number): void {
  const db = new DatabaseSync(path);
  const columns = db.prepare("SELECT name FROM pragma_table_info('calls')").all() as { name: string }[];
  const own: Record<string, string> = {
    key: "key || '/' || i",
    payer: "hex(randomblob(29))",
    bundle_id: "substr(bundle_id, 1, 20) || i",
    open: "FALSE",
  };
  const copied = columns.map(({ name }) => own[name] ?? name);
  db.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    CREATE TEMP TABLE sold AS SELECT * FROM calls WHERE bundle_id IS NOT NULL LIMIT 1;
    INSERT INTO calls (${columns.map(({ name }) => name)})
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT ${copied} FROM sold, n;
    INSERT OR IGNORE INTO names (name, key) SELECT key, key FROM calls;
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE);
  `);
  db.close();
}
