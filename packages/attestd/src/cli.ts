import { CommanderError } from "commander";
import { commandLine } from "./command-line.ts";
import type { Environment } from "./environment.ts";
import { EXIT, Failure } from "./failure.ts";

/**
 * Runs one command line.
 *
 * @param args the arguments after `attestd`
 * @returns the exit code
 */
export async function run(args: readonly string[], environment: Environment): Promise<number> {
  let exitCode: number = EXIT.good;
  const program = commandLine(environment, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has printed its own errors. Help and the version end in the same way, with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.good : EXIT.usage;
    if (!(error instanceof Failure)) throw error;
    const { err } = environment;
    err.line(`attestd: ${error.message}`);
    for (const line of error.more) err.line(`  ${line}`);
    return error.exitCode;
  }
}
