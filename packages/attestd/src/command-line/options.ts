import { InvalidArgumentError, Option } from "commander";

/* Options of several commands, and the parsers of values. Commander prints a parser's error with the option's name. */

export const settingsFile = () => new Option("--env <file>", "the service's settings, NAME=value a line");

export const otherLedger = () =>
  new Option("--sandbox", "allow a ledger other than MainNet; without --env, read the settings of the sandbox here");

export const trustedKeyHistory = () =>
  new Option("--keys <file>", "the key history that you trust (default: the sandbox's in ./.attestd)");

export const askChain = () =>
  new Option("--chain", "also ask a service to compare with the source chain and the ledger");

export const askedService = () =>
  new Option("--service <url>", "the service to ask (default: the sandbox's)").argParser(serviceUrl);

/** The URL of a service. */
export function serviceUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return text;
  throw new InvalidArgumentError("Write a URL such as https://attestd.example.");
}

/** Adds a key id (RFC 7638, SHA-256) to the earlier ones. */
export function oneMoreKid(text: string, before: string[] = []): string[] {
  if (/^[\w-]{43}$/.test(text)) return [...before, text];
  throw new InvalidArgumentError("The id of a key has 43 characters, as `attestd keys history` prints it.");
}

/** A ledger by CAIP-2. */
export function ledgerId(text: string): string {
  if (/^algorand:[\w-]{32}$/.test(text)) return text;
  throw new InvalidArgumentError("Write a ledger as algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k.");
}
