import { proveInclusion } from "@attestd/client";
import { inferChain } from "@attestd/proof";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { readHeight } from "../height.ts";
import { type PurchaseCommandOptions, purchase } from "./purchase.ts";

/** Buys the proof that a transaction is in a block. See `purchase`. @throws Failure */
export async function prove(
  txId: string,
  height: string,
  options: PurchaseCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const chain = inferChain(txId.startsWith("0x") ? txId.toLowerCase() : txId);
  if (chain === undefined) throw new Failure(EXIT.usage, `${txId} is no transaction id of Algorand or Base`);
  const at = readHeight(height);
  return purchase((common) => proveInclusion({ ...common, chain, txId, height: at }), options, environment);
}
