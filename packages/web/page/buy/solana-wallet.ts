import { SolanaSignTransaction, type SolanaSignTransactionFeature } from "@solana/wallet-standard-features";
import { getWallets } from "@wallet-standard/app";
import type { Wallet, WalletAccount } from "@wallet-standard/base";
import { loadSolana } from "./libraries.ts";
import { balanceOf, networkNow, type SolanaNow } from "./networks.ts";
import type { PayingWallet } from "./paying-wallet.ts";
import { asked, given, promptly } from "./refusal.ts";

/** Solana MainNet in Wallet Standard's words. */
const CHAIN = "solana:mainnet";
const CONNECT = "standard:connect";

type Connect = (input?: { silent?: boolean }) => Promise<{ accounts: readonly WalletAccount[] }>;
type SolanaWallet = Wallet & {
  features: SolanaSignTransactionFeature & { [CONNECT]: { connect: Connect } };
};

/** Watches the wallets that register by Wallet Standard, as Phantom and Solflare do. Connects to none. */
export function watchSolanaWallets(onChange: () => void): () => PayingWallet[] {
  const { get, on } = getWallets();
  on("register", onChange);
  return () => get().filter(signsOnSolana).map(solanaWallet);
}

/** Whether it has the form of the standard, and signs on Solana. */
function signsOnSolana({ chains, features }: Partial<Wallet>): boolean {
  return (
    Array.isArray(chains) &&
    chains.includes(CHAIN) &&
    features !== undefined &&
    SolanaSignTransaction in features &&
    CONNECT in features
  );
}

function solanaWallet(wallet: Wallet): PayingWallet {
  const { name, features } = wallet as SolanaWallet;
  const { signTransaction } = features[SolanaSignTransaction];
  const { connect } = features[CONNECT];
  const usable = (accounts: readonly WalletAccount[]) => accounts.find(({ chains }) => chains.includes(CHAIN));
  return {
    name,
    rail: "solana",
    isCertain: true,
    async knownAccount() {
      const known = await promptly(asked(() => connect({ silent: true })));
      return known && usable(known.accounts)?.address;
    },
    async connect() {
      const { accounts } = await asked(() => connect());
      return given(usable(accounts), "it gave no account on Solana").address;
    },
    isOnNetwork: async () => true,
    balance: ({ network }, account) => balanceOf(network, account),
    async sign(offer, account) {
      const [now, { solanaPayment }] = await Promise.all([networkNow<SolanaNow>(offer.network), loadSolana()]);
      const shown = wallet.accounts.find(({ address }) => address === account);
      const signer = given(shown, "it no longer shows this account");
      return solanaPayment(offer, account, now, async (transaction) => {
        const [signed] = await asked(() => signTransaction({ account: signer, transaction, chain: CHAIN }));
        return given(signed, "it gave no signature").signedTransaction;
      });
    },
  };
}
