import { RAILS } from "@attestd/proof/rails";
import type { WalletName } from "./libraries/algorand.ts";
import { loadAlgorand, loadArc27 } from "./libraries.ts";
import { type AlgorandNow, balanceOf, networkNow } from "./networks.ts";
import type { PayingWallet } from "./paying-wallet.ts";
import { asked, given } from "./refusal.ts";

/** Extensions that announce themselves by ARC-27, by the ids of their providers, under use-wallet's names. */
const EXTENSIONS: Readonly<Record<string, WalletName>> = {
  "f6d1c86b-4493-42fb-b88d-a62407b4cdf6": "kibisis",
  "95426e60-5f2e-49e9-b912-c488577be962": "defly-web",
};

/**
 * Watches the Algorand wallets that run in the browser: extensions that speak ARC-27, and Lute, which is an extension or a
 * site. Connects to none.
 */
export function watchAlgorandWallets(onChange: () => void): () => PayingWallet[] {
  const extensions = new Map<WalletName, PayingWallet>();
  void loadArc27().then(
    ({ discover }) =>
      discover(({ name, providerId, networks }) => {
        const id = EXTENSIONS[providerId];
        if (id === undefined || extensions.has(id) || !Array.isArray(networks)) return;
        const known = networks.map(({ genesisHash }) => genesisHash);
        extensions.set(id, algorandWallet(id, { name, knows: (genesisHash) => known.includes(genesisHash) }));
        onChange();
      }),
    // Where the library can't be loaded there are no extensions; the other wallets stay.
    () => undefined,
  );
  return () => {
    const isSite = !("lute" in globalThis);
    return [...extensions.values(), algorandWallet("lute", { name: "Lute", isSite, knows: () => true })];
  };
}

/** @param knows whether the wallet knows a ledger, by the base64 of its genesis hash */
function algorandWallet(
  id: WalletName,
  { name, isSite = false, knows }: { name: string; isSite?: boolean; knows(genesisHash: string): boolean },
): PayingWallet {
  const { network } = RAILS.algorand;
  /** Loads use-wallet, and asks which ledger is meant. */
  async function open() {
    const [now, library] = await Promise.all([networkNow<AlgorandNow>(network), loadAlgorand()]);
    return { now, library, wallet: library.useWallet(id, now) };
  }
  return {
    name,
    rail: "algorand",
    isSite,
    knownAccount: async () => (await open()).wallet.activeAccount?.address,
    async connect() {
      const { wallet } = await open();
      const [account] = await asked(() => wallet.connect());
      return given(account, "it gave no account").address;
    },
    isOnNetwork: async () => knows((await networkNow<AlgorandNow>(network)).genesisHash),
    balance: (offer, account) => balanceOf(offer.network, account),
    async sign(offer, account) {
      const { now, library, wallet } = await open();
      return library.algorandPayment(offer, account, now, (group, indexes) =>
        asked(() => wallet.signTransactions(group, indexes)),
      );
    },
  };
}
