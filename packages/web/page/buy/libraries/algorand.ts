import { AlgorandClient } from "@algorandfoundation/algokit-utils/algorand-client";
import { fromBase64 } from "@attestd/proof/encoding";
import { type BaseWallet, type SupportedWallet, WalletId, WalletManager } from "@txnlab/use-wallet";
import { ExactAvmScheme } from "@x402/avm/exact/client";
import type { PaymentRequirements } from "@x402/core/types";
import { Buffer } from "buffer/index.js";
import type { AlgorandNow } from "../networks.ts";
import type { SignedPayment } from "../paying-wallet.ts";

// The stock client expects Node's.
Object.assign(globalThis, { Buffer });

/** MainNet's mean round. */
const SECONDS_A_ROUND = 2.8;
/** The longest window that a ledger takes. */
const MAX_ROUNDS = 1_000;

/** use-wallet's names of the wallets that the page offers. */
export type WalletName = "kibisis" | "defly-web" | "lute";

let manager: WalletManager | undefined;

/** A wallet of use-wallet, for the ledger that the service means. Opens nothing, and asks no node. */
export function useWallet(name: WalletName, { genesisHash, genesisId }: AlgorandNow): BaseWallet {
  const wallets: SupportedWallet[] = [
    WalletId.KIBISIS,
    WalletId.DEFLY_WEB,
    { id: WalletId.LUTE, options: { siteName: location.host } },
  ];
  const ledger = { algod: { token: "", baseServer: location.origin }, genesisHash, genesisId };
  manager ??= new WalletManager({
    wallets,
    networks: { ledger },
    defaultNetwork: "ledger",
    options: { resetNetwork: true },
  });
  const wallet = manager.getWallet(name as WalletId);
  if (!wallet) throw new Error(`use-wallet has no wallet ${name}`);
  return wallet;
}

/** A payment that the stock x402 client makes and a wallet signs. */
export async function algorandPayment(
  offer: PaymentRequirements,
  account: string,
  now: AlgorandNow,
  signTransactions: (group: Uint8Array[], indexes?: number[]) => Promise<(Uint8Array | null)[]>,
): Promise<SignedPayment> {
  const firstValid = BigInt(now.round);
  const algorandClient = AlgorandClient.fromConfig({ algodConfig: { server: location.origin, token: "" } })
    // With these it asks no node.
    .setSuggestedParamsCache({
      consensusVersion: "",
      fee: BigInt(now.feePerByte),
      minFee: BigInt(now.minFee),
      flatFee: false,
      firstValid,
      lastValid: firstValid,
      genesisHash: fromBase64(now.genesisHash),
      genesisId: now.genesisId,
    })
    .setDefaultValidityWindow(Math.min(MAX_ROUNDS, Math.floor(offer.maxTimeoutSeconds / SECONDS_A_ROUND)));
  const scheme = new ExactAvmScheme({ address: account, signTransactions }, { algorandClient });
  const { payload } = await scheme.createPaymentPayload(2, offer);
  return { payload, isAltered: false };
}
