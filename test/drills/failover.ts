import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox } from "@attestd/sandbox";
import { adoptPayment, auditJournal } from "@attestd/service/operator";
import { withOver } from "../../packages/service/test/settings.ts";
import { priceOf, send } from "../crash/buyer.ts";
import type { TestBed } from "../crash/cell.ts";
import { type Deployment, newDeployment } from "../crash/deployment.ts";
import { attestationsOf, commitmentOf, endedPurchase, judge, rounds, signedIn } from "../crash/judge.ts";
import { payerOf, type SignedPayment } from "../crash/payers.ts";
import { retry, type ServiceProcess } from "../crash/process.ts";
import { requestFor } from "../crash/subjects.ts";
import { startCluster } from "./cluster.ts";

const AUDIT_MS = 60_000;
/** Between two rounds after the failover, in ms: 100 of them pass before an attestation is known not to come any more. */
const ROUND_MS = 50;
const LOOK_MS = 50;
/** In which a replica looks at its journal twice. */
const TWO_LOOKS_MS = 11_000;
const STOPPED = "journal_behind: The journal lacks commits that it had confirmed.";
const LOST = "journal_behind: the journal lost commits before ";

/** What is wrong after a failover: nothing, when it held; and what it showed. */
export type FailedOver = { wrong: string[]; was: string };

/**
 * Sells from two replicas on one PostgreSQL, kills the primary, promotes the standby, and lets the replicas go on.
 *
 * Asynchronous, the standby lacks the end of a call that was delivered, all of another that was, and a call that is under way:
 * sales must stop with `journal_behind` and go on again, no payment may have two attestations, and the audit must name what
 * is lost and nothing else. Synchronous, it lacks nothing, sales never stop for that, and everything is delivered.
 */
