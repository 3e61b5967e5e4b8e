import pino, { type DestinationStream, type Logger } from "pino";
import { logMembers } from "./context.ts";

/**
 * Opens a log as docs/monitoring describes it, the same in the service, the signer and an operator's command: a JSON object a
 * line, its level by name, with the request and the call that it is written for, and without any request's headers.
 *
 * @param lines takes the lines; standard output, unless given
 */
export function openLog(level: string, lines?: DestinationStream): Logger {
  const options = {
    level,
    formatters: { level: (name: string) => ({ level: name }) },
    redact: ["req.headers", "*.headers"],
    mixin: logMembers,
  };
  return lines ? pino(options, lines) : pino(options);
}
