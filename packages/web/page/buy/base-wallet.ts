import { authorizationFor, typedData } from "@attestd/client";
import { BASE_CHAIN_ID } from "@attestd/proof/base";
import type { PayingWallet } from "./paying-wallet.ts";
import { asked, given, promptly, WalletRefusal } from "./refusal.ts";

/** A browser wallet (EIP-1193). */
type Provider = { request(call: { method: string; params?: unknown }): Promise<unknown> };

const CHAIN_ID_HEX = `0x${BASE_CHAIN_ID.toString(16)}`;

/** The chain's description, which a wallet shows to its user (EIP-3085). */
const BASE_CHAIN = {
  chainId: CHAIN_ID_HEX,
  chainName: "Base",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: ["https://mainnet.base.org"],
  blockExplorerUrls: ["https://basescan.org"],
};

/** The wallets that announce themselves (EIP-6963), or else `window.ethereum`. Connects to none. */
export function findBaseWallets(): PayingWallet[] {
  const found: PayingWallet[] = [];
  const listen = (event: Event) => {
    const { info, provider } = (event as CustomEvent<{ info: { name: string }; provider: Provider }>).detail;
    found.push(baseWallet(info.name, provider));
  };
  addEventListener("eip6963:announceProvider", listen);
  // Wallets answer synchronously.
  dispatchEvent(new Event("eip6963:requestProvider"));
  removeEventListener("eip6963:announceProvider", listen);
  const { ethereum } = globalThis as { ethereum?: Provider };
  return found.length > 0 || ethereum === undefined ? found : [baseWallet("wallet", ethereum)];
}

function baseWallet(name: string, provider: Provider): PayingWallet {
  const ask = (method: string, params?: unknown[]) =>
    asked(() => provider.request(params === undefined ? { method } : { method, params }));
  return {
    name,
    rail: "base",
    isCertain: true,
    knownAccount: async () => first(await promptly(ask("eth_accounts"))),
    connect: async () => given(first(await ask("eth_requestAccounts")), "it gave no account"),
    isOnNetwork: async () => Number(await ask("eth_chainId")) === BASE_CHAIN_ID,
    switchNetwork: async () => void (await ask("wallet_switchEthereumChain", [{ chainId: CHAIN_ID_HEX }])),
    addNetwork: async () => void (await ask("wallet_addEthereumChain", [BASE_CHAIN])),
    /** As the wallet's own node says. */
    async balance({ asset }, account) {
      // balanceOf(address)
      const data = `0x70a08231${account.slice(2).toLowerCase().padStart(64, "0")}`;
      const answer = await ask("eth_call", [{ to: asset, data }, "latest"]);
      return typeof answer === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(answer) ? BigInt(answer) : undefined;
    },
    async sign(offer, account, dateMs) {
      const nonce = crypto.getRandomValues(new Uint8Array(32));
      const authorization = authorizationFor(offer, account, dateMs, nonce);
      const signature = await ask("eth_signTypedData_v4", [account, typedData(offer, authorization)]);
      if (typeof signature !== "string" || !/^0x[0-9a-fA-F]+$/.test(signature))
        throw new WalletRefusal("other", "it gave no signature");
      return { payload: { signature, authorization }, isAltered: false };
    },
  };
}

function first(accounts: unknown): string | undefined {
  const [account] = Array.isArray(accounts) ? accounts : [];
  return typeof account === "string" && /^0x[0-9a-fA-F]{40}$/.test(account) ? account : undefined;
}
