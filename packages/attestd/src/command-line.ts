import { Argument, Command, CommanderError } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { addBuying, addChecking } from "./command-line/bundle-commands.ts";
import { addCheckpoints } from "./command-line/checkpoint-commands.ts";
import { describeFirst, everyCommand, pathOf, subcommand, whereToLook } from "./command-line/help.ts";
import { addKeys } from "./command-line/key-commands.ts";
import { addExamining, addJournal, addRunning, addSigner } from "./command-line/service-commands.ts";
import type { Environment, Running } from "./environment.ts";
import { EXIT, Failure } from "./failure.ts";

/** Runs one command line: the arguments after `attestd`. @returns the exit code */
export async function run(args: readonly string[], environment: Environment): Promise<number> {
  let exitCode: number = EXIT.good;
  const finish = (code: number) => {
    exitCode = code;
  };
  const program = commandLine(environment, finish, isAskedForVersion(args) ? await versionText() : undefined);
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

function isAskedForVersion([first]: readonly string[]): boolean {
  return first === "-V" || first === "--version";
}

/** The version alone on its line, for scripts, and what else tells two builds apart. */
async function versionText(): Promise<string> {
  const { revisionOf, SCHEMA_VERSION } = await import("@attestd/service/operator");
  const revision = revisionOf() ?? "unknown";
  return `${packageJson.version}\nrevision ${revision}\njournal schema ${SCHEMA_VERSION}`;
}

/**
 * The table of all commands, with their arguments, options and texts. Parsing and help use it. A command's
 * module is loaded only when the command runs: checking a bundle loads no chain library.
 */
export function commandLine(environment: Environment, finish: Running["finish"], version = ""): Command {
  const { out, err } = environment;
  const program = new Command("attestd")
    .description(
      [
        "Attestations of Algorand and Base transactions, paid by x402, signed with ML-DSA-65.",
        "  attestd sandbox                          everything locally, without real money",
        "  attestd attest TXID                      buy an attestation there, check it, save it",
        "  attestd verify b.json --keys keys.json   check one; offline, free",
        "  attestd inspect FILE                     what is this? without a verdict",
        "  attestd help verify                      details of one command",
      ].join("\n"),
    )
    .version(version, "-V, --version", "print the version")
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
  addSigner(program, running);
  addBuying(program, running);
  addChecking(program, running);
  addCheckpoints(program, running);
  addExamining(program, running);
  addKeys(program, running);
  addJournal(program, running);
  addHelp(program, running);
  for (const command of everyCommand(program)) command.showHelpAfterError(whereToLook(command));
  return program;
}

function addHelp(program: Command, { finish }: Pick<Running, "finish">): void {
  const nameOf = (command: Command) => command.name();
  const groups = program.commands.filter(({ commands }) => commands.length > 0);
  const grouped = groups.flatMap(({ commands }) => commands.map(nameOf));
  subcommand(
    program,
    "help",
    "print what a command does, with examples",
    "Print what a command does, with examples.",
    "  attestd help verify",
    "  attestd help keys history",
  )
    .addArgument(new Argument("[command]", "all, unless named").choices(program.commands.map(nameOf)))
    .addArgument(new Argument("[of]", `one of ${groups.map(nameOf).join(", ")}`).choices(grouped))
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
