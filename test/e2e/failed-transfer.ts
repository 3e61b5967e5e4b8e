import type { Sandbox } from "@attestd/sandbox";
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  type Hex,
  http,
  parseUnits,
  type TransactionReceipt,
  zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import { expect } from "vitest";
import { BASE_USDC } from "./rails.ts";

/** Sends 25,000,000 USDC on the sandbox's Base, more than the sender has: the transaction fails in its block. */
export async function failedTransfer(sandbox: Sandbox): Promise<TransactionReceipt> {
  const transport = http(sandbox.baseRpcUrl);
  const account = privateKeyToAccount(sandbox.payers.base?.privateKey as Hex);
  // The gas is given because what will fail cannot be estimated.
  const hash = await createWalletClient({ account, chain: base, transport }).writeContract({
    address: BASE_USDC,
    abi: erc20Abi,
    functionName: "transfer",
    args: [zeroAddress.replace(/0$/, "1") as Hex, parseUnits("25000000", 6)],
    gas: 100_000n,
  });
  const chain = createPublicClient({ chain: base, transport });
  const receipt = await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  expect(receipt.status).toBe("reverted");
  return receipt;
}
