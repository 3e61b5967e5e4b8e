import { ALGORAND_MAINNET } from "@attestd/proof";
import { BASE_MAINNET } from "@attestd/proof/base";

/** A way to pay that this client knows. */
export type Rail = "algorand" | "base" | "solana";

/** Circle's USDC on each rail: an asset id, a contract address, a mint. No other asset is paid. */
export const USDC = {
  algorand: "31566704",
  base: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  solana: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
} as const satisfies Record<Rail, string>;

type KnownRail = {
  rail: Rail;
  /** Name for people. */
  label: string;
};

/** Rails by the CAIP-2 network of an x402 v2 offer. */
const RAILS: Readonly<Record<string, KnownRail>> = {
  [ALGORAND_MAINNET]: { rail: "algorand", label: "Algorand" },
  [BASE_MAINNET]: { rail: "base", label: "Base" },
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": { rail: "solana", label: "Solana" },
};

/** The rail of an offer's `network`; undefined when it is unknown. */
export function railOf(network: string): KnownRail | undefined {
  return Object.hasOwn(RAILS, network) ? RAILS[network] : undefined;
}

/** Whether `asset` is the USDC of a rail. The case of an EVM address is only its checksum (EIP-55). */
export function isUsdc(rail: Rail, asset: string): boolean {
  return rail === "base" ? asset.toLowerCase() === USDC.base.toLowerCase() : asset === USDC[rail];
}
