import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { readSettings, type SettingsOptions, settingsFileOf } from "../settings-file.ts";
import type { Mark } from "../terminal.ts";

export type DoctorOptions = SettingsOptions & { json?: boolean };

const COUNTED = { ok: ["good", "good"], warning: ["warning", "warnings"], fail: ["fault", "faults"] } as const;

/** The file of settings, with what may be mistakes in it. */
export async function examinedFile(options: SettingsOptions, { variables }: Environment) {
  const file = await settingsFileOf(options);
  if (!file) return undefined;
  const { path, names, settings, doubts } = file;
  const replaced = names.filter((name) => variables[name] && variables[name] !== settings[name]);
  const doubtsAboutNames = replaced.map((name) => `${name} of the environment replaces the one in ${path}.`);
  return { path, names, doubts: [...doubts, ...doubtsAboutNames] };
}

/**
 * Examines a deployment, and prints a line for each finding as it comes. Changes nothing, and spends nothing.
 *
 * @returns `notVerified` when something fails
 * @throws Failure `usage` when the settings cannot be read
 */
export async function doctor(options: DoctorOptions, environment: Environment): Promise<ExitCode> {
  const { out } = environment;
  const signal = environment.stop();
  const settings = await readSettings(options, environment);
  const file = await examinedFile(options, environment);
  const working = environment.working("examining");
  const { examine } = await import("@attestd/service/operator");
  const count: Record<Mark & keyof typeof COUNTED, number> = { ok: 0, warning: 0, fail: 0 };
  let last: string | undefined;
  try {
    for await (const finding of examine(settings, { sandbox: options.sandbox ?? false, signal, file })) {
      const { subject, mark, message } = finding;
      count[mark] += 1;
      if (options.json) out.json({ subject, mark, message });
      else {
        if (subject !== last) out.line(subject);
        out.marked(mark, message, 2);
      }
      last = subject;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Failure(EXIT.interrupted, "interrupted", ["Nothing was changed."], error);
  } finally {
    working.show(undefined);
  }
  const parts = (["fail", "warning", "ok"] as const).filter((mark) => count[mark] > 0);
  if (!options.json)
    out.line(parts.map((mark) => `${count[mark]} ${COUNTED[mark][count[mark] === 1 ? 0 : 1]}`).join(", "));
  return count.fail > 0 ? EXIT.notVerified : EXIT.good;
}
