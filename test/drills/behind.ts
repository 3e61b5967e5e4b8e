import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { SignedBundle } from "@attestd/proof";
import type { Sandbox } from "@attestd/sandbox";
import { auditJournal } from "@attestd/service/operator";
import { type Settings, secret, settingsFileOf, withOver } from "../../packages/service/test/settings.ts";
import type { AccountKey } from "../crash/accounts.ts";
import { buy, priceOf, send } from "../crash/buyer.ts";
import type { TestBed } from "../crash/cell.ts";
import type { CommitName } from "../crash/commits.ts";
import { expireLeases, type JournalKind } from "../crash/databases.ts";
import { newDeployment } from "../crash/deployment.ts";
import { endedPurchase, judge } from "../crash/judge.ts";
import { payerOf } from "../crash/payers.ts";
import { retry } from "../crash/process.ts";
import { requestFor } from "../crash/subjects.ts";
import { start } from "../helpers/command.ts";

/** A backup with a call that is under way, and what became of the call afterwards, before the backup is restored. */
export type Behind = {
  kind: JournalKind;
  /** The last commit before the backup. */
  savedAfter: CommitName;
  /** Whether the first service delivered the call; else it ended with the backup. */
  delivers: boolean;
  accountKey?: AccountKey;
};

/** Every commit of a call that is under way. */
export const UNDER_WAY: readonly CommitName[] = ["call_begun", "attestation_signed"];

/** More than an attestation's lease lasts: the ledger itself would take a second one. */
const LEASE_ROUNDS = 120;
const AUDIT_MS = 60_000;
const ADVANCE_EVERY_MS = 50;

/**
 * Buys, saves the journal with the call under way, lets the service go on, restores the backup elsewhere, and sells from it.
 *
 * @returns what is wrong: nothing, when one payment has one attestation, the payer gets its bundle, and the audit is clean
 */
export async function restoreBehind(testBed: TestBed, behind: Behind, folder: string): Promise<string[]> {
  const { kind, savedAfter, delivers, accountKey } = behind;
  const { sandbox, databases, expireLeasesAtOnce } = testBed;
  const signal = AbortSignal.timeout(testBed.patienceMs);
  await using opened = new AsyncDisposableStack();
  const deployment = await newDeployment(sandbox, await databases.create(kind), accountKey);
  opened.defer(() => deployment.close());
  const { settings, databaseUrl } = deployment;
  const run = async (of: Settings, killAt?: CommitName) => {
    const process = await testBed.start(of, killAt ? { killAt: { commit: killAt, nth: 1, side: "after" } } : {});
    opened.defer(() => process.kill());
    return process;
  };
  const attestd = (args: string[], { tables }: Settings) =>
    start([...args, "--sandbox", "--settings", settingsFileOf(tables)], { cwd: folder }).ended;

  const victim = await run(settings, savedAfter);
  const request = await requestFor(sandbox, "transaction", "algorand");
  const payment = await payerOf(sandbox)("algorand", await priceOf(victim.url, request, signal));
  await Promise.all([victim.ended, send(victim.url, request, payment, signal).catch(() => undefined)]);
  const to = join(folder, `behind ${kind} ${savedAfter} ${delivers}`);
  await rm(to, { recursive: true, force: true });
  const saved = await attestd(["backup", "--to", to], settings);
  if (saved.code !== 0) return [`not saved: ${saved.stderr}`];

  const wrong: string[] = [];
  let first: SignedBundle | undefined;
  if (delivers) {
    if (expireLeasesAtOnce && kind === "postgres") await expireLeases(databaseUrl);
    const next = await run(settings);
    const { status, text } = await buy(() => next.url, request, payment, signal);
    await next.kill();
    if (status !== 200) return [`the first service ended with ${status}`];
    first = JSON.parse(text);
    advance(sandbox, LEASE_ROUNDS);
  }

  const elsewhere = withOver(settings, { journal: { url: secret(await databases.create(kind)) } });
  const restored = await attestd(["restore", to], elsewhere);
  if (restored.code !== 0) return [`not restored: ${restored.stderr}`];
  const operator = () => ({ sandbox: true, signal: AbortSignal.timeout(AUDIT_MS) });
  const before = await retry(() => auditJournal(elsewhere, operator()));
  if (before.verdict === "violated") wrong.push(`restored, the audit is violated: ${before.findings[0]?.message}`);

  const last = await run(elsewhere);
  // Rounds pass in which an attestation of the first service could still come.
  const passing = setInterval(() => advance(sandbox, 1), ADVANCE_EVERY_MS);
  const again = await buy(() => last.url, request, payment, signal).finally(() => clearInterval(passing));
  await last.kill();
  if (again.status !== 200) return [...wrong, `the payment ended with ${again.answers}`];
  const { attest: note } = JSON.parse(again.text) as SignedBundle;
  if (first && note.txnId !== first.attest.txnId)
    wrong.push(`${first.attest.txnId} was attested again as ${note.txnId}`);
  const judged = { ...deployment, settings: elsewhere };
  return [...wrong, ...(await judge(sandbox, judged, [endedPurchase(payment, again)]))];
}

function advance({ algorand }: Sandbox, rounds: number): void {
  for (let i = 0; i < rounds; i++) algorand.ledger.advance();
}
