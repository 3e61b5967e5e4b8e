import { command, operand, required, value } from "../../command.ts";
import { EXIT } from "../../failure.ts";
import { operatorOptions } from "../../options.ts";

export const refund = command({
  name: "refund",
  summary: "record that a payment was paid back",
  help: [
    "Record that you paid a payment back, for a call that has been owed for a day and can no longer be attested.",
    "  attestd refund PAYMENT_KEY --transaction TXID --settings /etc/attestd/attestd.toml",
  ],
  operands: [operand("<payment key>", "the call's payment key, as the audit and the log print it")],
  options: {
    ...operatorOptions,
    transaction: required(value("<id>", "the transfer to the payer, on the payment's chain")),
  },
  async run(key, options, environment) {
    const { transaction } = options;
    const { operate } = await import("../../operator/operate.ts");
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
  },
});
