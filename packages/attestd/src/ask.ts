import { createInterface } from "node:readline/promises";
import type { Streams } from "./terminal.ts";

/**
 * Asks a question at the terminal. Only yes counts as yes.
 *
 * @returns undefined without a terminal
 * @throws AbortError on Ctrl-C, and at the end of the input
 */
export async function ask(
  { stdin, stderr }: Streams,
  question: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  const readline = createInterface({ input: stdin, output: stderr });
  // The terminal is in raw mode, so Ctrl-C does not send a signal by itself.
  readline.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const answer = await readline.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    readline.close();
  }
}
