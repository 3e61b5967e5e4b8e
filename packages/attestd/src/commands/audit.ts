import type { Adoption, OperatorOptions } from "@attestd/service/operator";
import { printReport } from "../audit-text.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { operatorFailure } from "../operator-failure.ts";
import { readSettings, type Settings, type SettingsOptions } from "../settings-file.ts";

export type AuditOptions = SettingsOptions & {
  since?: string;
  adopt?: string;
  txid?: string;
  chain?: "algorand" | "base";
  height?: string;
  json?: boolean;
};

/**
 * Compares the journal with the ledger and the rails, or binds a payment that the journal has lost to a request.
 *
 * @returns for an audit: `notVerified` when an invariant is broken; else `paidUnfinished` when a paid call is not finished
 *   or a payment not accounted for
 * @throws Failure
 */
export async function audit(options: AuditOptions, environment: Environment): Promise<ExitCode> {
  const signal = environment.stop();
  const operator = { sandbox: options.sandbox ?? false, since: timeOf(options.since), signal };
  const adoption = adoptionOf(options);
  const settings = await readSettings(options, environment);
  return adoption
    ? adopt(settings, adoption, operator, options, environment)
    : judge(settings, operator, options, environment);
}

async function judge(
  settings: Settings,
  operator: OperatorOptions,
  { json }: AuditOptions,
  { out, working }: Environment,
): Promise<ExitCode> {
  using _working = working("reading the journal, the ledger and the rails");
  const { auditJournal } = await import("@attestd/service/operator");
  const report = await auditJournal(settings, operator).catch((error: unknown) => {
    throw operatorFailure(error, "not audited", operator.signal);
  });
  if (json) out.json(report);
  else printReport(report, out);
  return { clean: EXIT.good, open: EXIT.paidUnfinished, violated: EXIT.notVerified }[report.verdict];
}

async function adopt(
  settings: Settings,
  adoption: Omit<Adoption, "onWait">,
  operator: OperatorOptions,
  { json }: AuditOptions,
  { out, err, working }: Environment,
): Promise<ExitCode> {
  using _working = working("adopting the payment");
  const { adoptPayment } = await import("@attestd/service/operator");
  const onWait = (round: number) =>
    err.line(`Waiting for round ${round}: until then an attestation of the lost call may still come.`);
  const call = await adoptPayment(settings, { ...adoption, onWait }, operator).catch((error: unknown) => {
    throw operatorFailure(error, "not adopted", operator.signal);
  });
  const attestation = call.attempts.at(-1)?.txid;
  const { key, payer, proof, subject, state } = call;
  const transaction = proof?.transaction;
  if (json) {
    out.json({ key, state, payer, transaction, subject, attestation });
    return EXIT.good;
  }
  out.marked("ok", `Adopted  ${key}`);
  out.line(`  paid by   ${payer}, in ${transaction}`);
  out.line(`  attested  ${attestation ?? "not yet"}`);
  out.line("The service goes on with it. The payer sends the same request and payment again, and gets its bundle.");
  return EXIT.good;
}

function adoptionOf({ adopt: target, txid, chain, height }: AuditOptions): Omit<Adoption, "onWait"> | undefined {
  if (target === undefined) {
    if (txid === undefined && chain === undefined && height === undefined) return undefined;
    throw new Failure(EXIT.usage, "--txid, --chain and --height say what a payment was for: name it with --adopt");
  }
  if (txid === undefined && height === undefined)
    throw new Failure(EXIT.usage, "--adopt needs to know what the payment was for: --txid, or --chain and --height");
  if (height !== undefined && !/^\d{1,15}$/.test(height))
    throw new Failure(EXIT.usage, "--height is not a whole number");
  return { target, subject: { txid, chain, height: height === undefined ? undefined : Number(height) } };
}

/** Unix s. */
function timeOf(since: string | undefined): number | undefined {
  if (since === undefined) return undefined;
  const time = Date.parse(since);
  if (Number.isNaN(time))
    throw new Failure(EXIT.usage, `--since ${since} is no time`, ["Write it as 2026-11-21T08:00Z."]);
  return time / 1000;
}
