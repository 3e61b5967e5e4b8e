import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy, paidCall } from "./purchase.ts";
import { blocksAtOnce, type Server, startAttestd, startNetworks } from "./server.ts";

const FEW_CONNECTIONS = 10;
const MANY_CONNECTIONS = 1_000;
const FEW_ROWS = 1_000;

/**
 * How cost grows: answers a second to a thousand connections beside ten; and a replay and a paid call on a journal of
 * many rows beside one of a thousand. A million is a thousand squared: a logarithm allows twice the time.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(0);
  using _ = blocksAtOnce(networks);
  const journals = ["few.db", "many.db"].map((name) => join(networks.dir, name)) as [string, string];
  const on = (journal: string) => startAttestd(networks.settingsFile, { DATABASE_URL: `sqlite:${journal}` });

  const rows: Row[] = [];
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
  const verify: Request = { method: "POST", path: "/verify", body: bought.bundle };
  for (const [name, request, status] of [
    ["verify", verify, 200],
    ["challenge", bought.challenge, 402],
  ] as const) {
    const rate = (connections: number) => load.rate(few.url, request, { status, seconds, connections });
    const turns = await inTurns(effort, rate(MANY_CONNECTIONS), rate(FEW_CONNECTIONS));
    rows.push(judge(`${name}-connections`, "/s", turns, "share", { atLeast: 0.7 }));
  }

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
  rows.push(judge("replay-rows", "ms", await inTurns(effort, replay(many), replay(few)), "share", { atMost: 2 }));
  const call = (attestd: Server) => paidCall(attestd, networks);
  rows.push(judge("paid-rows", "ms", await inTurns(effort, call(many), call(few)), "share", { atMost: 2 }));
  return rows;
}

/** Fills a journal with delivered calls of other payers, of the length that rows usually have. */
function fill(path: string, rows: number): void {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA synchronous = OFF");
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`;
  db.exec(`
    BEGIN;
    INSERT INTO calls (key, rail, payer, subject_hash, created_at, request, state, version, open, progress, bundle_id)
      ${numbers} SELECT
        'algorand:' || lower(hex(randomblob(24))) || '/' || i, 'algorand', hex(randomblob(29)), hex(randomblob(32)), i,
        json_object('filler', hex(randomblob(600))), 'done', 6, FALSE, '{}', hex(randomblob(16)) || i
      FROM n;
    INSERT OR IGNORE INTO names (name, key) SELECT key, key FROM calls;
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE);
  `);
  db.close();
}
