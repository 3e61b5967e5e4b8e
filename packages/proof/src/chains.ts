import { algorandFormat } from "./algorand/format.ts";
import { baseFormat } from "./base/format.ts";
import type { ChainFormat } from "./chain-format.ts";
import { formatError } from "./errors.ts";

/** The registry. A new chain is a new element. */
const registered = [algorandFormat, baseFormat];

/** The source chains. */
export const CHAINS: readonly ChainFormat[] = registered;

/** The proof that leads from a transaction to its block's header. */
export type Inclusion = ReturnType<(typeof registered)[number]["readInclusion"]>;

export function chainNamed(name: string | undefined, chains: readonly ChainFormat[] = CHAINS): ChainFormat | undefined {
  return chains.find((chain) => chain.name === name);
}

/** Returns the chain of an id in a bundle's spelling; undefined if no chain has such ids. */
export function inferChain(transactionId: string, chains: readonly ChainFormat[] = CHAINS): ChainFormat | undefined {
  return chains.find((chain) => chain.transactionId.pattern.test(transactionId));
}

/**
 * Returns the chain of a transaction id in a request, and its spelling in bundles; undefined if no chain has such ids.
 */
export function matchTransactionId(
  text: string,
  chains: readonly ChainFormat[] = CHAINS,
): { chain: ChainFormat; id: string } | undefined {
  for (const chain of chains) {
    const { pattern, requestPattern = pattern, normalize } = chain.transactionId;
    if (requestPattern.test(text)) return { chain, id: normalize?.(text) ?? text };
  }
  return undefined;
}

/**
 * Returns the chain of a bundle: by its name, or if absent by the transaction id.
 * @throws ProofError `format` for an unknown chain; never for a result of `parseBundle` with the same chains
 */
export function chainOf(
  bundle: { block: { chain: string } } | { source: { chain?: string; txnId: string } },
  chains: readonly ChainFormat[] = CHAINS,
): ChainFormat {
  const { chain: name, ...source } = "block" in bundle ? bundle.block : bundle.source;
  const chain = name === undefined && "txnId" in source ? inferChain(source.txnId, chains) : chainNamed(name, chains);
  if (chain === undefined) throw formatError("", "is not an id of a known source chain");
  return chain;
}
