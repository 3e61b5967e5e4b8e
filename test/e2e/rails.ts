import type { Sandbox } from "@attestd/sandbox";
import {
  type Address,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  getAddressEncoder,
  getProgramDerivedAddress,
} from "@solana/kit";
import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { createPublicClient, type Hex, http, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { algorandClient } from "./deployment.ts";
import { outsider } from "./ledger.ts";

export const BASE_USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const SOLANA_USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" as Address;
const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" as Address;
const ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL" as Address;

export const USDC_ABI = parseAbi([
  "function balanceOf(address account) view returns (uint256)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
]);

/** One way to pay: a stock client, and the public balance of the payee. */
export type Rail = {
  network: string;
  client: x402Client;
  payer: string;
  /** The sum that the payee has received, in micro-USDC. */
  received(): Promise<bigint>;
};

export type RailName = "algorand" | "base" | "solana";

/** The sandbox's three rails. */
export async function railsOf(sandbox: Sandbox): Promise<Record<RailName, Rail>> {
  const { payers, payTo, baseRpcUrl, solanaRpcUrl } = sandbox;
  if (!payers.base || !payers.solana || !payTo.base || !payTo.solana || !solanaRpcUrl || !baseRpcUrl)
    throw new Error("the sandbox has not all three networks");
  const [basePayee, solanaPayee] = [payTo.base as Hex, payTo.solana as Address];
  const evm = new ExactEvmScheme(privateKeyToAccount(payers.base.privateKey as Hex));
  const signer = await createKeyPairSignerFromBytes(Buffer.from(payers.solana.secretKeyBase64, "base64"));
  const svm = new ExactSvmScheme(signer, { rpcUrl: solanaRpcUrl });
  const base = createPublicClient({ transport: http(baseRpcUrl) });
  const solana = createSolanaRpc(solanaRpcUrl);

  return {
    base: {
      network: "eip155:8453",
      client: new x402Client().register("eip155:*", evm),
      payer: payers.base.address,
      received: () =>
        base.readContract({ address: BASE_USDC, abi: USDC_ABI, functionName: "balanceOf", args: [basePayee] }),
    },
    algorand: {
      network: "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
      client: algorandClient(sandbox),
      payer: payers.algorand.address,
      async received() {
        const payments = await outsider(sandbox).payments();
        return payments.reduce((sum, { amount = 0n }) => sum + amount, 0n);
      },
    },
    solana: {
      network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      client: new x402Client().register("solana:*", svm),
      payer: payers.solana.address,
      async received() {
        const account = await usdcAccountOf(solanaPayee);
        const { value } = await solana.getTokenAccountBalance(account).send();
        return BigInt(value.amount);
      },
    },
  };
}

/** The address of an owner's USDC account. */
export async function usdcAccountOf(owner: Address): Promise<Address> {
  const seeds = [owner, TOKEN_PROGRAM, SOLANA_USDC].map((address) => getAddressEncoder().encode(address));
  const [account] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds });
  return account;
}
