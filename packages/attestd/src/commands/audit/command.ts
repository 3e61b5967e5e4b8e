import type { Adoption } from "@attestd/service/operator";
import { choice, command, type Values, value } from "../../command.ts";
import { EXIT, type ExitCode, Failure } from "../../failure.ts";
import { operatorOptions, wholeNumber } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";

const options = {
  ...operatorOptions,
  since: value("<time>", "read the chains from this time on (default: from the attestor's first round)"),
  adopt: value("<payment>", "payment key, or transaction id of the payment"),
  txid: value("<txid>", "with --adopt: the transaction that the payment was for"),
  chain: choice("<name>", "with --adopt: its chain", ["algorand", "base"]),
  height: value(
    "<n>",
    "with --adopt and --chain: the block that the payment was for, or the block of --txid",
    wholeNumber("a whole number", 0, Number.MAX_SAFE_INTEGER),
  ),
};
type AuditOptions = Values<typeof options>;

export const audit = command({
  name: "audit",
  summary: "compare the journal with the ledger and the rails",
  help: [
    "Compare the journal with the ledger and the rails, and print what does not match. Nothing is written.",
    "  attestd audit --settings /etc/attestd/attestd.toml",
    "  attestd audit --settings /etc/attestd/attestd.toml --since 2026-11-20 --json | jq .findings",
    "",
    "Assign a payment that the journal has lost to its request; the payer then gets the bundle by sending both again.",
    "  attestd audit --settings /etc/attestd/attestd.toml --adopt PAYMENT --txid TXID",
  ],
  options,
  async run(given, environment) {
    const since = timeOf(given.since);
    const adoption = adoptionOf(given);
    if (adoption) return adopt(adoption, since, given, environment);
    const [{ operate }, { printReport }] = await Promise.all([
      import("../../operator/operate.ts"),
      import("./text.ts"),
    ]);
    const texts = { doing: "reading the journal, the ledger and the rails", undone: "not audited" };
    const report = await operate(given, environment, texts, ({ auditJournal }, settings, operator) =>
      auditJournal(settings, { ...operator, since }),
    );
    if (given.json) environment.out.json(report);
    else printReport(report, environment.out);
    // Violated: an invariant is broken. Open: a paid call is not finished, or a payment is not accounted for.
    return { clean: EXIT.good, open: EXIT.paidUnfinished, violated: EXIT.notVerified }[report.verdict];
  },
});

type WantedAdoption = Omit<Adoption, "onWait">;

/** Assigns a payment that the journal has lost to the request that it was made for. */
async function adopt(
  adoption: WantedAdoption,
  since: number | undefined,
  given: AuditOptions,
  environment: Environment,
): Promise<ExitCode> {
  const { out, err } = environment;
  const { operate } = await import("../../operator/operate.ts");
  const onWait = (round: number) =>
    err.line(`Waiting for round ${round}: until then an attestation of the lost call may still come.`);
  const texts = { doing: "adopting the payment", undone: "not adopted" };
  const call = await operate(given, environment, texts, ({ adoptPayment }, settings, operator) =>
    adoptPayment(settings, { ...adoption, onWait }, { ...operator, since }),
  );
  const attestation = call.attempts.at(-1)?.txid;
  const { key, payer, proof, subject, state } = call;
  const transaction = proof?.transaction;
  out.done(
    given.json,
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
  return { target, subject: { txid, chain, height } };
}

/** @returns Unix s. @throws Failure `usage` */
function timeOf(since: string | undefined): number | undefined {
  if (since === undefined) return undefined;
  const time = Date.parse(since);
  if (Number.isNaN(time))
    throw new Failure(EXIT.usage, `--since ${since} is not a time`, ["Write it as 2026-11-21T08:00Z."]);
  return time / 1000;
}
