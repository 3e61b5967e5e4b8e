import { conflicting, flag, InvalidArgumentError, type Values, value, values, withDefault } from "./command.ts";

/* Options of several commands, and the parsers of values. Commander prints a parser's error with the option's name. */

export const json = flag("print the result as JSON");
export const force = flag("replace files that are there already");

/** Where the settings of a service come from. */
export const settingsOptions = {
  settings: value("<file>", "the service's settings (default: attestd.toml)"),
  sandbox: flag("allow a ledger other than MainNet; without --settings, read the settings of the sandbox here"),
};
export type SettingsOptions = Values<typeof settingsOptions>;

/** Options of every command of an operator. */
export const operatorOptions = { ...settingsOptions, json };

/** A parser of URLs. Every process of the machine can read arguments, so a URL here has no password. */
function urlSuchAs(example: string) {
  return (text: string): string => {
    const url = URL.parse(text);
    if (url && isHttpUrl(text) && !url.username && !url.password) return text;
    throw new InvalidArgumentError(`Write a URL such as ${example}.`);
  };
}

export const serviceUrl = urlSuchAs("https://attestd.example");
export const nodeUrl = urlSuchAs("http://localhost:4001, without a password");

/** A URL, or else the path of a file. */
function urlOrFile(text: string): string {
  return isHttpUrl(text) ? nodeUrl(text) : text;
}

export function isHttpUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

/** The file of a node's token. */
export const tokenFile = value("<file>", "its token");

/** Options that name whom to ask about the chains: a service, or the user's own nodes. */
export const chainOptions = {
  chain: flag("also compare with the source chain and the ledger: ask a service, or your own nodes"),
  service: value("<url>", "the service to ask (default: the sandbox's)", serviceUrl),
  algod: value("<url>", "your own Algorand node to ask, instead of a service", nodeUrl),
  algodTokenFile: tokenFile,
  indexer: value("<url>", "finds transactions for an algod that keeps only new rounds", nodeUrl),
  indexerTokenFile: tokenFile,
  baseRpc: value(
    "<url>",
    "your own Base node to ask, instead of a service; or a file with its URL, if the URL has a key in it",
    urlOrFile,
  ),
};
export type ChainOptions = Values<typeof chainOptions>;

export const keys = value(
  "<file>",
  "the key history that you trust (default: that of the sandbox that runs in ./.attestd)",
);

/** Options of every command that checks bundles: the keys to trust, a history or single keys, and whom to ask. */
export const trustOptions = {
  keys,
  kid: conflicting(values("<kid>", "id of a key that you trust; may be repeated", keyId), "keys"),
  ledger: conflicting(value("<caip2>", "ledger of those keys (default: Algorand MainNet)", ledgerId), "keys"),
  ...chainOptions,
};
export type TrustOptions = Values<typeof trustOptions>;

/** The id of a key (RFC 7638, SHA-256). */
export function keyId(text: string): string {
  if (/^[\w-]{43}$/.test(text)) return text;
  throw new InvalidArgumentError("The id of a key has 43 characters, as `attestd keys history` prints it.");
}

/** A ledger by CAIP-2. */
export function ledgerId(text: string): string {
  if (/^algorand:[\w-]{32}$/.test(text)) return text;
  throw new InvalidArgumentError("Write a ledger as algorand:wGHE2Pwdvd7S12BL5FaOP20GEYesN73k.");
}

/** A parser of whole numbers. @param what follows "Write" in the error, e.g. `whole days, at least 1` */
export function wholeNumber(what: string, least: number, most: number) {
  return (text: string): number => {
    const number = Number(text);
    if (/^(0|[1-9]\d{0,14})$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Write ${what}.`);
  };
}

/** The seconds of `--wait` without a value: Base calls a block final after some 20 minutes. */
export const DEFAULT_WAIT = 1800;
const MAX_WAIT = 86_400;
const waitSeconds = wholeNumber(`whole seconds, ${MAX_WAIT} at most, or put --wait behind the id`, 0, MAX_WAIT);

/** An option to wait: its seconds, or `true` for `DEFAULT_WAIT`. @param until what is waited for, for help */
export function wait(until: string) {
  return value("[seconds]", `${until} (default: ${DEFAULT_WAIT} s)`, waitSeconds as (text: string) => number | true);
}

/** The seconds that a value of `--wait` means; 0 without the option. */
export function waitOf(given: number | true | undefined): number {
  return given === true ? DEFAULT_WAIT : (given ?? 0);
}

/** Options of every command that pays. */
export const purchaseOptions = {
  service: value("<url>", "the service (default: the sandbox that runs in ./.attestd)", serviceUrl),
  wallet: value("<file>", "the payer's keys, in the form of docs/command-line.md (default: the sandbox's)"),
  keys,
  maxPrice: withDefault(value("<usdc>", "ask before signing for more in all; without a terminal, refuse"), "0.01"),
  wait: wait("wait until it is known and final, then buy"),
  out: value("<file>", "where to save the bundle (default: named after its subject and round)"),
  evidence: flag("wait until stake has signed for the record, and save the evidence of that beside the bundle"),
  json: flag("print the report as JSON"),
};
export type PurchaseOptions = Values<typeof purchaseOptions>;
