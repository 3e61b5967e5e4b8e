import type { BackupManifest } from "@attestd/service/operator";
import { command, conflicting, flag, operand, value } from "../../command.ts";
import { EXIT, Failure } from "../../failure.ts";
import { operatorOptions } from "../../options.ts";

export const backup = command({
  name: "backup",
  summary: "save the journal, the key history and the settings",
  help: [
    "Save the journal, the key history and the settings to a new folder, while the service sells; without the seeds.",
    "  attestd backup --settings /etc/attestd/attestd.toml --to /backups/2026-11-23",
    "  attestd backup --verify /backups/2026-11-23         read every byte of it, on any machine",
  ],
  options: {
    ...operatorOptions,
    to: conflicting(value("<folder>", "the new folder"), "verify"),
    verify: value("<folder>", "check a backup instead"),
  },
  async run(options, environment) {
    const { to, verify, json } = options;
    if (verify !== undefined) {
      const { checkBackup } = await import("@attestd/service/operator");
      const manifest = await checkBackup(verify).catch((error: unknown) => {
        throw new Failure(EXIT.notVerified, "not a complete backup", [(error as Error).message], error);
      });
      environment.out.done(json, manifest, `Complete  ${verify}`, ...lines(manifest));
      return EXIT.good;
    }
    if (to === undefined)
      throw new Failure(EXIT.usage, "name a new folder with --to, or a backup to check with --verify");
    const { operate } = await import("../../operator/operate.ts");
    const texts = { doing: "saving the journal", undone: "not saved" };
    const manifest = await operate(options, environment, texts, ({ backUp }, settings, operator) =>
      backUp(settings, to, operator),
    );
    const seeds = "The attestor's seeds are not in it: keep them elsewhere.";
    environment.out.done(json, manifest, `Saved  ${to}`, ...lines(manifest), seeds);
    return EXIT.good;
  },
});

export const restore = command({
  name: "restore",
  summary: "restore the journal of a backup where there is none",
  help: [
    "Restore the journal of a backup to where journal.url names none yet. Audit before you sell again.",
    "  attestd restore /backups/2026-11-23 --settings /etc/attestd/attestd.toml",
    "",
    "After a snapshot, a recovery to a point in time, or a switch to a standby that was behind, and before you sell again:",
    "  attestd restore --in-place --settings /etc/attestd/attestd.toml",
  ],
  operands: [operand("[folder]", "the backup")],
  options: { ...operatorOptions, inPlace: flag("the journal that journal.url names was restored by other means") },
  async run(folder, options, environment) {
    const { inPlace = false, json } = options;
    if (inPlace && folder !== undefined) throw new Failure(EXIT.usage, "name a backup, or --in-place, not both");
    const { operate } = await import("../../operator/operate.ts");
    const texts = { doing: "restoring the journal", undone: "not restored" };
    if (inPlace) {
      const marked = await operate(options, environment, texts, ({ markRestored }, settings, operator) =>
        markRestored(settings, operator),
      );
      environment.out.done(
        json,
        marked,
        "Marked as restored",
        `  calls     ${marked.calls} not delivered: each is attested only after the ledger was searched for its attestation`,
        ...NEXT,
      );
      return EXIT.good;
    }
    if (folder === undefined) throw new Failure(EXIT.usage, "name the folder of a backup, or --in-place");
    const manifest = await operate(options, environment, texts, ({ restoreBackup }, settings, operator) =>
      restoreBackup(settings, folder, operator),
    );
    environment.out.done(json, manifest, `Restored  ${folder}`, ...lines(manifest), ...NEXT);
    return EXIT.good;
  },
});

/** What an operator does after a restore. */
const NEXT = [
  "Payments that came after the backup are missing. Before you sell again, list them, and assign each to its request:",
  "  attestd audit",
  "  attestd audit --adopt PAYMENT --txid TXID",
  "Keys that came after it: attestd keys restore FILE",
];

function lines({ madeAt, version, database, journal }: BackupManifest): string[] {
  const calls = Object.entries(journal.calls).map(([state, count]) => `${count} ${state}`);
  return [
    `  made      ${madeAt}, by attestd ${version}`,
    `  journal   ${database}, schema ${journal.schema}, account ${journal.identity.algorandAddress}`,
    `  calls     ${calls.length === 0 ? "none" : calls.join(", ")}`,
    `  keys      ${journal.keys}`,
  ];
}
