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

/** The exit code of several. */
export function worst(codes: readonly number[]): ExitCode {
  const order = [EXIT.notVerified, EXIT.usage, EXIT.unreadable, EXIT.unreachable];
  return order.find((code) => codes.includes(code)) ?? EXIT.good;
}

/** Ends a command with an exit code: what happened and, in further lines, why and what to do next. */
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

/** Rejects with a `Failure` for an error of the file system, e.g. `can't read x.json`. */
export function failsFor(exitCode: ExitCode, action: string, what: "file" | "folder" = "file", ...next: string[]) {
  return (error: unknown): never => {
    throw new Failure(exitCode, `can't ${action}`, [fileTrouble(error, what), ...next], error);
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
