import { attest as buy, type ChainName } from "@attestd/client";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { chainOf } from "../subject-words.ts";
import { type PurchaseCommandOptions, purchase } from "./purchase.ts";

export type AttestCommandOptions = PurchaseCommandOptions & { chain?: ChainName };

/** Buys the attestation of a transaction. See `purchase`. @throws Failure */
export async function attest(
  txid: string,
  { chain, ...options }: AttestCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const told = chainOf(txid);
  if (chain !== undefined && chain !== told)
    throw new Failure(EXIT.usage, `--chain is ${chain}, and ${txid} is of ${told}`, ["Leave --chain out."]);
  return purchase((common) => buy({ ...common, txid, ...(chain && { chain }) }), options, environment);
}
