import { createInterface } from "node:readline/promises";
import type { Streams } from "./terminal.ts";

/**
 * Asks the person at the terminal a question to be answered with yes; anything else is a no.
 *
 * @returns undefined where nobody is there to answer
 * @throws AbortError on Ctrl-C, and where the input ends
 */
export async function ask(
  { stdin, stderr }: Streams,
  question: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  const readline = createInterface({ input: stdin, output: stderr });
  // The terminal is in raw mode now: Ctrl-C is a key, not yet a signal.
  readline.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const answer = await readline.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    readline.close();
  }
}
