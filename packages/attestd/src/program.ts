import { Argument, Command, CommanderError, type Help } from "commander";
import packageJson from "../package.json" with { type: "json" };
import type { Declaration, Running } from "./command.ts";
import { attest, attestBlock, prove } from "./commands/attest/command.ts";
import { audit } from "./commands/audit/command.ts";
import { backfill } from "./commands/backfill/command.ts";
import { backup, restore } from "./commands/backup/command.ts";
import { certificate } from "./commands/certificate/command.ts";
import { checkpoints } from "./commands/checkpoints/command.ts";
import { costs } from "./commands/costs/command.ts";
import { doctor } from "./commands/doctor/command.ts";
import { evidence } from "./commands/evidence/command.ts";
import { exportTable } from "./commands/export/command.ts";
import { inspect } from "./commands/inspect/command.ts";
import { keygen } from "./commands/keygen/command.ts";
import { keys } from "./commands/keys/command.ts";
import { prune } from "./commands/prune/command.ts";
import { refund } from "./commands/refund/command.ts";
import { sandbox } from "./commands/sandbox/command.ts";
import { serve } from "./commands/serve/command.ts";
import { settings } from "./commands/settings/command.ts";
import { signer } from "./commands/signer/command.ts";
import { verify } from "./commands/verify/command.ts";
import { EXIT, Failure } from "./failure.ts";
import type { Environment } from "./terminal/environment.ts";

/** All commands, in the order of the help. */
export const COMMANDS: readonly Declaration[] = [
  sandbox,
  serve,
  signer,
  attest,
  attestBlock,
  prove,
  verify,
  evidence,
  inspect,
  exportTable,
  certificate,
  checkpoints,
  settings,
  doctor,
  costs,
  keygen,
  keys,
  audit,
  backup,
  restore,
  prune,
  backfill,
  refund,
];

/** Runs one command line: the arguments after `attestd`. @returns the exit code */
export async function run(
  args: readonly string[],
  environment: Environment,
  commands: readonly Declaration[] = COMMANDS,
): Promise<number> {
  let exitCode: number = EXIT.good;
  const finish = (code: number) => {
    exitCode = code;
  };
  const version = ["-V", "--version"].includes(args[0] ?? "") ? await versionText() : "";
  try {
    await program({ environment, finish }, commands, version).parseAsync(args, { from: "user" });
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

/** The version on a line of its own, for scripts; then what distinguishes two builds of a version. */
async function versionText(): Promise<string> {
  const { revisionOf, SCHEMA_VERSION } = await import("@attestd/service/operator");
  const revision = revisionOf() ?? "unknown";
  return `${packageJson.version}\nrevision ${revision}\njournal schema ${SCHEMA_VERSION}`;
}

/** The parser of the command line, which also prints help. @param version the answer to `--version` */
export function program(running: Running, commands: readonly Declaration[] = COMMANDS, version = ""): Command {
  const { out, err } = running.environment;
  const parser = new Command("attestd")
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
          // A password in a URL is refused, and not repeated.
          .replace(/(argument '\w+:\/\/)[^/']*@/, "$1…@")
          .replace(/^command-argument value ('.*') is invalid for argument '(\w+)'/, "<$2> can't be $1")
          .trim()
          .split("\n");
        err.line(`attestd: ${what}`);
        for (const line of more) err.line(`  ${line.replace(/^\((.*)\)$/, "$1")}`);
      },
    });
  for (const one of commands) one.register(parser, running);
  addHelp(parser, running);
  for (const one of everyCommand(parser)) one.showHelpAfterError(whereToLook(one));
  return parser;
}

/** Adds `attestd help`, whose arguments are the names of the other commands. */
function addHelp(parser: Command, { finish }: Running): void {
  const nameOf = (command: Command) => command.name();
  const groups = parser.commands.filter(({ commands }) => commands.length > 0);
  const grouped = groups.flatMap(({ commands }) => commands.map(nameOf));
  parser
    .command("help")
    .summary("print what a command does, with examples")
    .description("Print what a command does, with examples.\n  attestd help verify\n  attestd help keys history")
    .addArgument(new Argument("[command]", "all, unless named").choices(parser.commands.map(nameOf)))
    .addArgument(new Argument("[of]", `one of ${groups.map(nameOf).join(", ")}`).choices(grouped))
    .action((...names: (string | undefined)[]) => {
      let command = parser;
      for (const name of names.slice(0, 2).filter((one) => one !== undefined)) {
        const next = command.commands.find((one) => one.name() === name);
        if (!next) return command.error(`error: ${pathOf(command)} has no command '${name}'`);
        command = next;
      }
      command.outputHelp();
      return finish(EXIT.good);
    });
}

const EXIT_CODES = [
  "Exit codes: 0 good; 1 not verified, or signer unknown; 2 usage; 3 unreadable; 4 unreachable;",
  "  5 paid, unfinished (run it again); 6 not paid; 130 interrupted. For several files: 1 before 3 before 4.",
];

/** Formats help: first the description and the examples, then usage and options. */
function describeFirst(command: Command, help: Help): string {
  const rows = (title: string, items: [term: string, text: string][]) => {
    const width = Math.max(...items.map(([term]) => term.length));
    return items.length === 0 ? [] : ["", title, ...items.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`)];
  };
  const commands = help.visibleCommands(command);
  const operands = help.visibleArguments(command);
  const options = help.visibleOptions(command);
  return [
    help.commandDescription(command),
    "",
    `Usage: ${help.commandUsage(command)}`,
    ...rows(
      "Commands:",
      commands.map((item) => [item.name(), help.subcommandDescription(item)]),
    ),
    ...rows(
      "Arguments:",
      operands.map((item) => [help.argumentTerm(item), help.argumentDescription(item)]),
    ),
    ...rows(
      "Options:",
      options.map((item) => [help.optionTerm(item), help.optionDescription(item)]),
    ),
    ...(command.parent ? [] : ["", ...EXIT_CODES]),
    "",
  ].join("\n");
}

/** The lines after an error in the arguments of a command. */
function whereToLook(command: Command): string {
  const path = pathOf(command);
  return `  Usage: ${path} ${command.usage()}\n  Examples and options: ${path} --help`;
}

/** A command, its subcommands, and theirs. */
export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** The full name of a command, e.g. `attestd keys history`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
