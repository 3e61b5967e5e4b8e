import pino, { type DestinationStream, type Logger } from "pino";
import { logMembers } from "./context.ts";

/**
 * Opens a log as docs/monitoring describes it, the same in the service, the signer and operator commands: one JSON
 * object per line, with the level's name, the request and the call it belongs to, and without any request's headers.
 * @param lines takes the lines; default: standard output
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
