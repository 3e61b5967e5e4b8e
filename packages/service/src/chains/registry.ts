import { algorandChain } from "./algorand/kind.ts";
import { baseChain } from "./base/kind.ts";
import type { ChainName } from "./chain.ts";
import type { SourceChainKind } from "./kind.ts";

/** The source chains, one line each, in the order of documents. Their formats are in `@attestd/proof`, `chains.ts`. */
export const SOURCE_CHAINS: readonly SourceChainKind[] = [
  algorandChain, //
  baseChain,
];

/** @throws TypeError when no chain has this name */
export function kindNamed(name: ChainName): SourceChainKind {
  const kind = SOURCE_CHAINS.find(({ format }) => format.name === name);
  if (!kind) throw new TypeError(`${name} is no source chain`);
  return kind;
}
