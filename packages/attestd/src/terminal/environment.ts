import { enableCompileCache } from "node:module";
import { homedir, platform } from "node:os";
import { isAbsolute, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { type Input, type Look, liveLine, type Streams, type Terminal, terminal, type Working } from "./terminal.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The answer to a question; `interrupted` on Ctrl-C and at the end of the input; undefined without a terminal to ask at. */
export type Answer = "yes" | "no" | "interrupted" | undefined;

/** Everything that a command gets from its process, besides arguments and the file system. */
export type Environment = {
  /** All environment variables, for the service's settings. */
  variables: Variables;
  /** Absolute path of the folder for signed payments outside a sandbox; undefined for a user without a home folder. */
  stateFolder: string | undefined;
  /** Absolute path of the user's own folder for compiled code; undefined for a user without a home folder. */
  cacheFolder: string | undefined;
  stdin: Input;
  /** Standard output: results. */
  out: Terminal;
  /** Standard error: errors, and messages for people when the results are for programs. */
  err: Terminal;
  /** Shows work in progress on the last line of a terminal. Without a terminal it shows nothing. */
  working(what?: string): Working;
  /** Asks a question for yes or no. */
  ask(question: string, signal: AbortSignal): Promise<Answer>;
  /** Starts to handle the signals that ask this process to stop. Until then they end it at once. */
  stop(): AbortSignal;
};

/** The environment of this process. No other code of the command reads its variables. */
export function readEnvironment(): Environment {
  return environmentOf({ ...process.env }, process, stopSignal);
}

export function environmentOf(variables: Variables, streams: Streams, stop: () => AbortSignal): Environment {
  const look = lookOf(variables);
  const live = liveLine(streams.stderr, look);
  return {
    variables,
    stateFolder: userFolder(variables.XDG_STATE_HOME, ".local/state", "Library/Application Support"),
    cacheFolder: userFolder(variables.XDG_CACHE_HOME, ".cache", "Library/Caches"),
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

async function ask({ stdin, stderr }: Streams, question: string, signal: AbortSignal): Promise<Answer> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  using readline = createInterface({ input: stdin, output: stderr });
  // The terminal is in raw mode, so Ctrl-C does not send a signal by itself.
  readline.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const answer = await readline.question(`${question} [y/N] `, { signal }).catch(() => undefined);
  if (answer === undefined) return "interrupted";
  return /^y(es)?$/i.test(answer.trim()) ? "yes" : "no";
}

/** Aborts when this process is asked to stop: Ctrl-C, a supervisor, or the end of the parent. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop.abort(name));
  if (process.channel) process.once("disconnect", () => stop.abort("disconnect"));
  return stop.signal;
}

function lookOf(variables: Variables): Look {
  const { NO_COLOR, FORCE_COLOR, TERM, LC_ALL, LC_CTYPE, LANG } = variables;
  const colour = NO_COLOR || FORCE_COLOR === "0" || FORCE_COLOR === "false" ? "never" : "on a terminal";
  return {
    // POSIX: the first of these that is not empty decides.
    unicode: /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || ""),
    // no-color.org and force-color.org; if both are set, NO_COLOR wins.
    colour: FORCE_COLOR !== undefined && colour !== "never" ? "always" : colour,
    isDumb: TERM === "dumb",
  };
}

/**
 * Caches compiled code in a folder, which halves the time of a check. By the environment variable worker threads and child
 * processes do the same, which also saves 25 MB of compiler each.
 */
export function keepCompiledCode(folder: string): void {
  enableCompileCache(folder);
  process.env.NODE_COMPILE_CACHE ??= folder;
}

/**
 * Finds a folder of the user: the one that a variable of the XDG Base Directory Specification names, unless it is relative, or
 * else the default of the specification or of macOS below the home folder. There is none for a user whom the system does not
 * know, without HOME. A relative HOME is ignored: it would lead into the current folder, where others may have put code.
 */
function userFolder(named: string | undefined, xdg: string, darwin: string): string | undefined {
  if (named !== undefined && isAbsolute(named)) return join(named, "attestd");
  const home = homeFolder();
  return home && isAbsolute(home) ? join(home, platform() === "darwin" ? darwin : xdg, "attestd") : undefined;
}

function homeFolder(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}
