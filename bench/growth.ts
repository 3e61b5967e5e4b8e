import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { algorandClient, pay, sign } from "../packages/attestd/test/world.ts";
import { type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row, timed } from "./measure.ts";
import { blocksAtOnce, type Networks, type Server, startAttestd, startNetworks } from "./server.ts";

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
  const bought: { replay: Request; bundle: string } = await (async () => {
    await using attestd = await on(journals[0]);
    return await buy(attestd, networks);
  })();
  await copyFile(journals[0], journals[1]);
  fill(journals[0], FEW_ROWS);
  fill(journals[1], effort.rows);

  await using few = await on(journals[0]);
  await using many = await on(journals[1]);
  await using load = startLoad();
  const rate = (request: Request, status: number, connections: number) => async () => {
    const result = await load.run(few.url, [request], { connections, seconds: effort.seconds, status });
    return result.answered / result.seconds;
  };
  const verify: Request = { method: "POST", path: "/verify", body: bought.bundle };
  const { headers: _paid, ...challenge } = bought.replay;
  for (const [name, request, status] of [
    ["verify", verify, 200],
    ["challenge", challenge, 402],
  ] as const) {
    const turns = await inTurns(
      effort,
      rate(request, status, MANY_CONNECTIONS),
      rate(request, status, FEW_CONNECTIONS),
    );
    rows.push(judge(`${name}-connections`, "/s", turns, "share", { atLeast: 0.7 }));
  }

  const replay =
    ({ url }: Server) =>
    async () => {
      const { p50 } = await load.run(url, [bought.replay], {
        connections: 1,
        seconds: effort.seconds / 3,
        status: 200,
      });
      return p50;
    };
  rows.push(judge("replay-rows", "ms", await inTurns(effort, replay(many), replay(few)), "share", { atMost: 2 }));
  const call = (attestd: Server) => () => paidCall(attestd, networks);
  rows.push(judge("paid-rows", "ms", await inTurns(effort, call(many), call(few)), "share", { atMost: 2 }));
  return rows;
}

async function buy(attestd: Server, networks: Networks): Promise<{ replay: Request; bundle: string }> {
  const { body, payment } = await prepare(attestd, networks);
  const { status, text } = await pay(`${attestd.url}/attest`, body, payment);
  if (status !== 200) throw new Error(`no bundle: ${text}`);
  const headers = { "payment-signature": encodePaymentSignatureHeader(payment) };
  return { replay: { method: "POST", path: "/attest", body: JSON.stringify(body), headers }, bundle: text };
}

/** @returns ms from the payment's leaving to its bundle */
async function paidCall(attestd: Server, networks: Networks): Promise<number> {
  const { body, payment } = await prepare(attestd, networks);
  return timed(async () => {
    const { status, text } = await pay(`${attestd.url}/attest`, body, payment);
    if (status !== 200) throw new Error(`no bundle: ${text}`);
  });
}

async function prepare({ url }: Server, { sandbox }: Networks) {
  const body = { txid: sandbox.sampleTransactions.algorand };
  return { body, payment: await sign(`${url}/attest`, body, algorandClient(sandbox)) };
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
    INSERT INTO names (name, key) SELECT key, key FROM calls WHERE bundle IS NULL;
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE);
  `);
  db.close();
}
