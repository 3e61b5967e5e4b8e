import { ALGORAND_MAINNET } from "./algorand/network.ts";
import { BASE_MAINNET } from "./base/network.ts";
import { formatUnits } from "./text.ts";

/**
 * The rails: the networks on which attestations are paid, by CAIP-2, with Circle's USDC there (an asset id, a contract
 * address with EIP-55's checksum, a mint) and a name for people. A sandbox's networks and USDC have the same ids.
 */
export const RAILS = {
  algorand: { name: "algorand", label: "Algorand", network: ALGORAND_MAINNET, usdc: "31566704" },
  base: { name: "base", label: "Base", network: BASE_MAINNET, usdc: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
  solana: {
    name: "solana",
    label: "Solana",
    network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    usdc: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  },
} as const;

export type Rail = (typeof RAILS)[keyof typeof RAILS];

/** The rail of an offer's `network`; undefined when it is unknown. */
export function railOf(network: string): Rail | undefined {
  return Object.values(RAILS).find((rail) => rail.network === network);
}

/** Returns a network's name for people: its rail's, or the network itself. @param network CAIP-2 */
export function railLabel(network: string): string {
  return railOf(network)?.label ?? network;
}

/** Whether `asset` is the USDC of a rail. The case of an EVM address is only its checksum (EIP-55). */
export function isUsdc(rail: Rail, asset: string): boolean {
  return rail.name === "base" ? asset.toLowerCase() === rail.usdc.toLowerCase() : asset === rail.usdc;
}

/** The decimals of USDC on every rail. Prices and amounts are in micro-USDC. */
export const USDC_DECIMALS = 6;

/** Writes micro-USDC as USDC, without trailing zeros: 1000 is `0.001`. */
export function formatUsdc(micro: bigint): string {
  return formatUnits(micro, USDC_DECIMALS);
}

/** Reads a decimal number with at most six places, e.g. `0.001`, as micro-USDC. @throws RangeError for any other text */
export function parseUsdc(text: string): bigint {
  const match = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text);
  if (!match) throw new RangeError(`${JSON.stringify(text)} is not an amount of USDC, such as 0.001.`);
  const [, whole = "", fraction = ""] = match;
  return BigInt(whole + fraction.padEnd(USDC_DECIMALS, "0"));
}
