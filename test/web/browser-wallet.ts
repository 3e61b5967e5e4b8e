import type { BrowserContext } from "playwright-core";
import { type Hex, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expose, type InjectedWallet, newWallet, type PageEvents, signing } from "./injected-wallet.ts";

export type BrowserWallet = InjectedWallet & {
  /** The selected chain. */
  chainId: number;
  /** The known chains. */
  chains: Set<number>;
  /** micro-USDC; undefined for the chain's answer. */
  balance: bigint | undefined;
};

/** What the wallet's user sees of a signature. */
export type TypedData = { message: Record<string, string>; domain: Record<string, unknown> };

/**
 * Puts a wallet with a real key into every page of a context.
 *
 * @param announcedAs the name by which it announces itself (EIP-6963); unless given it is at `window.ethereum` (EIP-1193)
 */
export async function injectWallet(
  context: BrowserContext,
  privateKey: Hex,
  rpcUrl: string,
  announcedAs?: string,
): Promise<BrowserWallet> {
  const account = privateKeyToAccount(privateKey);
  const wallet: BrowserWallet = {
    ...newWallet(),
    chainId: 8453,
    chains: new Set([1, 8453]),
    balance: undefined,
  };
  let isConnected = false;

  await expose(context, "askWallet", wallet, answer);
  await context.addInitScript((name) => {
    type Ask = (
      method: string,
      params: unknown,
    ) => Promise<{ result?: unknown; error?: { code: number; message: string } }>;
    const page = globalThis as unknown as PageEvents & { askWallet: Ask; ethereum: unknown };
    const provider = {
      async request({ method, params }: { method: string; params?: unknown }) {
        const { result, error } = await page.askWallet(method, params ?? []);
        if (error) throw Object.assign(new Error(error.message), error);
        return result;
      },
    };
    if (name === undefined) page.ethereum = provider;
    else
      page.addEventListener("eip6963:requestProvider", () => {
        const detail = { info: { name, uuid: crypto.randomUUID(), rdns: "example.wallet", icon: "" }, provider };
        page.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
      });
  }, announcedAs);
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
        await signing(wallet, { message, domain } satisfies TypedData);
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
