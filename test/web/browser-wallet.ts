import type { BrowserContext } from "playwright-core";
import { type Hex, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** A wallet's behaviour, which the test sets, and what it was asked. */
export type BrowserWallet = {
  /** The selected chain. */
  chainId: number;
  /** The known chains. */
  chains: Set<number>;
  /** Whether it refuses the next signature, with code 4001. */
  declines: boolean;
  /** micro-USDC; undefined for the chain's answer. */
  balance: bigint | undefined;
  /** Called before each signature. */
  onSign: (typedData: { message: Record<string, string>; domain: Record<string, unknown> }) => Promise<void>;
  signatures: number;
  /** Requested methods, in order. */
  asked: string[];
};

/** Puts a wallet with a real key into every page of a context, at `window.ethereum` (EIP-1193). */
export async function injectWallet(context: BrowserContext, privateKey: Hex, rpcUrl: string): Promise<BrowserWallet> {
  const account = privateKeyToAccount(privateKey);
  const wallet: BrowserWallet = {
    chainId: 8453,
    chains: new Set([1, 8453]),
    declines: false,
    balance: undefined,
    onSign: async () => undefined,
    signatures: 0,
    asked: [],
  };
  let isConnected = false;

  await context.exposeFunction("askWallet", async (method: string, params: unknown[]) => {
    wallet.asked.push(method);
    try {
      return { result: await answer(method, params) };
    } catch (error) {
      return { error };
    }
  });
  await context.addInitScript(() => {
    type Ask = (
      method: string,
      params: unknown,
    ) => Promise<{ result?: unknown; error?: { code: number; message: string } }>;
    const page = globalThis as unknown as { askWallet: Ask; ethereum: unknown };
    page.ethereum = {
      async request({ method, params }: { method: string; params?: unknown }) {
        const { result, error } = await page.askWallet(method, params ?? []);
        if (error) throw Object.assign(new Error(error.message), error);
        return result;
      },
    };
  });
  return wallet;

  async function answer(method: string, params: unknown[]): Promise<unknown> {
    switch (method) {
      case "eth_accounts":
        return isConnected ? [account.address] : [];
      case "eth_requestAccounts":
        isConnected = true;
        return [account.address];
      case "eth_chainId":
        return numberToHex(wallet.chainId);
      case "wallet_switchEthereumChain": {
        const wanted = Number((params[0] as { chainId: Hex }).chainId);
        if (!wallet.chains.has(wanted)) throw { code: 4902, message: "Unrecognized chain ID" };
        wallet.chainId = wanted;
        return null;
      }
      case "wallet_addEthereumChain": {
        const added = Number((params[0] as { chainId: Hex }).chainId);
        wallet.chains.add(added);
        wallet.chainId = added;
        return null;
      }
      case "eth_call":
        return wallet.balance === undefined ? rpc(method, params) : numberToHex(wallet.balance, { size: 32 });
      case "eth_signTypedData_v4": {
        const { domain, types, primaryType, message } = JSON.parse(params[1] as string);
        await wallet.onSign({ message, domain });
        if (wallet.declines) {
          wallet.declines = false;
          throw { code: 4001, message: "User rejected the request." };
        }
        wallet.signatures++;
        return account.signTypedData({ domain, types, primaryType, message });
      }
      default:
        throw { code: 4200, message: `${method} is not supported` };
    }
  }

  async function rpc(method: string, params: unknown[]): Promise<unknown> {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return ((await response.json()) as { result: unknown }).result;
  }
}
