import { command, flag, required, value } from "../../command.ts";
import { EXIT } from "../../failure.ts";
import { operatorOptions, wholeNumber } from "../../options.ts";

export const prune = command({
  name: "prune",
  summary: "delete what no replay and no audit needs of old calls",
  help: [
    "Delete payloads, evidence and attestation transactions of finished calls that are older than some days. Bundles, receipts",
    "and payment keys stay. Stop the service first, or let it prune by journal.retention_days; --dry-run works while it runs.",
    "  attestd prune --days 365 --dry-run --settings /etc/attestd/attestd.toml",
  ],
  options: {
    ...operatorOptions,
    days: required(value("<n>", "older than this", wholeNumber("whole days, at least 1", 1, 99_999))),
    dryRun: flag("count them, and write nothing"),
  },
  async run(options, environment) {
    const { days, dryRun = false } = options;
    const { operate } = await import("../../operator/operate.ts");
    const texts = {
      doing: "pruning the journal",
      undone: "not pruned",
      interrupted: "What was deleted stays deleted. Run it again for the rest.",
    };
    const pruning = await operate(options, environment, texts, ({ pruneJournal }, settings, operator) =>
      pruneJournal(settings, { days, isDry: dryRun }, operator),
    );
    const { before, calls, bytes } = pruning;
    environment.out.done(
      options.json,
      { ...pruning, dryRun },
      `${dryRun ? "To prune" : "Pruned"}  ${calls} calls that began before ${before}`,
      `  ${dryRun ? "take" : "took"}  ${bytes} bytes, compressed, including their bundles and receipts, which stay`,
    );
    return EXIT.good;
  },
});
