import { ALGORAND_MAINNET_CAIP2, toFacilitatorAvmSigner } from "@x402/avm";
import { ExactAvmScheme } from "@x402/avm/exact/facilitator";
import type { RailRegistration } from "./server.ts";

/**
 * Settles x402's `exact` payments on the sandbox's Algorand ledger. The rail keeps MainNet's name, the only one besides
 * TestNet's that stock packages know; what it settles is valid on the ledger behind `algodUrl` alone, since the genesis
 * stands in every transaction.
 * @param secretKey of the fee payer, 64 bytes
 */
export function registerAlgorand({
  algodUrl,
  secretKey,
}: {
  algodUrl: string;
  secretKey: Uint8Array;
}): RailRegistration {
  const signer = toFacilitatorAvmSigner(Buffer.from(secretKey).toString("base64"), { mainnetUrl: algodUrl });
  return (facilitator) => void facilitator.register(ALGORAND_MAINNET_CAIP2, new ExactAvmScheme(signer));
}
