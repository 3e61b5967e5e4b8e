import { watchAlgorandWallets } from "./algorand-wallet.ts";
import { findBaseWallets } from "./base-wallet.ts";
import type { PayingWallet } from "./paying-wallet.ts";
import { watchSolanaWallets } from "./solana-wallet.ts";

/**
 * Watches for the browser's wallets: EIP-6963, or else `window.ethereum`, for Base; Wallet Standard for Solana; ARC-27 and
 * Lute for Algorand. Connects to none.
 *
 * @param onChange called when a wallet shows up later
 * @returns those that are known by now
 */
export function watchWallets(onChange: () => void): () => PayingWallet[] {
  const solana = watchSolanaWallets(onChange);
  const algorand = watchAlgorandWallets(onChange);
  return () => [...findBaseWallets(), ...solana(), ...algorand()];
}
