import type { EthereumRpc } from "../../providers/ethereum-rpc.ts";
import type { ConfirmationLevel } from "../chain.ts";

const LEVELS: readonly ConfirmationLevel[] = ["included", "safe", "finalized"];

/**
 * Reads a node's heads.
 *
 * @returns the level of a block by its number, provided that it is read afterwards and canonical then
 */
export async function readLevels(
  rpc: EthereumRpc,
  signal: AbortSignal,
): Promise<(number: number) => ConfirmationLevel> {
  const [safe, finalized] = await Promise.all([rpc.block("safe", signal), rpc.block("finalized", signal)]);
  return (number) => {
    if (finalized && finalized.number >= number) return "finalized";
    return safe && safe.number >= number ? "safe" : "included";
  };
}

/** The lowest of the levels that several nodes see. */
export function lowestLevel(seen: readonly { level: ConfirmationLevel }[]): ConfirmationLevel {
  return LEVELS.find((lowest) => seen.some(({ level }) => level === lowest)) ?? "included";
}
