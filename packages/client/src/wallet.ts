import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { type Rail, railOf } from "@attestd/proof/rails";
import type { PaymentPayload, PaymentRequired, PaymentRequirements, SchemeNetworkClient } from "@x402/core/types";
import { authorizationFor, typedData } from "./authorization.ts";
import { oneAMillisecond } from "./clock.ts";

/** Signs payments. It never sends them. */
export interface Wallet {
  /** The wallet's address on a network (CAIP-2), if it has one. */
  payer(network: string): string | undefined;
  /**
   * Signs one payment for one offer.
   * @param offer one of `required.accepts`, whose terms the caller has accepted
   * @param dateMs the date for payments that have one, ms since 1970
   * @returns x402's PaymentPayload, version 2
   */
  sign(required: PaymentRequired, offer: PaymentRequirements, dateMs: number): Promise<PaymentPayload>;
}

/** A payer's keys, by rail; `sandbox.json` has such an object. */
export type WalletKeys = {
  /** `mnemonic`: 25 words. */
  algorand?: { address: string; mnemonic: string };
  /** `privateKey`: 0x and 64 hex characters. */
  base?: { address: string; privateKey: string };
  /** `secretKeyBase64`: 64 bytes, the seed and then the public key. */
  solana?: { address: string; secretKeyBase64: string };
};

/** The nodes that signing needs; by default public MainNet nodes. */
export type WalletNodes = {
  /** Gives the genesis hash and round for an Algorand payment, which is valid only on that ledger. */
  algodUrl?: string;
  algodToken?: string;
  /** Gives the recent blockhash for a Solana payment. */
  solanaRpcUrl?: string;
};

/**
 * Makes a wallet from keys in this process, with the stock x402 clients. A rail's packages are loaded at its first
 * payment; `sign` rejects when a key does not belong to its address.
 */
export function keyWallet(keys: WalletKeys, nodes: WalletNodes = {}): Wallet {
  return {
    payer(network) {
      const rail = railOf(network)?.name;
      return rail && keys[rail]?.address;
    },
    async sign(required, offer, dateMs) {
      const rail = railOf(offer.network)?.name;
      if (!rail) throw new Error(`The network ${offer.network} is not known.`);
      const opening = SCHEMES[rail](keys, nodes, dateMs);
      const [{ x402Client }, scheme] = await Promise.all([import("@x402/core/client"), opening]);
      const client = new x402Client()
        .register(offer.network, scheme)
        // The stock client throws for any other amount.
        .setSpendControls({
          allowedAssets: [{ network: offer.network, asset: offer.asset, maxAmountPerPayment: offer.amount }],
        });
      const sign = () => client.createPaymentPayload({ ...required, accepts: [offer] });
      return rail === "algorand" ? oneAMillisecond(sign) : sign();
    },
  };
}

const SCHEMES = {
  async algorand({ algorand }: WalletKeys, { algodUrl, algodToken }: WalletNodes) {
    const key = present(algorand, "Algorand");
    const [{ default: algosdk }, { toClientAvmSigner }, { ExactAvmScheme }] = await Promise.all([
      import("algosdk"),
      import("@x402/avm"),
      import("@x402/avm/exact/client"),
    ]);
    const signer = toClientAvmSigner(toBase64(algosdk.mnemonicToSecretKey(key.mnemonic).sk));
    matching(signer.address, key.address);
    return new ExactAvmScheme(signer, { ...(algodUrl && { algodUrl }), ...(algodToken && { algodToken }) });
  },
  /** The stock scheme is not used, because it dates a payment by this device's clock. */
  async base({ base }: WalletKeys, _: WalletNodes, dateMs: number): Promise<SchemeNetworkClient> {
    const key = present(base, "Base");
    const { privateKeyToAccount } = await import("viem/accounts");
    const account = privateKeyToAccount(key.privateKey as `0x${string}`);
    matching(account.address.toLowerCase(), key.address.toLowerCase());
    return {
      scheme: "exact",
      async createPaymentPayload(x402Version, offer) {
        const nonce = crypto.getRandomValues(new Uint8Array(32));
        const authorization = authorizationFor(offer, account.address, dateMs, nonce);
        const signature = await account.signTypedData(JSON.parse(typedData(offer, authorization)));
        return { x402Version, payload: { signature, authorization } };
      },
    };
  },
  async solana({ solana }: WalletKeys, { solanaRpcUrl }: WalletNodes) {
    const key = present(solana, "Solana");
    const [{ createKeyPairSignerFromBytes }, { ExactSvmScheme }] = await Promise.all([
      import("@solana/kit"),
      import("@x402/svm/exact/client"),
    ]);
    const signer = await createKeyPairSignerFromBytes(fromBase64(key.secretKeyBase64));
    matching(signer.address, key.address);
    return new ExactSvmScheme(signer, solanaRpcUrl ? { rpcUrl: solanaRpcUrl } : undefined);
  },
} satisfies Record<Rail["name"], unknown>;

function present<K>(key: K | undefined, label: string): K {
  if (!key) throw new Error(`The wallet has no key for ${label}.`);
  return key;
}

function matching(address: string, stated: string): void {
  if (address !== stated) throw new Error(`The wallet's key belongs to ${address}, not to ${stated}.`);
}
