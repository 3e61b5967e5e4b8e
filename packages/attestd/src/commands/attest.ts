import { attest as buy, type ChainName } from "@attestd/client";
import type { Environment } from "../environment.ts";
import type { ExitCode } from "../failure.ts";
import { type PurchaseCommandOptions, purchase } from "./purchase.ts";

export type AttestCommandOptions = PurchaseCommandOptions & { chain?: ChainName };

/** Buys the attestation of a transaction. See `purchase`. */
export function attest(
  txid: string,
  { chain, ...options }: AttestCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  return purchase((common) => buy({ ...common, txid, ...(chain && { chain }) }), options, environment);
}
