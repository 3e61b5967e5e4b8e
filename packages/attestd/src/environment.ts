import { enableCompileCache } from "node:module";
import { homedir, platform } from "node:os";
import { isAbsolute, join } from "node:path";
import { ask } from "./ask.ts";
import { liveLine, type Working } from "./live-line.ts";
import { stopSignal } from "./stop.ts";
import { type Input, type Look, type Streams, type Terminal, terminal } from "./terminal.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Everything that a command takes from outside, besides its arguments and the file system. */
export type Environment = {
  /** All variables, for the service's settings. */
  variables: Variables;
  /** PORT, where it is set. */
  port: string | undefined;
  /** Where signed payments wait for their bundle when no sandbox stands: absolute. */
  stateFolder: string;
  /** Where compiled code may be kept: absolute, the user's own. */
  cacheFolder: string;
  stdin: Input;
  /** Standard output: results. */
  out: Terminal;
  /** Standard error: errors, and what concerns people alone where the results are for programs. */
  err: Terminal;
  /** Says on the last line of a terminal what is under way; elsewhere nothing. */
  working(what?: string): Working;
  /** See `ask`. */
  ask(question: string, signal: AbortSignal): Promise<boolean | undefined>;
  /** Begins to listen for whatever asks this process to stop, which until then just ends it. */
  stop(): AbortSignal;
};

/** What a command is run with. */
export type Running = {
  environment: Environment;
  /** Takes the exit code of a command that did not throw. */
  finish(exitCode: number): void;
};

/** The environment of this process; the only reader of its variables. */
export function readEnvironment(): Environment {
  return environmentOf({ ...process.env }, process, stopSignal);
}

/** What variables and streams come to. @param stop see `Environment` */
export function environmentOf(variables: Variables, streams: Streams, stop: () => AbortSignal): Environment {
  const look = lookOf(variables);
  const live = liveLine(streams.stderr, look);
  return {
    variables,
    port: variables.PORT || undefined,
    stateFolder: userFolder("state", variables),
    cacheFolder: userFolder("cache", variables),
    get stdin() {
      return streams.stdin;
    },
    out: terminal(streams.stdout, look, live.around),
    err: terminal(streams.stderr, look, live.around),
    working: live.working,
    ask: (question, signal) => ask(streams, question, signal),
    stop,
  };
}

function lookOf(variables: Variables): Look {
  const { NO_COLOR, FORCE_COLOR, TERM, LC_ALL, LC_CTYPE, LANG } = variables;
  const colour = NO_COLOR || FORCE_COLOR === "0" || FORCE_COLOR === "false" ? "never" : "on a terminal";
  return {
    // POSIX: the first of these that is set to something decides.
    unicode: /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || ""),
    // no-color.org and force-color.org; who sets both is believed to mean the first.
    colour: FORCE_COLOR !== undefined && colour !== "never" ? "always" : colour,
    isDumb: TERM === "dumb",
  };
}

/**
 * Keeps compiled code in a folder, which halves the time of a check: here, and, by way of the environment, in the threads
 * and processes that are started from here, where it also saves 25 MB of compiler each.
 */
export function keepCompiledCode(folder: string): void {
  enableCompileCache(folder);
  process.env.NODE_COMPILE_CACHE ??= folder;
}

/** Variable of the XDG Base Directory Specification, its default, and what macOS has instead; all below the home. */
const USER_FOLDERS = {
  state: { variable: "XDG_STATE_HOME", xdg: ".local/state", darwin: "Library/Application Support" },
  cache: { variable: "XDG_CACHE_HOME", xdg: ".cache", darwin: "Library/Caches" },
} as const;

function userFolder(kind: keyof typeof USER_FOLDERS, variables: Variables): string {
  const { variable, xdg, darwin } = USER_FOLDERS[kind];
  const named = variables[variable];
  // The specification has relative paths ignored.
  if (named !== undefined && isAbsolute(named)) return join(named, "attestd");
  return join(homedir(), platform() === "darwin" ? darwin : xdg, "attestd");
}
