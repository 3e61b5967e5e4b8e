import { type Command, InvalidArgumentError, Option } from "commander";
import { subcommand } from "./help.ts";

/* Options of several commands, and the parsers of values. Commander prints a parser's error with the option's name. */

export const settingsFile = () => new Option("--env <file>", "the service's settings, NAME=value a line");

export const otherLedger = () =>
  new Option("--sandbox", "allow a ledger other than MainNet; without --env, read the settings of the sandbox here");

/** A command of an operator, on the service's settings. */
export function operatorCommand(parent: Command, name: string, summary: string, ...description: string[]): Command {
  return subcommand(parent, name, summary, ...description)
    .addOption(settingsFile())
    .addOption(otherLedger())
    .option("--json", "print the result as JSON");
}

export const trustedKeyHistory = () =>
  new Option("--keys <file>", "the key history that you trust (default: that of the sandbox that runs in ./.attestd)");

/** The options that ask the chains: a service, or the user's own nodes. */
export function addChainOptions(command: Command): Command {
  const options = [
    new Option("--chain", "also compare with the source chain and the ledger: ask a service, or your own nodes"),
    new Option("--service <url>", "the service to ask (default: the sandbox's)").argParser(serviceUrl),
    new Option("--algod <url>", "your own Algorand node to ask, instead of a service").argParser(nodeUrl),
    new Option("--algod-token-file <file>", "its token"),
    new Option("--indexer <url>", "finds transactions for an algod that keeps only new rounds").argParser(nodeUrl),
    new Option("--indexer-token-file <file>", "its token"),
    new Option("--base-rpc <url>", "your own Base node to ask, instead of a service").argParser(nodeUrl),
    new Option("--base-rpc-file <file>", "a file with its URL, if the URL has a key in it"),
  ];
  return options.reduce((with_, option) => with_.addOption(option), command);
}

/** A parser of URLs. Every process of the machine can read arguments: what is secret is in a file. */
function urlSuchAs(example: string) {
  return (text: string): string => {
    const url = URL.parse(text);
    if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return text;
    throw new InvalidArgumentError(`Write a URL such as ${example}.`);
  };
}

export const serviceUrl = urlSuchAs("https://attestd.example");
export const nodeUrl = urlSuchAs("http://localhost:4001, without a password");

/** The keys to trust: a history, or ids of single keys. */
export function addTrustOptions(command: Command): Command {
  return command
    .addOption(trustedKeyHistory())
    .addOption(
      new Option("--kid <kid>", "id of a key that you trust; may be repeated").argParser(oneMoreKid).conflicts("keys"),
    )
    .addOption(
      new Option("--ledger <caip2>", "ledger of those keys (default: Algorand MainNet)")
        .argParser(ledgerId)
        .conflicts("keys"),
    );
}

/** A number of days. */
export function wholeDays(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write whole days, at least 1.");
}

/** Adds a value to the earlier ones. */
export function oneMore(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** Adds the root of a table of checkpoints to the earlier ones. */
export function oneMoreRoot(text: string, before: string[] = []): string[] {
  if (/^[0-9a-f]{64}$/.test(text)) return [...before, text];
  throw new InvalidArgumentError("A root has 64 hex digits, as `attestd checkpoints root` prints it.");
}

/** Adds a key id (RFC 7638, SHA-256) to the earlier ones. */
export function oneMoreKid(text: string, before: string[] = []): string[] {
  if (/^[\w-]{43}$/.test(text)) return [...before, text];
  throw new InvalidArgumentError("The id of a key has 43 characters, as `attestd keys history` prints it.");
}

/** Seconds of `--wait` without a value: Base calls a block final after some 20 minutes. */
export const DEFAULT_WAIT = 1800;
const MAX_WAIT = 86_400;

/** Seconds to wait for a transaction. */
export function waitSeconds(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_WAIT) return Number(text);
  throw new InvalidArgumentError(`Write whole seconds, ${MAX_WAIT} at most, or put --wait behind the id.`);
}

/** Transactions of one payment. */
export function batchSize(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 1000) return Number(text);
  throw new InvalidArgumentError("Write a whole number from 1 to 1000.");
}

/** A ledger by CAIP-2. */
export function ledgerId(text: string): string {
  if (/^algorand:[\w-]{32}$/.test(text)) return text;
  throw new InvalidArgumentError("Write a ledger as algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k.");
}
