import { Option } from "commander";
import { serviceUrl } from "./values.ts";

/* Options of several commands. */

export const settingsFile = () => new Option("--env <file>", "the service's settings, NAME=value a line");

export const otherLedger = () =>
  new Option("--sandbox", "allow a ledger other than MainNet; settings from ./.attestd where a sandbox stands");

export const believedKeys = () =>
  new Option("--keys <file>", "key history of the attestor that is believed (default: the sandbox's in ./.attestd)");

export const askChain = () =>
  new Option("--chain", "also ask a service to compare with the source chain and the ledger");

export const askedService = () =>
  new Option("--service <url>", "the service to ask (default: the sandbox's)").argParser(serviceUrl);
