import type { Command } from "commander";
import { bashScript } from "../completion/bash.ts";
import { fishScript } from "../completion/fish.ts";
import { completedCommands } from "../completion/table.ts";
import { zshScript } from "../completion/zsh.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode } from "../failure.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Prints the script by which a shell completes the arguments of `program`. */
export function completion(shell: keyof typeof SCRIPTS, program: Command, { out }: Environment): ExitCode {
  out.text(SCRIPTS[shell](completedCommands(program)));
  return EXIT.good;
}
