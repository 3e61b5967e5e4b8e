import { proveInclusion } from "@attestd/client";
import type { Environment } from "../environment.ts";
import type { ExitCode } from "../failure.ts";
import { chainOf, readHeight } from "../subject-words.ts";
import { type PurchaseCommandOptions, purchase } from "./purchase.ts";

/** Buys the proof that a transaction is in a block. See `purchase`. @throws Failure */
export async function prove(
  txId: string,
  height: string,
  options: PurchaseCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const chain = chainOf(txId);
  const at = readHeight(height);
  return purchase((common) => proveInclusion({ ...common, chain, txId, height: at }), options, environment);
}
