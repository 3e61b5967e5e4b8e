import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode } from "../failure.ts";
import { operate } from "../operate.ts";
import type { SettingsOptions } from "../settings-file.ts";

export type RefundOptions = SettingsOptions & { transaction: string; json?: boolean };

/**
 * Records that a payment was paid back, for a call that has been owed for a day and can no longer be attested.
 *
 * @param key payment key
 */
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
