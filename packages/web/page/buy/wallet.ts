import { BASE_CHAIN_ID } from "@attestd/proof/base";

/** A browser wallet (EIP-1193). */
export type Provider = { request(call: { method: string; params?: unknown }): Promise<unknown> };
export type FoundWallet = { name: string; provider: Provider };

/** A wallet refused a request (EIP-1193, EIP-3326). */
export class WalletRefusal extends Error {
  readonly reason: "declined" | "unknown_chain" | "other";

  constructor(reason: WalletRefusal["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

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
export function findWallets(): FoundWallet[] {
  const found: FoundWallet[] = [];
  const listen = (event: Event) => {
    const { info, provider } = (event as CustomEvent<{ info: { name: string }; provider: Provider }>).detail;
    found.push({ name: info.name, provider });
  };
  addEventListener("eip6963:announceProvider", listen);
  // Wallets answer synchronously.
  dispatchEvent(new Event("eip6963:requestProvider"));
  removeEventListener("eip6963:announceProvider", listen);
  const { ethereum } = globalThis as { ethereum?: Provider };
  return found.length > 0 || ethereum === undefined ? found : [{ name: "wallet", provider: ethereum }];
}

/** The account that this page may already see; undefined if none. Does not open the wallet. */
export async function knownAccount(provider: Provider): Promise<string | undefined> {
  return first(await ask(provider, "eth_accounts"));
}

/** Opens the wallet to choose an account. @throws WalletRefusal */
export async function connect(provider: Provider): Promise<string> {
  const account = first(await ask(provider, "eth_requestAccounts"));
  if (account === undefined) throw new WalletRefusal("other", "it gave no account");
  return account;
}

export async function isOnBase(provider: Provider): Promise<boolean> {
  const chainId = await ask(provider, "eth_chainId");
  return Number(chainId) === BASE_CHAIN_ID;
}

/** @throws WalletRefusal `unknown_chain` when Base must be added first */
export async function switchToBase(provider: Provider): Promise<void> {
  await ask(provider, "wallet_switchEthereumChain", [{ chainId: CHAIN_ID_HEX }]);
}

/** @throws WalletRefusal */
export async function addBase(provider: Provider): Promise<void> {
  await ask(provider, "wallet_addEthereumChain", [BASE_CHAIN]);
}

/** An account's balance of a token, in its smallest units; undefined when the wallet's node does not answer. */
export async function tokenBalance(provider: Provider, token: string, account: string): Promise<bigint | undefined> {
  // balanceOf(address)
  const data = `0x70a08231${account.slice(2).toLowerCase().padStart(64, "0")}`;
  try {
    const answer = await ask(provider, "eth_call", [{ to: token, data }, "latest"]);
    return typeof answer === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(answer) ? BigInt(answer) : undefined;
  } catch {
    return undefined;
  }
}

/** @param typedData JSON of EIP-712. @returns the signature: 0x and hex. @throws WalletRefusal */
export async function sign(provider: Provider, account: string, typedData: string): Promise<string> {
  const signature = await ask(provider, "eth_signTypedData_v4", [account, typedData]);
  if (typeof signature === "string" && /^0x[0-9a-fA-F]+$/.test(signature)) return signature;
  throw new WalletRefusal("other", "it gave no signature");
}

async function ask(provider: Provider, method: string, params?: unknown[]): Promise<unknown> {
  try {
    return await provider.request(params === undefined ? { method } : { method, params });
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    const reason = code === 4001 ? "declined" : code === 4902 ? "unknown_chain" : "other";
    throw new WalletRefusal(reason, String(message ?? error));
  }
}

function first(accounts: unknown): string | undefined {
  const [account] = Array.isArray(accounts) ? accounts : [];
  return typeof account === "string" && /^0x[0-9a-fA-F]{40}$/.test(account) ? account : undefined;
}
