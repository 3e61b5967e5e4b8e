/** Chain id of Base (EIP-155). */
export const BASE_CHAIN_ID = 8453;
/** CAIP-2 of Base. */
export const BASE_MAINNET = `eip155:${BASE_CHAIN_ID}`;

/** CAIP-2 of an EVM chain by its chain id (EIP-155). */
export function evmCaip2(chainId: bigint | number): string {
  return `eip155:${chainId}`;
}
