import type { Terminal } from "./terminal.ts";

/**
 * Writes the service's log for a person at a terminal, by pino-pretty: lines of a JSON object each. What a line contains may
 * come from a stranger: control characters are shown as code points, and further lines of a message or a stack are indented,
 * so that none looks like an entry of its own.
 *
 * @returns undefined unless the stream is a terminal: programs read JSON
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
