import type { BackupManifest } from "@attestd/service/operator";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { operate } from "../operate.ts";
import type { SettingsOptions } from "../settings-file.ts";

export type BackupOptions = SettingsOptions & { to?: string; verify?: string; json?: boolean };

/** Saves the journal, the key history and the settings to a new folder, or checks such a folder. */
export async function backup(options: BackupOptions, environment: Environment): Promise<ExitCode> {
  const { to, verify, json } = options;
  if ((to === undefined) === (verify === undefined))
    throw new Failure(EXIT.usage, "name a new folder with --to, or a backup to check with --verify");
  if (verify !== undefined) {
    const { checkBackup } = await import("@attestd/service/operator");
    const manifest = await checkBackup(verify).catch((error: unknown) => {
      throw new Failure(EXIT.notVerified, "not a whole backup", [(error as Error).message], error);
    });
    environment.out.done(json, manifest, `Whole  ${verify}`, ...lines(manifest));
    return EXIT.good;
  }
  const folder = to as string;
  const texts = { doing: "saving the journal", undone: "not saved" };
  const manifest = await operate(options, environment, texts, ({ backUp }, settings, operator) =>
    backUp(settings, folder, operator),
  );
  environment.out.done(
    json,
    manifest,
    `Saved  ${folder}`,
    ...lines(manifest),
    "The attestor's seeds are not in it: keep them elsewhere.",
  );
  return EXIT.good;
}

export type RestoreOptions = SettingsOptions & { inPlace?: boolean; json?: boolean };

/** Puts the journal of a backup where the settings name none yet, or marks one that was put back by other means. */
export async function restore(
  from: string | undefined,
  options: RestoreOptions,
  environment: Environment,
): Promise<ExitCode> {
  const texts = { doing: "restoring the journal", undone: "not restored" };
  if (options.inPlace) {
    if (from !== undefined) throw new Failure(EXIT.usage, "name a backup, or --in-place, not both");
    const marked = await operate(options, environment, texts, ({ markPutBack }, settings, operator) =>
      markPutBack(settings, operator),
    );
    environment.out.done(
      options.json,
      marked,
      "Marked as put back",
      `  calls     ${marked.calls} not delivered: the ledger is searched before one of them is attested for`,
      ...NEXT,
    );
    return EXIT.good;
  }
  if (from === undefined) throw new Failure(EXIT.usage, "name the folder of a backup, or --in-place");
  const manifest = await operate(options, environment, texts, ({ restoreBackup }, settings, operator) =>
    restoreBackup(settings, from, operator),
  );
  environment.out.done(options.json, manifest, `Restored  ${from}`, ...lines(manifest), ...NEXT);
  return EXIT.good;
}

/** What an operator does after a restore. */
const NEXT = [
  "Payments that came after the backup are missing. Before you sell again, list them, and bind each to its request:",
  "  attestd audit",
  "  attestd audit --adopt PAYMENT --txid TXID",
  "Keys that came after it: attestd keys restore FILE",
];

function lines({ madeAt, version, database, journal }: BackupManifest): string[] {
  const calls = Object.entries(journal.calls).map(([state, count]) => `${count} ${state}`);
  return [
    `  made      ${madeAt}, by attestd ${version}`,
    `  journal   ${database}, schema ${journal.schema}, of ${journal.identity.algorandAddress}`,
    `  calls     ${calls.length === 0 ? "none" : calls.join(", ")}`,
    `  keys      ${journal.keys}`,
  ];
}
