import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * How a person runs this command from the current folder: `npx attestd` in a clone, where npm has installed it. Elsewhere
 * npx would fetch whatever package of that name a registry has.
 */
export function ownCommand(): string {
  return existsSync(join("node_modules", ".bin", "attestd")) ? "npx attestd" : "attestd";
}
