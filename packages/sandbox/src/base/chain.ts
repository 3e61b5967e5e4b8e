import { defineChain } from "viem";

/** Base MainNet's chain id (EIP-155), because stock x402 packages know Base's USDC by no other. */
export const BASE_CHAIN_ID = 8453;

/** The chain for viem's clients. `viem/chains` would load every chain. */
export function baseChain(rpcUrl: string) {
  return defineChain({
    id: BASE_CHAIN_ID,
    name: "Base (attestd sandbox)",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
}
