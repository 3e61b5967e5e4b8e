import type { Terminal } from "./terminal.ts";

/**
 * Makes a stream that takes the service's log, one JSON object a line, and writes it for a person at a terminal (pino-pretty).
 * A stranger may have written parts of a line. So control characters are shown as code points, and further lines of a message
 * or a stack are indented: none looks like an entry of its own.
 *
 * @returns undefined unless the output is a terminal: programs read the JSON
 */
export async function readableLog(out: Terminal) {
  if (!out.isTerminal) return undefined;
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({
    colorize: false,
    singleLine: true,
    ignore: "pid,hostname",
    translateTime: "SYS:HH:MM:ss",
  });
  return {
    write(entry: string) {
      const [first = "", ...more] = String(pretty(entry)).trimEnd().split("\n");
      out.line(first);
      for (const line of more) out.line(`    ${line.trim()}`);
    },
  };
}
