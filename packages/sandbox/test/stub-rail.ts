import type { PaymentPayload, PaymentRequirements, SettleResponse } from "@x402/core/types";
import type { RailRegistration } from "../src/facilitator/server.ts";

const BASE = "eip155:8453";
const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const FEE_PAYERS: Record<string, string> = { [SOLANA]: "CjNFTjvBhbJJd2B5ePPMHRLx1ELZpa8dwQgGL727eKww" };

/** A chain that takes everything, for tests of a facilitator's manners. */
export interface StubRail {
  register: RailRegistration;
  /** The payments that were settled, by nonce, in order. */
  settled: string[];
}

/** Base and Solana without any chain: every payment is valid, and settles as transaction `0x` and its nonce. */
export function stubRail(): StubRail {
  const settled: string[] = [];
  const nonceOf = ({ payload }: PaymentPayload) => String(payload.nonce);
  return {
    settled,
    register(facilitator) {
      facilitator.register([BASE, SOLANA], {
        scheme: "exact",
        caipFamily: "*",
        getExtra: (network) => (FEE_PAYERS[network] === undefined ? undefined : { feePayer: FEE_PAYERS[network] }),
        getSigners: () => [],
        verify: async () => ({ isValid: true }),
        async settle(payment, { network }): Promise<SettleResponse> {
          settled.push(nonceOf(payment));
          return { success: true, transaction: `0x${nonceOf(payment)}`, network };
        },
      });
    },
  };
}

/** A payment for the stub, and what it pays for. @param over members of the payload's resource */
export function stubPayment(nonce: string, network: "base" | "solana" | "algorand" = "base", resource?: object) {
  const networks = { base: BASE, solana: SOLANA, algorand: "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k" } as const;
  const requirements: PaymentRequirements = {
    scheme: "exact",
    network: networks[network],
    asset: "asset",
    amount: "1000",
    payTo: "payee",
    maxTimeoutSeconds: 60,
    extra: {},
  };
  const payload: PaymentPayload = {
    x402Version: 2,
    accepted: requirements,
    payload: { nonce },
    ...(resource && { resource: { url: "https://attestd.example/attest", ...resource } }),
  };
  return { payload, requirements };
}
