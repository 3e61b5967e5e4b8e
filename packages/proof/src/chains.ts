import { algorandFormat } from "./algorand/format.ts";
import { baseFormat } from "./base/format.ts";
import type { ChainFormat } from "./chain-format.ts";
import { formatError } from "./errors.ts";

/** The registry: a new chain is a new element. */
const registered = [algorandFormat, baseFormat];

/** The source chains. */
export const CHAINS: readonly ChainFormat[] = registered;

/** The proof that leads from a transaction to its block's header. */
export type Inclusion = ReturnType<(typeof registered)[number]["readInclusion"]>;

export function chainNamed(name: string | undefined, chains: readonly ChainFormat[] = CHAINS): ChainFormat | undefined {
  return chains.find((chain) => chain.name === name);
}

/** The chain of an id, by its spelling in bundles; undefined when it is no id. */
export function inferChain(transactionId: string, chains: readonly ChainFormat[] = CHAINS): ChainFormat | undefined {
  return chains.find((chain) => chain.transactionId.pattern.test(transactionId));
}

/** The chain, and the spelling in bundles, of a transaction id in a request; undefined when it is no id. */
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
 * The chain of a bundle, by its name or else by the transaction id.
 * @throws ProofError `format` when there is no such chain; never for a result of `parseBundle` with the same chains
 */
export function chainOf(
  bundle: { block: { chain: string } } | { source: { chain?: string; txnId: string } },
  chains: readonly ChainFormat[] = CHAINS,
): ChainFormat {
  const { chain: name, ...source } = "block" in bundle ? bundle.block : bundle.source;
  const chain = name === undefined && "txnId" in source ? inferChain(source.txnId, chains) : chainNamed(name, chains);
  if (chain === undefined) throw formatError("", "is of no source chain that is known here");
  return chain;
}
