import { RAILS } from "@attestd/proof/rails";
import { encodeDeployData, type Hex, parseAbi } from "viem";
import multicall from "../../token/Multicall3.compiled.json" with { type: "json" };
import usdc from "../../token/SandboxUSDC.compiled.json" with { type: "json" };
import type { RpcCall } from "../jsonrpc.ts";

/** Stock x402 clients pay only in assets that they know. */
export const USDC_ADDRESS = RAILS.base.usdc;

/**
 * The token's EIP-712 `name` and `version`, for an offer's `extra`. The name differs from the real one ("USD Coin"), so
 * that nothing signed for this token is valid for the real one.
 */
export const USDC_DOMAIN = { name: "USD Coin (attestd sandbox)", version: "2" } as const;

/** Multicall3's address on every chain that has it. */
const MULTICALL3_ADDRESS = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** The part of the token's interface that the sandbox uses. All of it is in `token/SandboxUSDC.compiled.json`. */
export const USDC_ABI = parseAbi([
  "constructor(address minter)",
  "function mint(address to, uint256 value)",
  "function transfer(address to, uint256 value) returns (bool)",
]);

/**
 * Puts the contracts at their addresses, without a deployment in a block.
 * @param anvil a call to anvil itself
 * @param minter the only address that may mint
 */
export async function installContracts(anvil: RpcCall, minter: Hex): Promise<void> {
  const creation = encodeDeployData({ abi: USDC_ABI, bytecode: usdc.bytecode as Hex, args: [minter] });
  await Promise.all([
    install(anvil, USDC_ADDRESS, creation),
    install(anvil, MULTICALL3_ADDRESS, multicall.bytecode as Hex),
  ]);
}

async function install(anvil: RpcCall, address: Hex, creation: Hex): Promise<void> {
  // A call without `to` runs creation code and returns the code that it would deploy.
  const code = await anvil("eth_call", [{ data: creation }, "latest"]);
  await anvil("anvil_setCode", [address, code]);
}
