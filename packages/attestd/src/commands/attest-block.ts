import { attestBlock as buy, type ChainName } from "@attestd/client";
import type { Environment } from "../environment.ts";
import type { ExitCode } from "../failure.ts";
import { readHeight } from "../subject-words.ts";
import { type PurchaseCommandOptions, purchase } from "./purchase.ts";

/** Buys the attestation of a block. See `purchase`. @throws Failure */
export async function attestBlock(
  chain: ChainName,
  height: string,
  options: PurchaseCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const at = readHeight(height);
  return purchase((common) => buy({ ...common, chain, height: at }), options, environment);
}
