import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { algorandClient, payUntilAnswered, sign, startDeployment } from "../test/e2e/deployment.ts";
import { type Effort, judge, type Row } from "./measure.ts";

/** Bytes of an ML-DSA-65 signature: a call has one in its bundle and one in its receipt. */
const SIGNATURE_BYTES = 3309;
const AT_ONCE = 25;
const POLL_MS = 100;

/** Bytes on disk of a delivered call at rest, in SQLite, beside its two raw signatures; without and with its evidence. */
export async function run({ payments }: Effort): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), "attestd-bench-size-"));
  await using opened = new AsyncDisposableStack();
  opened.defer(() => rm(folder, { recursive: true }));
  const path = join(folder, "journal.sqlite");
  const deployment = await startDeployment({ networks: [] }, { DATABASE_URL: `sqlite:${path}` });
  opened.defer(() => deployment.close());
  const url = `${deployment.url}/attest`;
  const body = { txid: deployment.sandbox.sampleTransactions.algorand };
  const buy = async () => {
    const payment = await sign(url, body, algorandClient(deployment.sandbox));
    const { status, text } = await payUntilAnswered(url, body, payment);
    if (status !== 200) throw new Error(`a purchase was answered with ${status}: ${text}`);
  };
  for (let bought = 0; bought < payments; bought += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, payments - bought) }, buy));
  const reader = new DatabaseSync(path, { readOnly: true });
  opened.defer(() => reader.close());
  const due = reader.prepare("SELECT count(*) AS due FROM calls WHERE rest = 0");
  while (due.get()?.due !== 0) await setTimeout(POLL_MS);
  await deployment.stopService();
  const { size } = await stat(path);
  const evidence = reader
    .prepare("SELECT sum(pgsize) AS bytes FROM dbstat WHERE name LIKE '%ledger_evidence%' OR name LIKE '%state_proof%'")
    .get()?.bytes as number;
  const beside = (name: string, bytes: number, goal: number) =>
    judge(name, "bytes", [{ ours: bytes / payments, yardstick: 2 * SIGNATURE_BYTES }], "share", { atMost: goal });
  return [beside("journal-size", size - evidence, 1.6), beside("journal-size-evidence", size, 2.4)];
}
