import { toBase64 } from "@attestd/proof/encoding";
import { ALGORAND_MAINNET_CAIP2, toFacilitatorAvmSigner } from "@x402/avm";
import { ExactAvmScheme } from "@x402/avm/exact/facilitator";
import type { RailRegistration } from "./server.ts";

/**
 * Settles x402's `exact` payments on the sandbox's Algorand ledger. The rail has MainNet's name, because stock packages
 * know only MainNet and TestNet; its payments are valid only on the ledger behind `algodUrl`, because every transaction
 * contains the genesis.
 * @param secretKey of the fee payer, 64 bytes
 */
export function registerAlgorand(algodUrl: string, secretKey: Uint8Array): RailRegistration {
  const signer = toFacilitatorAvmSigner(toBase64(secretKey), { mainnetUrl: algodUrl });
  return (facilitator) => void facilitator.register(ALGORAND_MAINNET_CAIP2, new ExactAvmScheme(signer));
}
