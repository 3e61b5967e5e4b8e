import { createKeyPairSignerFromBytes } from "@solana/kit";
import { SOLANA_MAINNET_CAIP2, toFacilitatorSvmSigner } from "@x402/svm";
import { ExactSvmScheme } from "@x402/svm/exact/facilitator";
import type { RailRegistration } from "./server.ts";

/**
 * The Solana rail of a facilitator: @x402/svm's `exact` scheme under MainNet's network name, only x402 version 2.
 * @param rpcUrl JSON-RPC URL through which payments are checked and settled
 * @param secretKeyBase64 of the account that pays the fees of settlements: base64 of 64 bytes, seed and then public key
 */
export function registerSolana(rpcUrl: string, secretKeyBase64: string): RailRegistration {
  return async (facilitator) => {
    const signer = await createKeyPairSignerFromBytes(Buffer.from(secretKeyBase64, "base64"));
    const scheme = new ExactSvmScheme(toFacilitatorSvmSigner(signer, { defaultRpcUrl: rpcUrl }));
    facilitator.register(SOLANA_MAINNET_CAIP2, scheme);
  };
}
