import { BASE_CHAIN_ID } from "@attestd/proof/base";
import { defineChain } from "viem";

/** The chain for viem's clients. `viem/chains` would load every chain. */
export function baseChain(rpcUrl: string) {
  return defineChain({
    id: BASE_CHAIN_ID,
    name: "Base (attestd sandbox)",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
}
