/** CAIP-2 of Base. */
export const BASE_MAINNET = "eip155:8453";

/** CAIP-2 of an EVM chain by its chain id (EIP-155). */
export function evmCaip2(chainId: bigint | number): string {
  return `eip155:${chainId}`;
}
