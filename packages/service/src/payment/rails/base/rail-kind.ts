import { RAILS } from "@attestd/proof/rails";
import { z } from "zod";
import { baseChain, baseTable } from "../../../chains/base/chain-kind.ts";
import { type Config, configInvalid, ownSettings } from "../../../config/config.ts";
import { evmAddress, whole } from "../../../config/formats.ts";
import type { RailTable } from "../../../config/own-tables.ts";
import { ignoring } from "../../../lib/errors.ts";
import type { EthereumNodes } from "../../../providers/ethereum-rpc.ts";
import { isProviderError } from "../../../providers/provider.ts";
import type { RailKind } from "../rail-kind.ts";
import type { TokenDomain } from "./authorization.ts";
import { examineSearches } from "./examination.ts";
import { baseReader } from "./payment-reader.ts";
import { baseRail } from "./rail.ts";
import { BASE, isTransactionHash } from "./usdc.ts";
import { readTokenDomain } from "./usdc-contract.ts";

const settings = {
  name: BASE.name,
  payTo: evmAddress,
  chain: baseTable,
  own: z.strictObject({
    max_signature_gas: whole(50_000, 5_000_000)
      .default(400_000)
      .describe("Gas that the check of a wallet's signature (ERC-1271) may take."),
  }),
} satisfies RailTable;

const ZERO = `0x${"0".repeat(40)}`;

/** USDC on Base. */
export const BASE_RAIL: RailKind<EthereumNodes> = {
  ...BASE,
  label: RAILS.base.label,
  settings,
  isPaymentKey: (text) => text.startsWith("eip155:"),
  isTransactionId: isTransactionHash,
  // Hex may differ only in case.
  canonical: (text) => text.toLowerCase(),
  connect: ({ chain, rules }) => chain(baseChain) ?? { rpcs: [], rules },
  open: async (nodes, { config, clock, signal }) =>
    baseRail({
      nodes,
      domain: await usdcDomain(config, nodes, signal),
      maxLifeSeconds: config.maxLifeSeconds,
      maxSignatureGas: ownSettings(config, settings).max_signature_gas,
      logSpan: logSpan(config),
      clock,
    }),
  reader: (nodes, { config, ask }) => (nodes.rpcs.length > 0 ? baseReader(nodes, ask, logSpan(config)) : undefined),
  examine: ({ rpcs }, { config, signal }) => examineSearches(rpcs, logSpan(config), signal),
  unsigned: {
    signature: `0x${"0".repeat(130)}`,
    authorization: {
      from: ZERO,
      to: ZERO,
      value: "0",
      validAfter: "0",
      validBefore: "0",
      nonce: `0x${"0".repeat(64)}`,
    },
  },
};

/** Returns the number of blocks in one query for logs. */
function logSpan(config: Config): number {
  return ownSettings(config, baseTable).log_span;
}

const REAL_USDC = { name: "USD Coin", version: "2" };

/** Returns the EIP-712 domain under which payers sign. The sandbox's token must have another name than the real one. */
async function usdcDomain(config: Config, nodes: EthereumNodes, signal: AbortSignal): Promise<TokenDomain> {
  if (!config.rails.base) return REAL_USDC;
  const read = readTokenDomain(nodes, BASE.asset, signal);
  // While the nodes are away nothing is sold, but existing calls must continue; only a sandbox may have another domain.
  const domain = await (config.sandbox ? read : read.catch(ignoring(isProviderError)));
  if (!domain) return REAL_USDC;
  const isReal = domain.name === REAL_USDC.name && domain.version === REAL_USDC.version;
  const named = `${BASE.asset} has the name "${domain.name}", version "${domain.version}"`;
  if (!config.sandbox && !isReal) throw configInvalid(`chains.base.rpc is not a node of Base: its token at ${named}.`);
  if (config.sandbox && isReal)
    throw configInvalid(`chains.base.rpc is not a node of a sandbox: its token at ${named}.`);
  return domain;
}
