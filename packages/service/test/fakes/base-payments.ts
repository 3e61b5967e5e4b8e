import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { AUTHORIZATION_TYPES } from "../../../../test/helpers/eip3009.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Authorization, TokenDomain } from "../../src/payment/rails/base/authorization.ts";
import type { BasePayment } from "../../src/payment/rails/base/checks.ts";
import { baseRail } from "../../src/payment/rails/base/rail.ts";
import { BASE } from "../../src/payment/rails/base/usdc.ts";
import type { Rail } from "../../src/payment/rails/rail.ts";
import { type EthereumNodes, EthereumRpc } from "../../src/providers/ethereum-rpc.ts";
import type { Conflict } from "../../src/providers/quorum.ts";
import { FakeBaseNode } from "./base-node.ts";

/** Unix time in seconds at which every test begins; of today, because the stock client reads the system's clock. */
export const NOW = Math.floor(Date.now() / 1000);
export const payer = privateKeyToAccount(generatePrivateKey());
export const stranger = privateKeyToAccount(generatePrivateKey());
export const payTo = privateKeyToAccount(generatePrivateKey()).address;
export const domain = { name: "USD Coin", version: "2" };
export const nonce: Hex = `0x${"5a".repeat(32)}`;

export const requirement: PaymentRequirements = {
  scheme: "exact",
  network: "eip155:8453",
  asset: BASE.asset,
  amount: "1000",
  payTo,
  maxTimeoutSeconds: 120,
  extra: domain,
};

/** A rail over hand-made nodes, at a time that stands still until `pass`. */
export class BaseWorld implements AsyncDisposable {
  now = NOW;
  readonly nodes: FakeBaseNode[] = [];
  readonly conflicts: Conflict[] = [];

  /** Adds a node whose head is of now. Default: blocks of 200 ms, as on Base. */
  async node(chain: { head?: number; interval?: number } = {}): Promise<FakeBaseNode> {
    const node = await FakeBaseNode.start({ time: this.now, head: 100_000, interval: 0.2, ...chain });
    this.nodes.push(node);
    return node;
  }

  pass(seconds: number): void {
    this.now += seconds;
    for (const node of this.nodes) node.pass(seconds);
  }

  get rpcs(): EthereumNodes {
    return {
      rpcs: this.nodes.map(({ url }) => new EthereumRpc({ url }, 8453)),
      rules: { onConflict: (conflict) => this.conflicts.push(conflict) },
    };
  }

  get rail(): Rail<BasePayment> {
    return this.railOf(domain);
  }

  railOf(domain: TokenDomain, logSpan = 1_000): Rail<BasePayment> {
    const clock = { ...systemClock, now: () => this.now * 1000, sleep: async () => {} };
    return baseRail({ nodes: this.rpcs, domain, maxLifeSeconds: 3_600, maxSignatureGas: 400_000, logSpan, clock });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
  }
}

export type Overrides = Partial<Record<keyof Authorization, string>>;

/** An authorization as a payload carries it. */
export function authorization(over: Overrides = {}) {
  return {
    from: payer.address as string,
    to: payTo as string,
    value: "1000",
    validAfter: "0",
    validBefore: `${NOW + 120}`,
    nonce: nonce as string,
    ...over,
  };
}

type TypedData = Parameters<typeof payer.signTypedData>[0];

/** Signs any message, as a wallet does. */
export function sign(message: ReturnType<typeof authorization>, over: object = {}, key = payer): Promise<Hex> {
  return key.signTypedData({
    types: AUTHORIZATION_TYPES,
    domain: { ...domain, chainId: 8453, verifyingContract: BASE.asset, ...over },
    primaryType: "TransferWithAuthorization",
    message,
  } as TypedData);
}

export function payload(inner: Record<string, unknown>, over: Partial<PaymentPayload> = {}): PaymentPayload {
  return { x402Version: 2, accepted: requirement, payload: inner, ...over };
}

export async function paying(over: Overrides = {}): Promise<PaymentPayload> {
  const message = authorization(over);
  return payload({ authorization: message, signature: await sign(message) });
}
