import pino, { type Logger } from "pino";

/** What `attestd signer` is made of. */
export { readSeeds } from "./seeds.ts";
export { startSigner } from "./server.ts";

/** @param lines takes the lines of the log, a JSON object each; standard output, unless given */
export function signerLog(lines: { write(line: string): void } | undefined): Logger {
  return lines ? pino({}, lines) : pino();
}
