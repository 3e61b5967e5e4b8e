import { command, value } from "../../command.ts";
import { EXIT } from "../../failure.ts";
import { nodeUrl, operatorOptions, tokenFile } from "../../options.ts";

export const backfill = command({
  name: "backfill",
  summary: "collect the evidence that a service has missed",
  help: [
    "Collect the evidence that attestations of a journal still lack, after an outage, from a node that keeps old blocks. On",
    "SQLite stop the service first. What is collected stays, and the command may be repeated.",
    "  attestd backfill --algod https://archive.example --settings /etc/attestd/attestd.toml",
  ],
  options: {
    ...operatorOptions,
    algod: value("<url>", "a node to ask before those of the settings", nodeUrl),
    algodTokenFile: tokenFile,
  },
  async run(options, environment) {
    const [{ operate }, { namedNode }, { withAlgod }] = await Promise.all([
      import("../../operator/operate.ts"),
      import("../../trust/chain-check.ts"),
      import("../../operator/settings.ts"),
    ]);
    const { algod, algodTokenFile } = options;
    await namedNode("algod", algod, algodTokenFile);
    const texts = {
      doing: "collecting evidence",
      undone: "not all evidence was collected",
      interrupted: "What was collected stays. Run it again for the rest.",
    };
    const { rounds, left } = await operate(options, environment, texts, ({ backfillEvidence }, settings, operator) =>
      backfillEvidence(algod === undefined ? settings : withAlgod(settings, algod, algodTokenFile), operator),
    );
    const [first] = left;
    environment.out.done(
      options.json,
      { rounds, left },
      `Collected the evidence of ${rounds - left.length} of ${rounds} rounds`,
      ...(first === undefined ? [] : [`  ${left.length} left, from round ${first}: no node has all of it, or not yet`]),
    );
    return first === undefined ? EXIT.good : EXIT.unreachable;
  },
});
