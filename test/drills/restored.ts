import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { adoptPayment, auditJournal } from "@attestd/service/operator";
import { type Settings, secret, settingsFileOf, withOver } from "../../packages/service/test/settings.ts";
import { buy, priceOf, send } from "../crash/buyer.ts";
import type { TestBed } from "../crash/cell.ts";
import type { JournalKind } from "../crash/databases.ts";
import { newDeployment } from "../crash/deployment.ts";
import { rounds } from "../crash/judge.ts";
import { payerOf } from "../crash/payers.ts";
import { retry, type ServiceProcess } from "../crash/process.ts";
import { requestFor } from "../crash/subjects.ts";
import { start } from "../helpers/command.ts";

const AUDIT_MS = 60_000;

/** How one payment ended that was under way when the service was killed. */
export type Restored = { wrong: string[]; was: "unaccounted" | "not made" };

/**
 * Sells, saves the journal, kills the service while it sells again, restores the journal elsewhere, kills the service that
 * starts on it, and settles what the audit names.
 *
 * @param ms from the second payment's first request to the kill
 */
export async function killService(testBed: TestBed, kind: JournalKind, folder: string, ms: number): Promise<Restored> {
  const { sandbox, databases } = testBed;
  await using opened = new AsyncDisposableStack();
  const deployment = await newDeployment(sandbox, await databases.create(kind));
  opened.defer(() => deployment.close());
  const running = async (settings: Settings): Promise<ServiceProcess> => {
    const process = await testBed.start(settings);
    opened.defer(() => process.kill());
    return process;
  };
  const signal = AbortSignal.timeout(testBed.patienceMs);
  const request = await requestFor(sandbox, "transaction", "algorand");
  const sign = async (url: string) => payerOf(sandbox)("algorand", await priceOf(url, request, signal));
  const wrong: string[] = [];

  const by = ({ tables }: Settings) => ["--sandbox", "--settings", settingsFileOf(tables)];
  const victim = await running(deployment.settings);
  const [first, second] = [await sign(victim.url), await sign(victim.url)];
  const bought = await buy(() => victim.url, request, first, signal);
  const to = join(folder, `saved ${kind}`);
  await rm(to, { recursive: true, force: true });
  const saved = await start(["backup", "--to", to, ...by(deployment.settings)], { cwd: folder }).ended;
  if (saved.code !== 0) return { wrong: [`not saved: ${saved.stderr}`], was: "not made" };
  const sold = send(victim.url, request, second, signal).catch(() => undefined);
  await sleep(ms);
  await victim.kill();
  await sold;
  // A settlement that had left is on its chain by then, or never.
  await rounds(sandbox, 3);

  const settings = withOver(deployment.settings, { journal: { url: secret(await databases.create(kind)) } });
  const restored = await start(["restore", to, ...by(settings)], { cwd: folder }).ended;
  if (restored.code !== 0) return { wrong: [`not restored: ${restored.stderr}`], was: "not made" };
  const operator = () => ({ sandbox: true, signal: AbortSignal.timeout(AUDIT_MS) });
  const audit = () => retry(() => auditJournal(settings, operator()));
  const lost = (await audit()).findings.filter(({ code }) => code === "payment_without_row").map(({ key }) => key);
  const was = lost.length > 0 ? "unaccounted" : "not made";
  if (lost.some((key) => key !== second.key)) wrong.push(`the audit names ${lost}`);

  const early = running(settings).catch(() => undefined);
  await sleep(ms);
  await (await early)?.kill();
  const next = await running(settings);
  const again = await buy(() => next.url, request, first, signal);
  if (again.text !== bought.text) wrong.push("the bundle of before the backup is another");
  if (was === "unaccounted") {
    const { answer } = await send(next.url, request, second, signal);
    if (answer !== "503 payment_unaccounted") wrong.push(`the lost payment was answered ${answer}`);
    await next.kill();
    const onWait = (round: number) => {
      while (sandbox.algorand.ledger.round < round) sandbox.algorand.ledger.advance();
    };
    const { txid = "" } = request.body as { txid?: string };
    await retry(() => adoptPayment(settings, { target: second.key, subject: { txid }, onWait }, operator()));
  } else await next.kill();
  const last = await running(settings);
  const delivered = await buy(() => last.url, request, second, signal);
  if (delivered.status !== 200) wrong.push(`the second payment ended ${delivered.answers}`);
  await rounds(sandbox, 2);
  await last.kill();
  const { verdict, counts } = await audit();
  if (verdict !== "clean" || counts.delivered !== 2)
    wrong.push(`the audit is ${verdict}, with ${counts.delivered} of 2`);
  return { wrong, was };
}
