import { InvalidArgumentError } from "commander";

/* Parsers of option values. Commander prints their errors with the option's name. */

/** The URL of a service. */
export function serviceUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return text;
  throw new InvalidArgumentError("It is a URL such as https://attestd.example.");
}

/** Adds a key id (RFC 7638, SHA-256) to the earlier ones. */
export function oneMoreKid(text: string, before: string[] = []): string[] {
  if (/^[\w-]{43}$/.test(text)) return [...before, text];
  throw new InvalidArgumentError("The id of a key has 43 characters, as `attestd keys history` prints it.");
}

/** A ledger by CAIP-2. */
export function ledgerId(text: string): string {
  if (/^algorand:[\w-]{32}$/.test(text)) return text;
  throw new InvalidArgumentError("A ledger is named as algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k.");
}
