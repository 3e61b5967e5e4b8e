import { EVERY_CHAIN } from "./sources.ts";

/** The service's name in every document. */
export const NAME = "attestd";

/** Version of the interface, in the OpenAPI contract and the agent card. */
export const VERSION = "0.1.0";

export const DESCRIPTION = `Attests transactions and blocks of ${EVERY_CHAIN}: records their hash on algorand-mainnet and returns a proof bundle signed with ML-DSA-65 (post-quantum), which anyone can verify offline, with stock libraries, whether or not this service still exists. Paid per call in USDC by x402; verifying is free.`;

/** The A2A extension with which agents pay (a2a-x402). */
export const X402_A2A_EXTENSION = "https://github.com/google-a2a/a2a-x402/v0.1";