export async function failOver(testBed: TestBed, { synchronous }: { synchronous: boolean }): Promise<FailedOver> {
  const { sandbox } = testBed;
  const signal = AbortSignal.timeout(testBed.patienceMs);
  await using opened = new AsyncDisposableStack();
  const cluster = opened.use(await startCluster({ synchronous }));
  const deployment = await newDeployment(sandbox, cluster.url);
  opened.defer(() => deployment.close());
  const { settings } = deployment;
  let logged = "";
  const onLog = (text: string) => {
    logged += text;
  };
  const run = async () => {
    const replica = await testBed.start(withOver(settings, { log_level: "error" }), { onLog });
    opened.defer(() => replica.kill());
    return replica;
  };
  const [one, two] = [await run(), await run()];
  const request = await requestFor(sandbox, "transaction", "algorand");
  const required = await priceOf(one.url, request, signal);
  const sign = () => payerOf(sandbox)("algorand", required);
  const [whole, behind, lost, underWay, fresh] = [await sign(), await sign(), await sign(), await sign(), await sign()];

  const wholly = await endOf(one, whole);
  const delivering = await begin(one, behind);
  await cluster.caughtUp();
  if (!synchronous) cluster.holdStreaming();
  const [first, gone] = [await delivering.end, await endOf(one, lost)];
  const interrupted = await begin(two, underWay);
  await cluster.failOver();
  const promoted = performance.now();
  const passing = setInterval(() => sandbox.algorand.ledger.advance(), ROUND_MS);
  opened.defer(async () => clearInterval(passing));
  const shown = await Promise.all([one, two].map(watch));
  const seconds = ((performance.now() - promoted) / 1_000).toFixed(1);

  const wrong = shown.flatMap(({ refused, degradedReason }, i) => {
    const isAsExpected = synchronous
      ? !(refused ?? degradedReason)
      : refused?.startsWith("503") && degradedReason?.startsWith(LOST);
    return isAsExpected
      ? []
      : [`replica ${i} answered ${refused} while it was behind, and then says ${degradedReason}`];
  });
  const [sold, again, later] = [await endOf(two, fresh), await endOf(one, whole), await endOf(two, behind)];
  if (sold.status !== 200) wrong.push(`sales did not go on: ${sold.answer}`);
  if (again.text !== wholly.text) wrong.push("a bundle that the standby had is another");
  if (txidOf(later) !== txidOf(first)) wrong.push(`what ${txidOf(first)} attested is attested again: ${later.answer}`);
  const open = [
    // Of the other replica: the one that delivered it may still have the answer in its memory.
    { payment: lost, end: await endOf(two, lost) },
    { payment: underWay, end: await interrupted.end },
  ];
  const unaccounted = open.filter(({ end }) => end.status !== 200).map(({ payment }) => payment);
  if (!synchronous && !unaccounted.includes(lost)) wrong.push("a call that was lost is answered as if it were there");
  if (synchronous && unaccounted.length > 0) wrong.push(`lost: ${open.map(({ end }) => end.answer)}`);
  await rounds(sandbox, 2);
  clearInterval(passing);
  for (const replica of [one, two]) await replica.kill();
  wrong.push(...(await attestedTwice(deployment, sandbox)));

  // What the journal has lost is named by the audit, and by the log of whom it was lost to.
  const operator = () => ({ sandbox: true, signal: AbortSignal.timeout(AUDIT_MS) });
  const { findings } = await retry(() => auditJournal(settings, operator()));
  const named = findings.filter(({ code }) => code === "payment_without_row").map(({ key }) => key);
  if (
    named.toSorted().join() !==
    unaccounted
      .map(({ key }) => key)
      .toSorted()
      .join()
  )
    wrong.push(`the audit names ${named}, of ${unaccounted.map(({ key }) => key)}`);
  const lines = /call_(lost|behind)/g;
  const isLogged = [...logged.matchAll(lines)].length;
  if (synchronous ? isLogged > 0 : isLogged === 0) wrong.push(`${isLogged} lines of the log name a lost call`);

  for (const { key } of unaccounted) await adopt(key);
  const after = await run();
  const all = [whole, behind, lost, underWay, fresh];
  const ended = [];
  for (const payment of all) ended.push(endedPurchase(payment, await endOf(after, payment)));
  if (gone.status === 200 && ended[2]?.bundle && signedIn(ended[2].bundle).attest.txnId !== txidOf(gone))
    wrong.push("a call that was lost is attested again");
  await after.kill();
  wrong.push(...(await judge(sandbox, deployment, ended)));
  const was = synchronous ? "nothing lost" : `sold again after ${seconds} s, ${unaccounted.length} unaccounted`;
  return { wrong, was };

  /** Sends a payment until the answer is a bundle or a 402, or that the journal has lost it. */
  async function endOf({ url }: ServiceProcess, payment: SignedPayment) {
    for (;;) {
      signal.throwIfAborted();
      const end = await send(url, request, payment, signal).catch(() => undefined);
      if (end && [200, 402].includes(end.status)) return end;
      if (end?.answer === "503 payment_unaccounted") return end;
      await sleep(LOOK_MS);
    }
  }

  /** Sends a payment, and waits until its call is committed. @returns its end, which is still to come */
  async function begin(replica: ServiceProcess, payment: SignedPayment) {
    const before = replica.committed.length;
    const end = endOf(replica, payment);
    while (replica.committed.length === before) await replica.nextCommit();
    return { end };
  }

  /** Looks at `/ready` until the replica sells again. @returns how it refused a payment meanwhile, and what it says at last */
  async function watch({ url }: ServiceProcess) {
    let refused: string | undefined;
    for (const from = performance.now(); ; await sleep(LOOK_MS)) {
      signal.throwIfAborted();
      const response = await fetch(`${url}/ready`);
      const { reasons } = (await response.json()) as { reasons: string[] };
      const isStopped = reasons.some((reason) => reason.startsWith(STOPPED));
      if (isStopped) refused ??= (await send(url, request, fresh, signal)).answer;
      const isOver = synchronous ? performance.now() - from > TWO_LOOKS_MS : refused !== undefined;
      if (isOver && response.status === 200)
        return { refused, degradedReason: reasons.find((reason) => reason.startsWith(LOST)) };
    }
  }

  async function adopt(target: string): Promise<void> {
    const onWait = (round: number) => {
      while (sandbox.algorand.ledger.round < round) sandbox.algorand.ledger.advance();
    };
    const { txid = "" } = request.body as { txid?: string };
    await retry(() => adoptPayment(settings, { target, subject: { txid }, onWait }, operator()));
  }
}

function txidOf({ status, text }: { status: number; text: string }): string | undefined {
  return status === 200 ? signedIn(text).attest.txnId : undefined;
}

/** The payments for which the ledger has more than one attestation. */
async function attestedTwice({ accounts }: Deployment, sandbox: Sandbox): Promise<string[]> {
  const notes = await attestationsOf(sandbox, accounts);
  const byPayment = Map.groupBy(notes, ({ note }) => commitmentOf(note));
  const twice = [...byPayment].filter(([payment, { length }]) => payment !== undefined && length > 1);
  return twice.map(([payment, { length }]) => `${length} attestations of the payment ${payment}`);
}
