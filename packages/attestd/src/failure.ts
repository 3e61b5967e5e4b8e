/** Exit codes of every command. */
export const EXIT = {
  good: 0,
  notVerified: 1,
  usage: 2,
  unreadable: 3,
  unreachable: 4,
  paidUnfinished: 5,
  notPaid: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code for several files, which had these codes. */
export function worst(codes: readonly number[]): ExitCode {
  const order = [EXIT.notVerified, EXIT.usage, EXIT.unreadable, EXIT.unreachable];
  return order.find((code) => codes.includes(code)) ?? EXIT.good;
}

/**
 * Ends the command with an exit code, and a message: what happened and, in further lines, why and what to do next. It is
 * thrown where the command cannot go on, and caught only by `run` in program.ts. An outcome after which the command goes on is
 * returned instead.
 */
export class Failure extends Error {
  readonly exitCode: number;
  readonly more: readonly string[];

  constructor(exitCode: number, what: string, more: readonly string[] = [], cause?: unknown) {
    super(what, { cause });
    this.name = "Failure";
    this.exitCode = exitCode;
    this.more = more;
  }
}

/** Makes a handler that turns an error of the file system into a `Failure`. @param action e.g. `read x.json` */
export function failureFor(exitCode: ExitCode, action: string, what: "file" | "folder" = "file", ...next: string[]) {
  return (error: unknown) => new Failure(exitCode, `can't ${action}`, [fileTrouble(error, what), ...next], error);
}

/** Makes a handler that throws that `Failure`. */
export function failsFor(...how: Parameters<typeof failureFor>) {
  return (error: unknown): never => {
    throw failureFor(...how)(error);
  };
}

/** A sentence for an error of the file system. @param what the command wanted */
export function fileTrouble(error: unknown, what: "file" | "folder" = "file"): string {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return `There is no such ${what}.`;
  return TROUBLES[code] ?? (error instanceof Error ? error.message : String(error));
}

const TROUBLES: Readonly<Record<string, string | undefined>> = {
  EACCES: "Permission denied.",
  EPERM: "Permission denied.",
  EISDIR: "It is a folder.",
  EEXIST: "It is there already.",
  ENOSPC: "The disk is full.",
};

/** The failure when a port is in use. @param setting where another port can be chosen */
export function portTaken(exitCode: ExitCode, port: string | number, setting: string): Failure {
  return new Failure(exitCode, `port ${port} is in use`, [
    "Another program listens there.",
    `Choose another with ${setting}, or stop that program.`,
  ]);
}
