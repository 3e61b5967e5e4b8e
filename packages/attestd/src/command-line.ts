import { Argument, Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { addBuying } from "./command-line/buying.ts";
import { addChecking } from "./command-line/checking.ts";
import { describeFirst, lines, whereToLook } from "./command-line/help.ts";
import { addKeys } from "./command-line/keys.ts";
import { addOperating } from "./command-line/operating.ts";
import { addRunning } from "./command-line/running.ts";
import { everyCommand, pathOf } from "./command-line/tree.ts";
import { SHELLS } from "./completion/shells.ts";
import type { Environment, Running } from "./environment.ts";
import { EXIT } from "./failure.ts";

/**
 * The table of all commands, with their arguments, options and texts. Parsing, help and completion all use it. The module
 * of a command, with its libraries, is loaded only when the command runs: checking a bundle loads no chain library.
 */
export function commandLine(environment: Environment, finish: Running["finish"]): Command {
  const { out, err } = environment;
  const program = new Command("attestd")
    .description(
      lines(
        "Attestations of Algorand and Base transactions, paid by x402, signed with ML-DSA-65.",
        "  attestd sandbox                          everything locally, without real money",
        "  attestd attest TXID                      buy an attestation there, check it, save it",
        "  attestd verify b.json --keys keys.json   check one; offline, free",
        "  attestd help verify                      more of one command",
      ),
    )
    .version(packageJson.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .helpCommand(false)
    .usage("<command> [options]")
    .exitOverride()
    .configureHelp({ formatHelp: describeFirst })
    .configureOutput({
      writeOut: out.text,
      writeErr: err.text,
      outputError(text) {
        const [what, ...more] = text
          .replace(/^error: /, "")
          .replace(/^command-argument value ('.*') is invalid for argument '(\w+)'/, "<$2> can't be $1")
          .trim()
          .split("\n");
        err.line(`attestd: ${what}`);
        for (const line of more) err.line(`  ${line.replace(/^\((.*)\)$/, "$1")}`);
      },
    });

  const running = { environment, finish };
  addRunning(program, running);
  addBuying(program, running);
  addChecking(program, running);
  addKeys(program, running);
  addOperating(program, running);
  addHelp(program, running);
  for (const command of everyCommand(program)) command.showHelpAfterError(whereToLook(command));
  return program;
}

function addHelp(program: Command, { environment, finish }: Running): void {
  program
    .command("completion")
    .summary("print a script that completes commands in a shell")
    .description(
      lines(
        "Print a script that completes commands, options and files in a shell.",
        "  source <(attestd completion bash)                   as a line of ~/.bashrc",
        "  source <(attestd completion zsh)                    as a line of ~/.zshrc, after compinit",
        "  attestd completion fish > ~/.config/fish/completions/attestd.fish",
      ),
    )
    .addArgument(new Argument("<shell>", SHELLS.join(", ")).choices(SHELLS))
    .action(async (shell) => {
      const { completion } = await import("./commands/completion.ts");
      finish(completion(shell, program, environment));
    });

  const groups = program.commands.filter(({ commands }) => commands.length > 0);
  program
    .command("help")
    .summary("print what a command does, with examples")
    .description(
      lines("Print what a command does, with examples.", "  attestd help verify", "  attestd help keys history"),
    )
    .addArgument(new Argument("[command]", "all, unless named").choices(program.commands.map(nameOf)))
    .addArgument(
      new Argument("[of]", `one of ${groups.map(nameOf).join(", ")}`).choices(
        groups.flatMap(({ commands }) => commands.map(nameOf)),
      ),
    )
    .action((...names: (string | undefined)[]) => {
      let command = program;
      for (const name of names.slice(0, 2).filter((one) => one !== undefined)) {
        const next = command.commands.find((one) => one.name() === name);
        if (!next) return command.error(`error: ${pathOf(command)} has no command '${name}'`);
        command = next;
      }
      command.outputHelp();
      return finish(EXIT.good);
    });
}

function nameOf(command: Command): string {
  return command.name();
}
