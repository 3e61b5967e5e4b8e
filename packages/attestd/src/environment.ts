import { homedir, platform } from "node:os";
import { join } from "node:path";

/** Everything that attestd takes from the environment; the only place that reads it. */
export type Environment = {
  /** All variables, for the service's settings. */
  variables: Readonly<Record<string, string | undefined>>;
  /** PORT, where it is set. */
  port: string | undefined;
  /** Where signed payments wait for their bundle when no sandbox stands: absolute. */
  stateFolder: string;
  /** Whether the locale's character set is UTF-8. */
  unicode: boolean;
};

export function readEnvironment(): Environment {
  const variables = { ...process.env };
  return {
    variables,
    port: variables.PORT || undefined,
    stateFolder: stateFolder(variables),
    // POSIX: the first of these that is set to something decides.
    unicode: /utf-?8/i.test(variables.LC_ALL || variables.LC_CTYPE || variables.LANG || ""),
  };
}

/** XDG Base Directory Specification; Application Support on macOS; Local AppData on Windows. */
function stateFolder({ XDG_STATE_HOME, LOCALAPPDATA }: NodeJS.ProcessEnv): string {
  if (XDG_STATE_HOME?.startsWith("/")) return join(XDG_STATE_HOME, "attestd");
  if (platform() === "darwin") return join(homedir(), "Library", "Application Support", "attestd");
  if (platform() === "win32" && LOCALAPPDATA) return join(LOCALAPPDATA, "attestd");
  return join(homedir(), ".local", "state", "attestd");
}
