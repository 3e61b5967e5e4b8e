import type { Sandbox } from "@attestd/sandbox";
import { newServiceSettings } from "../../packages/attestd/src/commands/sandbox/settings.ts";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";

/**
 * The settings of a service's facilitators, as `attestd sandbox` writes them.
 *
 * @param chosen those of some rails; the others have the sandbox's own
 * @returns undefined for each that has no value, so that an earlier one does not stay
 */
export function facilitatorSettings(sandbox: Sandbox, chosen: Partial<Sandbox["facilitators"]>) {
  const facilitators = { ...sandbox.facilitators, ...chosen };
  const settings = newServiceSettings({ ...sandbox, facilitators }, sandboxFolder("unused"), { host: "", port: 0 });
  const names = ["FACILITATOR", "BASE_FACILITATOR", "SOLANA_FACILITATOR"].flatMap((prefix) =>
    ["URL", "KIND", "KEY_ID", "SECRET"].map((name) => `${prefix}_${name}`),
  );
  return Object.fromEntries(names.map((name) => [name, settings[name]]));
}
