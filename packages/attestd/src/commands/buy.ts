import { attest as buyAttestation, attestBlock as buyBlock, type ChainName, proveInclusion } from "@attestd/client";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { chainOf, readHeight } from "../subject-words.ts";
import { type PurchaseCommandOptions, purchase } from "./purchase.ts";

export type AttestCommandOptions = PurchaseCommandOptions & { chain?: ChainName };

/** Buys the attestation of a transaction. See `purchase`. @throws Failure */
export async function attest(
  txid: string,
  { chain, ...options }: AttestCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const inferred = chainOf(txid);
  if (chain !== undefined && chain !== inferred)
    throw new Failure(EXIT.usage, `--chain is ${chain}, and ${txid} is of ${inferred}`, ["Leave --chain out."]);
  return purchase((common) => buyAttestation({ ...common, txid, ...(chain && { chain }) }), options, environment);
}

/** Buys the attestation of a block. See `purchase`. @throws Failure */
export async function attestBlock(
  chain: ChainName,
  blockHeight: string,
  options: PurchaseCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const height = readHeight(blockHeight);
  return purchase((common) => buyBlock({ ...common, chain, height }), options, environment);
}

/** Buys the proof that a transaction is in a block. See `purchase`. @throws Failure */
export async function prove(
  txId: string,
  blockHeight: string,
  options: PurchaseCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const chain = chainOf(txId);
  const height = readHeight(blockHeight);
  return purchase((common) => proveInclusion({ ...common, chain, txId, height }), options, environment);
}
