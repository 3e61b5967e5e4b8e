import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode } from "../failure.ts";
import { operatorFailure } from "../operator-failure.ts";
import { readSettings, type SettingsOptions } from "../settings-file.ts";

export type RefundOptions = SettingsOptions & { transaction: string; json?: boolean };

/**
 * Records that a payment was given back, for a call that has been owed for a day and can no longer be attested.
 *
 * @param key payment key
 * @throws Failure
 */
export async function refund(key: string, options: RefundOptions, environment: Environment): Promise<ExitCode> {
  const { out, working } = environment;
  const signal = environment.stop();
  const { transaction } = options;
  const settings = await readSettings(options, environment);
  using _working = working("looking for the transfer");
  const { recordRefund } = await import("@attestd/service/operator");
  const operator = { sandbox: options.sandbox ?? false, signal };
  const call = await recordRefund(settings, { key, transaction }, operator).catch((error: unknown) => {
    throw operatorFailure(error, "not recorded", signal);
  });
  if (options.json) {
    out.json({ key: call.key, state: call.state, payer: call.payer, transaction });
    return EXIT.good;
  }
  out.marked("ok", `Refunded  ${call.key}`);
  out.line(`  to  ${call.payer}, in ${transaction}`);
  out.line("The payer who sends the request again is told that the payment was given back.");
  return EXIT.good;
}
