import { BASE_MAINNET } from "@attestd/proof/base";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { createWalletClient, type Hex, http, publicActions, type VerifyTypedDataParameters } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { baseChain } from "../base/chain.ts";
import { inTurn } from "../in-turn.ts";
import type { RailRegistration } from "./server.ts";

/** How long a settlement waits for its receipt: less than the 90 s that @x402/core's HTTP client waits for us. */
const CONFIRMATION_TIMEOUT_MS = 60_000;

/**
 * The Base rail of a facilitator: @x402/evm's `exact` scheme on `eip155:8453`, only x402 version 2.
 * @param rpcUrl JSON-RPC URL through which payments are checked and settled
 * @param privateKey of the account that pays the gas of settlements, `0x` hex of 32 bytes
 */
export function registerBase(rpcUrl: string, privateKey: Hex): RailRegistration {
  const client = createWalletClient({
    account: privateKeyToAccount(privateKey),
    chain: baseChain(rpcUrl),
    transport: http(),
    pollingInterval: 100,
  }).extend(publicActions);
  // One send at a time, each with the chain's next nonce. viem's nonceManager takes a nonce before it estimates the gas:
  // if the estimate fails (an authorization already used), the nonce is lost, and concurrent settlements wait behind the
  // gap until they time out.
  const oneAtATime = inTurn();
  const signer = toFacilitatorEvmSigner(
    {
      ...client,
      address: client.account.address,
      readContract: (args) => client.readContract(args),
      verifyTypedData: (args) => client.verifyTypedData(args as VerifyTypedDataParameters),
      writeContract: (args) => oneAtATime(() => client.writeContract(args)),
      sendTransaction: (args) => oneAtATime(() => client.sendTransaction(args)),
    },
    { confirmationTimeoutMs: CONFIRMATION_TIMEOUT_MS },
  );
  return (facilitator) => void facilitator.register(BASE_MAINNET, new ExactEvmScheme(signer));
}
