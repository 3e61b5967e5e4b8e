import type { Adoption } from "@attestd/service/operator";
import { printReport } from "../audit-text.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { namedNode } from "../named-node.ts";
import { operate } from "../operate.ts";
import type { Settings, SettingsOptions } from "../settings-file.ts";

export type AuditOptions = SettingsOptions & {
  since?: string;
  adopt?: string;
  txid?: string;
  chain?: "algorand" | "base";
  height?: string;
  json?: boolean;
};

export type RefundOptions = SettingsOptions & { transaction: string; json?: boolean };

/**
 * Compares the journal with the ledger and the rails, or assigns a payment that the journal has lost to a request.
 *
 * @returns for an audit: `notVerified` when an invariant is broken; else `paidUnfinished` when a paid call is not finished
 *   or a payment not accounted for
 */
export async function audit(options: AuditOptions, environment: Environment): Promise<ExitCode> {
  const since = timeOf(options.since);
  const adoption = adoptionOf(options);
  if (adoption) return adopt(adoption, since, options, environment);
  const texts = { doing: "reading the journal, the ledger and the rails", undone: "not audited" };
  const report = await operate(options, environment, texts, ({ auditJournal }, settings, operator) =>
    auditJournal(settings, { ...operator, since }),
  );
  if (options.json) environment.out.json(report);
  else printReport(report, environment.out);
  return { clean: EXIT.good, open: EXIT.paidUnfinished, violated: EXIT.notVerified }[report.verdict];
}

export type PruneOptions = SettingsOptions & { days: number; dryRun?: boolean; json?: boolean };

/** Prunes calls at rest that are older than some days, or counts them. */
export async function prune(options: PruneOptions, environment: Environment): Promise<ExitCode> {
  const { days, dryRun = false, json } = options;
  const texts = {
    doing: "pruning the journal",
    undone: "not pruned",
    interrupted: "What was pruned stays so: run it again for the rest.",
  };
  const pruning = await operate(options, environment, texts, ({ pruneJournal }, settings, operator) =>
    pruneJournal(settings, { days, isDry: dryRun }, operator),
  );
  const { before, calls, bytes } = pruning;
  environment.out.done(
    json,
    { ...pruning, dryRun },
    `${dryRun ? "To prune" : "Pruned"}  ${calls} calls that began before ${before}`,
    `  ${dryRun ? "take" : "took"}  ${bytes} bytes, packed, of which their bundles and receipts stay`,
  );
  return EXIT.good;
}

export type BackfillOptions = SettingsOptions & { algod?: string; algodTokenFile?: string; json?: boolean };

/** Collects the evidence of the journal's attestations that is not whole. @returns `unreachable` where some is left */
export async function backfill(options: BackfillOptions, environment: Environment): Promise<ExitCode> {
  const { algod, algodTokenFile, json } = options;
  const node = await namedNode("algod", algod, algodTokenFile);
  const texts = {
    doing: "collecting evidence",
    undone: "not all evidence was collected",
    interrupted: "What was collected stays: run it again for the rest.",
  };
  const { rounds, left } = await operate(options, environment, texts, ({ backfillEvidence }, settings, operator) =>
    backfillEvidence(node ? withNode(settings, node) : settings, operator),
  );
  const [first] = left;
  environment.out.done(
    json,
    { rounds, left },
    `Collected the evidence of ${rounds - left.length} of ${rounds} rounds`,
    ...(first === undefined
      ? []
      : [`  ${left.length} left, from round ${first}: no node has all that shows them, or has it yet`]),
  );
  return first === undefined ? EXIT.good : EXIT.unreachable;
}

/** The settings with a node of the ledger that is asked first, whether or not they name it. */
function withNode(settings: Settings, { url, token }: { url: string; token?: string }): Settings {
  const [urls, tokens] = [settings.ALGOD_URL, settings.ALGOD_TOKEN].map((list = "") => list.split(","));
  const nodes = (urls ?? []).filter(Boolean).map((one, index) => ({ url: one, token: tokens?.[index] ?? "" }));
  const isNamed = (one: { url: string }) => URL.parse(one.url.trim())?.href === new URL(url).href;
  const first = { url, token: token ?? nodes.find(isNamed)?.token ?? "" };
  const all = [first, ...nodes.filter((one) => !isNamed(one))];
  return {
    ...settings,
    ALGOD_URL: all.map((one) => one.url).join(),
    ALGOD_TOKEN: all.map((one) => one.token).join(),
  };
}

type WantedAdoption = Omit<Adoption, "onWait">;

async function adopt(
  adoption: WantedAdoption,
  since: number | undefined,
  options: AuditOptions,
  environment: Environment,
): Promise<ExitCode> {
  const { out, err } = environment;
  const onWait = (round: number) =>
    err.line(`Waiting for round ${round}: until then an attestation of the lost call may still come.`);
  const texts = { doing: "adopting the payment", undone: "not adopted" };
  const call = await operate(options, environment, texts, ({ adoptPayment }, settings, operator) =>
    adoptPayment(settings, { ...adoption, onWait }, { ...operator, since }),
  );
  const attestation = call.attempts.at(-1)?.txid;
  const { key, payer, proof, subject, state } = call;
  const transaction = proof?.transaction;
  out.done(
    options.json,
    { key, state, payer, transaction, subject, attestation },
    `Adopted  ${key}`,
    `  paid by   ${payer}, in ${transaction}`,
    `  attested  ${attestation ?? "not yet"}`,
    "The service finishes the call. The payer gets the bundle by sending the same request and payment again.",
  );
  return EXIT.good;
}

/** @returns undefined without `--adopt`. @throws Failure `usage` */
function adoptionOf({ adopt: target, txid, chain, height }: AuditOptions): WantedAdoption | undefined {
  if (target === undefined) {
    if (txid === undefined && chain === undefined && height === undefined) return undefined;
    throw new Failure(EXIT.usage, "--txid, --chain and --height are for a payment: name it with --adopt");
  }
  if (txid === undefined && height === undefined)
    throw new Failure(EXIT.usage, "--adopt needs what the payment was for: --txid, or --chain and --height");
  if (height !== undefined && !/^\d{1,15}$/.test(height))
    throw new Failure(EXIT.usage, "--height is not a whole number");
  return { target, subject: { txid, chain, height: height === undefined ? undefined : Number(height) } };
}

/** @returns Unix s. @throws Failure `usage` */
function timeOf(since: string | undefined): number | undefined {
  if (since === undefined) return undefined;
  const time = Date.parse(since);
  if (Number.isNaN(time))
    throw new Failure(EXIT.usage, `--since ${since} is not a time`, ["Write it as 2026-11-21T08:00Z."]);
  return time / 1000;
}

/** Records that a payment was paid back, for a call that has been owed for a day and can no longer be attested. */
export async function refund(key: string, options: RefundOptions, environment: Environment): Promise<ExitCode> {
  const { transaction } = options;
  const texts = { doing: "looking for the transfer", undone: "not recorded" };
  const { payer, state } = await operate(options, environment, texts, ({ recordRefund }, settings, operator) =>
    recordRefund(settings, { key, transaction }, operator),
  );
  environment.out.done(
    options.json,
    { key, state, payer, transaction },
    `Refunded  ${key}`,
    `  to  ${payer}, in ${transaction}`,
    "A payer who sends the request again gets the answer that the payment was paid back.",
  );
  return EXIT.good;
}
