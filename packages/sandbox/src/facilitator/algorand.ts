import { toBase64 } from "@attestd/proof/encoding";
import { ALGORAND_MAINNET_CAIP2, toFacilitatorAvmSigner } from "@x402/avm";
import { ExactAvmScheme } from "@x402/avm/exact/facilitator";
import type { Network, SchemeNetworkFacilitator } from "@x402/core/types";
import type { RailRegistration } from "./server.ts";

export type AlgorandFacilitatorOptions = {
  algodUrl: string;
  /** The ledger's genesis hash, base64: 44 characters. */
  genesisHash: string;
  /** The fee payer's key, 64 bytes. */
  secretKey: Uint8Array;
};

/**
 * Settles x402's `exact` payments on the sandbox's Algorand ledger. They are valid only there, because every
 * transaction contains the genesis.
 *
 * GoPlausible's facilitator runs its own package, which compares the network's name with each transaction's whole
 * genesis hash: so its rail has the name of the sandbox's ledger, and it also lists TestNet. Every other facilitator
 * uses MainNet's name, because the stock package knows only MainNet and TestNet.
 */
export function registerAlgorand(options: AlgorandFacilitatorOptions): RailRegistration {
  const { algodUrl, genesisHash } = options;
  const secretKey = toBase64(options.secretKey);
  return async (facilitator, kind) => {
    if (kind !== "goplausible") {
      const signer = toFacilitatorAvmSigner(secretKey, { mainnetUrl: algodUrl });
      facilitator.register(ALGORAND_MAINNET_CAIP2, new ExactAvmScheme(signer));
      return;
    }
    const [avm, exact] = await Promise.all([import("@x402-avm/avm"), import("@x402-avm/avm/exact/facilitator")]);
    const signer = avm.toFacilitatorAvmSigner(secretKey, { mainnetUrl: algodUrl, testnetUrl: algodUrl });
    const scheme = new exact.ExactAvmScheme(signer) as unknown as SchemeNetworkFacilitator;
    // With two networks @x402/core passes on a payment under any name of Algorand's, and the scheme refuses it.
    facilitator.register([`algorand:${genesisHash}`, avm.ALGORAND_TESTNET_CAIP2 as Network], scheme);
  };
}
