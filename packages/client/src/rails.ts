/** The ways to pay that this client knows, by the CAIP-2 name which an x402 v2 offer gives. */
export type Rail = "algorand" | "base" | "solana";

type KnownRail = {
  rail: Rail;
  /** For people. */
  label: string;
  /** The one asset that may be paid there: Circle's USDC. */
  usdc: string;
};

const RAILS: Readonly<Record<string, KnownRail>> = {
  "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k": { rail: "algorand", label: "Algorand", usdc: "31566704" },
  "eip155:8453": { rail: "base", label: "Base", usdc: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": {
    rail: "solana",
    label: "Solana",
    usdc: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  },
};

/** The rail of an offer's `network`, undefined for one that is not known here. */
export function railOf(network: string): KnownRail | undefined {
  return Object.hasOwn(RAILS, network) ? RAILS[network] : undefined;
}

/** Whether `asset` is the USDC of that rail. EVM addresses are compared without their checksum's case (EIP-55). */
export function isUsdc(rail: KnownRail, asset: string): boolean {
  return rail.rail === "base" ? asset.toLowerCase() === rail.usdc.toLowerCase() : asset === rail.usdc;
}
