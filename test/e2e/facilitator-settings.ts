import type { Sandbox } from "@attestd/sandbox";
import { facilitatorTables } from "../../packages/attestd/src/commands/sandbox/settings.ts";
import { secret } from "../../packages/service/test/settings.ts";

/**
 * The settings of a service's facilitators, as `attestd sandbox` writes them.
 *
 * @param chosen those of some rails; the others have the sandbox's own
 */
export function facilitatorSettings(sandbox: Sandbox, chosen: Partial<Sandbox["facilitators"]> = {}) {
  const all = { ...sandbox.facilitators, ...chosen };
  return { facilitators: facilitatorTables(all, (_name, value) => secret(value)) };
}
