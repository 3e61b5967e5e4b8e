import { defineChain } from "viem";

/** Base MainNet's chain id (EIP-155). The sandbox keeps it: stock x402 packages know Base's USDC by no other. */
export const BASE_CHAIN_ID = 8453;

/** Base for viem's clients, at that JSON-RPC URL. `viem/chains` would load every chain there is. */
export function baseChain(rpcUrl: string) {
  return defineChain({
    id: BASE_CHAIN_ID,
    name: "Base (attestd sandbox)",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
}
